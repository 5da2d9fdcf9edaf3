"""Where verdicts come from: runs, laws, readings, and what they rest on by the alternatives that were run."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from roamsim import study
from roamsim.errors import UsageError
from roamsim.statistics import mean
from roamsim.study.figures import specification
from roamsim.study.judging import (
    Finding,
    counted,
    difference,
    every,
    follows,
    positive,
    replications_needed,
    rises,
    within,
)
from roamsim.study.law import by_law, exact
from roamsim.study.shown import beyond
from roamsim.study.verdicts import in_words
from small_study import change, refused

#: Eight samples of mean 0.5 and deviation 0.1: their interval is 0.5 +- 2.365 * 0.1 * sqrt(8/7) / sqrt(8) = 0.0894.
WIDE = mean([0.4, 0.6] * 4)


def test_a_law_decides_where_runs_do_not_and_runs_stand_beside_it() -> None:
    runs = within(WIDE, 0.45, 0.55, "success")
    found = by_law(runs, within(exact(0.5), 0.45, 0.55, "success"))
    assert (runs.verdict, runs.source) == ("not decidable", "runs")
    assert (found.verdict, found.source, found.needed) == ("agrees", "exact law", None)
    assert found.measured == "success: 0.500 ± 0.089; exact law: success: 0.5"
    # The line has what was measured, and beside it what decided.
    assert found.ours == "success: 0.500 ± 0.089 (exact law 0.5)"
    assert [(value.what, value.mean) for value in found.values] == [("success", 0.5), ("exact law, success", 0.5)]


def test_runs_that_agree_with_a_law_are_named_with_it_and_runs_that_contradict_it_leave_it_open() -> None:
    runs = within(WIDE, 0.0, 1.0, "success")
    assert by_law(runs, within(exact(0.5), 0.0, 1.0, "success")).source == "runs and exact law"
    found = by_law(runs, within(exact(1.5), 0.0, 1.0, "success"))
    assert found.verdict == "not decidable"
    assert found.measured.endswith("the runs contradict the law")


def test_parts_by_runs_and_by_law_make_a_verdict_of_both() -> None:
    runs = within(WIDE, 0.0, 1.0, "success")
    law = by_law(within(WIDE, 0.45, 0.55, "b"), within(exact(0.5), 0.45, 0.55, "b"))
    assert every([runs, law]).source == "runs and exact law"
    assert every([law]).source == "exact law"
    # Only the parts that differ make a difference.
    assert every([law, within(WIDE, 2.0, 3.0, "c")]).source == "runs"


def test_what_is_not_decidable_says_how_many_replications_would_decide() -> None:
    # 0.0894 has to shrink below the 0.05 to either limit: 8 (0.0894 / 0.05)^2 = 25.6.
    assert within(WIDE, 0.45, 0.55, "success").needed == 26
    # A difference of 0.01 +- 0.02: four times as many.
    assert positive(mean([0.01 + d for d in (-0.02, 0.02)] * 5), "gain").needed == pytest.approx(
        10 * (2.2622 * 0.02 * math.sqrt(10 / 9) / math.sqrt(10) / 0.01) ** 2, abs=1
    )
    # At the limit no number of runs decides, and a finding without one needs none.
    assert within(WIDE, 0.5, 1.0, "success").needed is None
    assert replications_needed(8, 1000.0) is None
    assert within(WIDE, 0.0, 1.0, "success").needed is None
    # Of several parts the one that needs most.
    assert every([within(WIDE, 0.45, 0.55, "a"), within(WIDE, 0.42, 1.0, "b")]).needed == 26
    assert every([within(WIDE, 0.45, 0.55, "a"), Finding("not decidable", "no value")]).needed is None


def test_a_part_of_many_differs_with_an_interval_that_holds_for_all() -> None:
    def judged(part: Finding, others: int) -> Finding:
        return every([part, *[positive(mean([0.9, 1.1] * 4), "gain")] * others])

    # -0.1 +- 0.0894 is below zero; for ten together t is 4.03 in place of 2.365, and +- 0.152 is not.
    below = positive(mean([-0.2, 0.0] * 4), "gain")
    assert [judged(below, others).verdict for others in (0, 9)] == ["differs", "not decidable"]
    # What leaves it open is the wider interval: (0.152 / 0.1)^2 times the eight replications would decide.
    assert judged(below, 9).needed == 19
    # The same beside a range, on either side of it.
    for low, high in ((0.0, 1.0), (-2.0, -0.2)):
        assert judged(within(mean([-0.2, 0.0] * 4), low, high, "gain"), 9).verdict == "not decidable"
    assert judged(positive(mean([-0.6, -0.4] * 4), "gain"), 9).verdict == "differs"
    assert judged(positive(mean([0.0] * 8), "gain"), 9).verdict == "differs"
    assert judged(within(mean([-0.6, -0.4] * 4), 0.0, 1.0, "gain"), 9).verdict == "differs"
    # A part that differs by a law, or without an interval, differs among any number.
    assert judged(Finding("differs", "by arithmetic"), 9).verdict == "differs"
    # Statements of statements: the part is one of ten of the outer one, whatever lies between.
    above = positive(mean([0.9, 1.1] * 4), "gain")
    assert every([judged(below, 9), below]).verdict == "not decidable"
    assert every([every([below]), *[every([above] * 3)] * 3]).verdict == "not decidable"
    assert every([every([below]), every([above])]).verdict == "not decidable"
    assert every([every([every([below])])]).verdict == "differs"


def test_points_of_curves_are_intervals_among_those_of_a_statement() -> None:
    # 0.13 +- 0.0894 off: beyond t = 2.84 of two points in place of 2.365, not beyond t = 4.12 of eleven intervals.
    off, above = mean([-0.23, -0.03] * 4), positive(mean([0.9, 1.1] * 4), "gain")
    curve = follows({0.0: mean([-0.1, 0.1] * 4), 1.0: off}, lambda _: 0.0, 0.0, "delay", str)
    # A fall of 0.26 of two intervals of 0.0894 each is as far.
    fall = rises({0.0: mean([0.03, 0.23] * 4), 1.0: off}, "delay", str)
    for finding in (curve, fall):
        assert finding.verdict == every([finding]).verdict == "differs"
        assert every([finding, *[above] * 9]).verdict == "not decidable"
    # 0.11 +- 0.0894 is beyond t = 2.84 of two intervals, and not t = 3.13 of three: a curve of two points has two.
    alone = positive(mean([-0.21, -0.01] * 4), "gain")
    good = rises({0.0: mean([-0.1, 0.1] * 4), 1.0: mean([0.9, 1.1] * 4)}, "delay", str)
    assert [every([alone, *more]).verdict for more in ([], [above], [good])] == [
        "differs",
        "differs",
        "not decidable",
    ]


def test_many_parts_are_counted_by_the_intervals_that_hold_for_all() -> None:
    above, below = positive(mean([0.9, 1.1] * 4), "gain"), positive(mean([-0.2, 0.0] * 4), "gain")
    of_ten = counted([below, *[above] * 9], "orders")
    assert of_ten.measured == "9 of 10 orders agree, 0 differ, 1 is not decidable"
    assert (of_ten.verdict, of_ten.needed) == ("not decidable", 19)
    assert counted([below], "orders").verdict == "differs"
    assert counted([above] * 3, "orders").verdict == "agrees"
    # It says what its parts come from and rest on.
    law = replace(below, source="exact law", outside=None, rests_on=("a law",))
    told = counted([law, *[above] * 9], "orders")
    assert (told.verdict, told.source, told.rests_on) == ("differs", "exact law", ("a law",))
    assert told.measured == "9 of 10 orders agree, 1 differs, 0 are not decidable"


ALTERNATIVE = """
[[alternative]]
id = "lossless"
name = "a wire without loss"
instead_of = "a lossy wire"
experiments = ["lossy"]
set = { "link.path.loss.probability" = 0.0 }
"""


def test_a_verdict_rests_on_what_an_alternative_turns_round(small: Path, tmp_path: Path) -> None:
    with (small / "study.toml").open("a") as definition:
        definition.write(ALTERNATIVE)
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    first, second = outcome.statements
    # Without loss everything arrives, so that the difference of statement 2 is one of the loss; 1 has none anyway.
    assert (first["verdict"], first["turned_by"], first["rests_on"]) == ("agrees", [], None)
    assert second["verdict"] == "differs"
    assert second["rests_on"] == "messages of 100 B; a lossy wire (with a wire without loss it agrees)"
    # The runs of the alternative are an experiment of their own.
    rows = outcome.data.rows("lossy~lossless", kind="indication", loss=0.5)
    assert {row["success_rate"] for row in rows} == {1.0}
    assert {row["success_rate"] for row in outcome.data.rows("lossy", kind="indication", loss=0.5)} != {1.0}
    page = outcome.report.read_text()
    assert "with a wire without loss it agrees" in page
    # What was tried and turns nothing is told as well, where a statement folds out.
    assert (first["does_not_rest_on"], second["does_not_rest_on"]) == (
        "a lossy wire (tried: a wire without loss)",
        None,
    )
    assert "<dt>Does not rest on</dt><dd>a lossy wire (tried: a wire without loss)</dd>" in page


def test_what_leaves_a_verdict_open_is_told_among_what_does_not_turn_it(small: Path, tmp_path: Path) -> None:
    # All of 100 and of 50 messages arrive on a wire without loss; of few the interval of a share is wide.
    few = ALTERNATIVE.replace('link.path.loss.probability" = 0.0', 'signalling.mih.stop" = "6s"')
    few = few.replace('"lossless"', '"few"').replace("a wire without loss", "two messages")
    with (small / "study.toml").open("a") as definition:
        definition.write(
            ALTERNATIVE.replace("a lossy wire", "many messages") + few.replace("a lossy wire", "many messages")
        )
    with (small / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "3"
published = "Without loss indications arrive."
rule = "At least 95 %."
measured = { experiment = "lossy", column = "success_rate", where = { kind = "indication", loss = 0.0 }, within = [0.95, 1.0] }
"""
        )
    third = study.run(small, level="quick", out=tmp_path / "out").statements[2]
    assert (third["verdict"], third["turned_by"]) == ("agrees", [])
    assert third["does_not_rest_on"] == "many messages (tried: a wire without loss; open with two messages)"


def test_an_alternative_bears_on_what_it_changes_alone(small: Path, tmp_path: Path) -> None:
    # Requests alone are another size, so that statements about indications have the same runs.
    text = ALTERNATIVE.replace('set = { "link.path.loss.probability" = 0.0 }', 'function = "larger"')
    with (small / "study.toml").open("a") as definition:
        definition.write(text)
    with (small / "study.py").open("a") as code:
        code.write("\ndef larger(labels):\n    of = 'signalling.mih.message_size'\n")
        code.write("    return {of: '300B'} if labels['kind'] == 'request' else {}\n")
    with (small / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "3"
published = "Without loss requests succeed."
rule = "At least 95 %."
measured = { experiment = "lossy", column = "success_rate", where = { kind = "request", loss = 0.0 }, within = [0.95, 1.0] }
[[statement]]
id = "4"
published = "Without loss indications arrive."
rule = "At least 95 %."
measured = { experiment = "lossy", column = "success_rate", where = { kind = "indication", loss = 0.0 }, within = [0.95, 1.0] }
"""
        )
    *_, third, fourth = study.run(small, level="quick", out=tmp_path / "out").statements
    assert (fourth["turned_by"], fourth["does_not_rest_on"]) == ([], None)
    assert third["does_not_rest_on"] == "a lossy wire (tried: a wire without loss)"


def test_words_of_statements_are_explained_where_they_stand(small: Path, tmp_path: Path) -> None:
    change(
        small,
        "study.toml",
        "parts = {",
        'terms = { loss = "the share of packets that are lost", "acked" = "never used" }\nparts = {',
    )
    page = study.run(small, level="quick", out=tmp_path / "out").report.read_text()
    listed = page.index("<strong>loss</strong>: the share of packets that are lost")
    assert page.index("Published statements</h2>") < listed < page.index('<details class="verdict')
    second = page[page.index('id="statement-2"') :].partition("</details>")[0]
    assert "<dt>Words</dt><dd>loss: the share of packets that are lost</dd>" in second


def test_alternatives_to_one_choice_are_named_together() -> None:
    factors = ("the factor 1.5 (with 1.2 it differs)", "a law", "the factor 1.5 (with 2 it differs)")
    assert in_words(factors) == ["the factor 1.5 (it differs with 1.2 or 2)", "a law"]
    # Another verdict is another condition, and one alternative stands as it is.
    assert in_words(("a (with b it differs)", "a (with c it agrees)")) == [
        "a (with b it differs)",
        "a (with c it agrees)",
    ]
    names = ("as they are (with whole frames, late it agrees)", "as they are (with late it agrees)")
    assert in_words(names) == ["as they are (it agrees with “whole frames, late” or “late”)"]


def test_an_alternative_may_compute_its_settings_and_stand_for_several(small: Path, tmp_path: Path) -> None:
    text = ALTERNATIVE.replace('set = { "link.path.loss.probability" = 0.0 }', 'function = "for_{kind}"')
    text = text.replace('id = "lossless"', 'each = { kind = ["request", "indication"] }\nid = "{kind}"')
    with (small / "study.toml").open("a") as definition:
        definition.write(text)
    with (small / "study.py").open("a") as code:
        for kind in ("request", "indication"):
            code.write(f"\ndef for_{kind}(labels):\n    lossless = labels['kind'] == '{kind}'\n")
            code.write("    return {'link.path.loss.probability': 0.0} if lossless else {}\n")
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    for kind, other in (("request", "indication"), ("indication", "request")):
        rows = outcome.data.rows(f"lossy~{kind}", loss=0.5)
        assert {row["success_rate"] for row in rows if row["kind"] == kind} == {1.0}
        assert max(row["success_rate"] for row in rows if row["kind"] == other) < 1.0
    refused(small, "study.py", "def for_request", "def for_requests", "study.py has no function 'for_request'")


def test_conditions_name_what_turns_a_verdict_round(small: Path, tmp_path: Path) -> None:
    change(small, "statements.toml", 'rests_on = "messages of 100 B"', 'conditions = "tried"')
    with (small / "statements.py").open("a") as code:
        code.write("\ndef tried(data, statement, verdict):\n    return (f'a chance ({statement}, {verdict})',)\n")
    second = study.run(small, level="quick", out=tmp_path / "out").statements[1]
    assert second["turned_by"] == ["a chance (2, differs)"]
    refused(small, "statements.toml", 'conditions = "tried"', 'conditions = "tired"', "no function 'tired'")


def test_a_coarse_alternative_has_the_values_of_the_quick_look_in_the_full_run(small: Path, tmp_path: Path) -> None:
    with (small / "study.toml").open("a") as definition:
        definition.write(f"{ALTERNATIVE}coarse = true\nfull = 1\n")
    data = study.run(small, out=tmp_path / "out").data
    assert data.labels("lossy", "size_bytes") == [100, 200]
    assert data.under("lossless").labels("lossy", "size_bytes") == [100]
    assert {row["size_bytes"] for row in data.rows("lossy~lossless")} == {100}


def test_a_reference_keeps_no_digest_of_what_was_not_run(small: Path, tmp_path: Path) -> None:
    with (small / "study.toml").open("a") as definition:
        definition.write(f"{ALTERNATIVE}full_only = true\n")
    kept = json.loads(study.update(study.run(small, level="quick", out=tmp_path / "out")).read_text())
    assert list(kept["experiments"]) == ["lossy"]


def test_a_reading_may_make_a_statement_agree(small: Path, tmp_path: Path) -> None:
    with (small / "study.toml").open("a") as definition:
        definition.write(ALTERNATIVE)
    change(small, "statements.toml", 'rests_on = "messages of 100 B"', 'readings_by = ["lossless"]')
    second = study.run(small, level="quick", out=tmp_path / "out").statements[1]
    assert (second["verdict"], second["rests_on"]) == ("agrees", "reading a wire without loss alone")


def test_a_quick_look_names_what_the_full_run_found(small: Path, tmp_path: Path) -> None:
    (small / "reference-full.json").write_text(
        '{"statements": {"1": {"verdict": "agrees", "turned_by": ["an ACK at once"]}, "2": {"verdict": "agrees", '
        '"turned_by": ["what another verdict rests on"]}}}'
    )
    first, second = study.run(small, level="quick", out=tmp_path / "out").statements
    assert (first["rests_on"], first["turned_by"]) == ("an ACK at once", [])
    assert second["rests_on"] == "messages of 100 B"


def test_a_quick_look_says_what_is_left_to_the_full_run(small: Path, tmp_path: Path) -> None:
    with (small / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "3"
published = "Half of the indications arrive."
rule = "Within 0.001: too few are sent."
measured = { experiment = "lossy", column = "success_rate", where = { kind = "indication", loss = 0.5 }, within = [0.499, 0.501] }
"""
        )
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    assert (
        "The quick look decides 2 of 3 statements. Open here, with the verdict of the full run: 3 not run yet."
        in page(outcome)
    )
    (small / "reference-full.json").write_text('{"statements": {"3": {"verdict": "agrees"}}}')
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    assert "Open here, with the verdict of the full run: 3 agrees." in page(outcome)
    assert "full run: agrees" in page(outcome)
    # What the full run leaves open, too, says how many runs would decide.
    (small / "reference-full.json").write_text('{"statements": {"3": {"verdict": "not decidable"}}}')
    left = page(study.run(small, level="quick", out=tmp_path / "out"))
    assert re.search(r"full run: not decidable; (about \d+ replications|no number of runs) would decide", left)
    (small / "reference-full.json").write_text('{"statements": {"3": {"verdict": "agrees"}}}')
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    told = outcome.summary().splitlines()
    assert told[told.index("Open in this quick look, with the verdict of the full run:") + 1].split()[:2] == [
        "3",
        "agrees",
    ]
    # Of the full run nothing is left.
    assert study.run(small, out=tmp_path / "full").left_to_the_full_run() == {}


def page(outcome: study.Outcome) -> str:
    """Its report."""
    return outcome.report.read_text()


def test_statements_of_ours_are_counted_apart(small: Path, tmp_path: Path) -> None:
    change(small, "statements.toml", 'if_differs = "what is lost is lost"', "own = true")
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    assert "1 of 1 statements agree" in outcome.answer
    assert "statements: 1 agrees, 0 differ, 0 not decidable\n" in outcome.summary()
    assert "statements of ours: 0 agree, 1 differs, 0 not decidable\n" in outcome.summary()
    page = outcome.report.read_text()
    assert page.index("With loss everything arrives.<") > page.index("Statements of ours")
    published, _, own = page.partition("Statements of ours</h2>")
    assert "<span>published</span><span>ours</span>" in published
    assert "<span>statement</span><span>ours</span>" in own


def test_alternatives_that_are_not_there_are_refused(small: Path) -> None:
    message = "statement 2: there is no alternative 'lossless'"
    refused(small, "statements.toml", 'rests_on = "messages of 100 B"', 'readings_by = ["lossless"]', message)
    with (small / "study.toml").open("a") as definition:
        definition.write(ALTERNATIVE)
    message = "alternative lossless: there is no experiment 'lost'"
    refused(small, "study.toml", 'experiments = ["lossy"]\nset', 'experiments = ["lost"]\nset', message)


def test_what_rounding_leaves_of_a_law_decides_nothing(small: Path, tmp_path: Path) -> None:
    # 1 - 0.9 and 0.1 are one number in decimals; as doubles they differ by 2.8e-17.
    assert difference(1 - 0.9, 0.1) == 0.0 != (1 - 0.9) - 0.1
    assert difference(0.1, 0.1 + 1e-9) != 0.0
    exactly = follows({0.9: exact(1 - 0.9)}, lambda x: 0.1, 0.01, "share", str)
    assert exactly.measured.startswith("share: largest deviation 0 at 0.9")
    with (small / "study.py").open("a") as code:
        code.write("\ndef noisy(row, column, data):\n    return 1 - 0.9 if row['loss'] else 0.1\n")
    with (small / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "3"
published = "Loss helps."
rule = "Above zero."
positive = true
measured = { experiment = "lossy", column = "overhead", where = { kind = "request", loss = 0.0 }, less = { loss = 0.5 }, law = "noisy", label = "gain" }
"""
        )
    third = study.run(small, level="quick", out=tmp_path / "out").statements[2]
    assert third["verdict"] != "agrees"
    assert third["measured"].endswith("exact law: gain: 0")


def test_a_law_in_the_entry_of_a_statement(small: Path, tmp_path: Path) -> None:
    """200 messages a replication do not tell (1-p)^2 to 0.001; the law does."""
    with (small / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "3"
published = "Success of requests is (1-p)^2."
rule = "Within 0.001, at every loss; and at a loss of one half 0.75 below that without."
measured = [
  { experiment = "lossy", column = "success_rate", where = { kind = "request" }, x = "loss", follows = ["(1 - x) * (1 - x)", 0.001], law = "success", label = "curve" },
  { experiment = "lossy", column = "success_rate", where = { kind = "request", loss = 0.0 }, less = { loss = 0.5 }, within = [0.7499, 0.7501], law = "success", label = "fall" },
]
"""
        )
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    third = outcome.statements[2]
    assert (third["verdict"], third["judged_by"]) == ("agrees", "exact law")
    assert "exact law: fall: 0.75" in third["measured"]
    # What a law does not bear out differs, however few the runs.
    change(small, "statements.toml", "(1 - x) * (1 - x)", "1 - x - x / 4")
    third = study.run(small, level="quick", out=tmp_path / "out").statements[2]
    assert third["verdict"] == "differs"
    refused(small, "statements.toml", 'law = "success", label = "fall"', 'law = "unknown"', "no function 'unknown'")


def test_a_quick_look_does_not_draw_what_it_cannot_say(small: Path, tmp_path: Path) -> None:
    # Two places say nothing of a course that the full run has at six.
    change(small, "study.toml", 'full = "0,0.5" }', 'full = "0:0.5:0.1" }')
    change(small, "study.toml", 'id = "messages"', 'id = "messages"\nfull_only = true')
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    assert list(outcome.figures) == []
    assert "messages" not in outcome.tables
    page = outcome.report.read_text()
    assert re.search(
        r"In the full run alone:.*<li>Success of requests</li>\s*<li>Messages by loss</li>", page, re.DOTALL
    )
    # A figure that has no more places in full is drawn.
    change(small, "study.toml", 'full = "0:0.5:0.1" }', 'full = "0,0.5" }')
    assert list(study.run(small, level="quick", out=tmp_path / "out").figures) == [
        "success-indication",
        "success-request",
    ]


def test_a_statement_of_runs_that_a_quick_look_has_not_is_left_to_the_full_run(small: Path, tmp_path: Path) -> None:
    # Only the full run has messages of 200 octets.
    with (small / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "3"
published = "Without loss messages of 200 octets arrive."
rule = "At least 0.98."
measured = { experiment = "lossy", column = "success_rate", where = { size_bytes = 200, loss = 0.0 }, within = [0.98, 1], label = "success" }
"""
        )
    with pytest.raises(UsageError, match="statement 3: no run of experiment lossy has size_bytes = 200"):
        study.run(small, level="quick", out=tmp_path / "quick")
    change(small, "statements.toml", 'id = "3"', 'id = "3"\nfull_only = true')
    third = study.run(small, level="quick", out=tmp_path / "quick").statements[2]
    assert (third["verdict"], third["ours"]) == ("not decidable", "the quick look has no runs of it")
    full = study.run(small, level="full", out=tmp_path / "full")
    assert full.statements[2]["verdict"] == "agrees"
    study.update(full)
    page = study.run(small, level="quick", out=tmp_path / "quick").report.read_text()
    assert "the quick look has no runs of it; full run: agrees" in page


def test_exhibits_carry_the_caption_of_the_publication_and_grey_is_ours(small: Path, tmp_path: Path) -> None:
    change(small, "study.toml", 'quick = "0,0.5", full = "0,0.5" }', 'values = "0,0.25,0.5" }')
    change(
        small,
        "figures.toml",
        'y_title = "Success (%)"',
        'y_title = "Success (%)"\nshows = "figure 7"\npublished_x = [0, 25]',
    )
    change(small, "study.toml", 'id = "messages"', 'id = "messages"\nshows = "ours"')
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    page = outcome.report.read_text()
    assert "Success of requests (figure 7)" in page
    assert "Messages by loss (ours)" in page
    assert "Grey: ours, beyond the published range of 0 to 25." in page
    figure = outcome.study.figures[0]
    grey = specification(figure, outcome.figures[figure.id])["layer"][0]
    assert grey["data"]["values"] == [{"start": 25.0, "end": 50.0}]
    assert beyond(replace(figure, published_x=[0, 50]), outcome.figures[figure.id]) == []


def test_labels_that_the_other_experiment_does_not_have_are_refused(small: Path) -> None:
    with (small / "study.toml").open("a") as definition:
        definition.write(
            '[[experiment]]\nid = "one"\ntitle = "One kind"\nscenario = "two-nodes.toml"\ndimensions = ["loss"]\n'
        )
    part = (
        'measured = { experiment = "lossy", column = "success_rate", where = { kind = "request", loss = 0.0 }, '
        'less = { experiment = "one" }, within = [0, 0] }'
    )
    message = "statement 1: experiment one has no dimension 'kind'"
    refused(small, "statements.toml", 'function = "all_arrive"\n', f"{part}\n", message)


def test_which_delay_is_larger_has_no_verdict_where_the_shares_of_missing_messages_differ(
    small: Path, tmp_path: Path
) -> None:
    with (small / "statements.toml").open("a") as statements:
        for number, loss in (("3", 0.0), ("4", 0.5)):
            statements.write(
                f"""
[[statement]]
id = "{number}"
published = "Requests take longer than indications."
rule = "The delay of requests less that of indications is above zero."
positive = true
measured = {{ experiment = "lossy", column = "mean_delay_s", where = {{ kind = "request", loss = {loss} }}, less = {{ kind = "indication" }}, label = "delay (s)" }}
"""
            )
    found = {s["id"]: s for s in study.run(small, level="quick", out=tmp_path / "out").statements}
    assert found["3"]["verdict"] == "agrees"
    # Half of the indications are lost, and three quarters of the requests or of their responses.
    lossy = found["4"]
    assert (lossy["verdict"], lossy["replications_needed"]) == ("not decidable", None)
    assert re.search(
        r"no verdict: it is of the messages that arrived, and [45]\d % to 7\d % did not", lossy["measured"]
    )
