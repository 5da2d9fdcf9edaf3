"""The study framework end to end, with a study of a few short runs."""

import gzip
import json
import math
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from conftest import Command
from roamsim import study
from roamsim.api import report
from roamsim.errors import CheckFailed, UsageError
from roamsim.study.code import read_code
from roamsim.study.data import Data
from roamsim.study.definition import LEVELS, points
from roamsim.study.entries import Curve, Figure
from roamsim.study.figures import chart, figure_rows, specification
from roamsim.study.full import path_of
from roamsim.study.sequences import picture
from small_study import change, refused


def test_a_study_from_folder_to_report(small: Path, tmp_path: Path) -> None:
    outcome = study.run(small, level="quick", out=tmp_path / "out", jobs=2)
    assert outcome.effort.made == 8  # 2 kinds x 1 size x 2 losses x 2 replications
    rows = outcome.figures["success-request"]
    assert [row["x"] for row in rows] == [0.0, 50.0]
    assert rows[0]["mean"] == 100.0
    assert rows[1]["closed_form"] == 25.0
    assert rows[1]["low"] <= rows[1]["mean"] <= rows[1]["high"]
    assert 10 < rows[1]["mean"] < 40  # 200 requests, of which a quarter succeeds: 3.1 is a standard error
    assert [s["verdict"] for s in outcome.statements] == ["agrees", "differs"]
    assert [s["why"] for s in outcome.statements] == [None, "what is lost is lost"]
    assert [s["rests_on"] for s in outcome.statements] == [None, "messages of 100 B"]
    # 200 indications and as many requests of two messages: 50 % and 25 % of them arrive.
    assert outcome.statements[1]["ours"].startswith("success: 0.3")
    # Two replications tell little of how much runs vary, so the interval is wide; it ends within 0 and 100.
    words = r"Yes: \d\d \(\d\d … \d\d\) % arrive at a loss of one half. 1 of 2 statements agree."
    assert re.fullmatch(words, outcome.answer)
    assert outcome.pictures["flow-request"].count("<polygon") == 2  # a request and its response
    assert [row["messages"] for row in outcome.tables["messages"]] == [100.0, 100.0]  # 50 s, two a second
    # 2 replications, 2 directions; registration and subscription are an exchange each.
    assert "4 rows: [2, 102]" in outcome.pictures["sent"]
    assert "request of 200 messages" in outcome.pictures["one-request"]  # 100 s
    outcome.require_checks()
    page = outcome.report.read_text()
    assert "A small study" in page
    # The answer and its figure, the contents, the statements; then the other figures.
    order = ["Yes: ", 'id="success-indication"', 'class="contents"', 'id="statement-1"', "Success of requests"]
    assert [page.index(part) for part in order] == sorted(page.index(part) for part in order)
    assert page.count('id="success-indication"') == 1
    assert '<a href="#success-indication">Success of indications</a> is at the head of this page' in page
    assert re.findall(r"<summary>(\d statement \w+)</summary>", page) == ["1 statement differs", "1 statement agrees"]
    assert '<span class="rests_on">messages of 100\u00a0B</span>' in page
    # The reason is one of the full run; beside these numbers it would claim what they may not show.
    assert "what is lost is lost" not in page.partition('<h2 id="Everything">')[0]
    assert "nobody asked" in page
    assert "<dt>machine</dt>" in page
    assert "until 55\u00a0s, over 20\u00a0ms" in page  # of the quick look, not of the full run
    assert '<a href="#statement-2">2</a>' in page
    assert "signalling.mih.stop = 55s" in page
    assert not re.search(r'(src|href)="https?://', page)


@pytest.mark.parametrize("name", sorted(study.available()))
def test_a_published_study_shows_its_answer(name: str) -> None:
    assert study.load(name).headline


def test_intervals_of_many_lines_of_a_study_are_lines_at_their_points() -> None:
    def intervals(series: int) -> list[str]:
        figure = Figure("f", "t", "all", ["e"], "x", "x", [Curve("column", "c")], "y", ["series"])
        rows = [
            {"series": f"s{n}", "curve": "c", "x": x, "mean": 1.0, "low": 0.5, "high": 2.0, "closed_form": None}
            for n in range(series)
            for x in range(5)
        ]
        marks = [layer["mark"]["type"] for layer in specification(figure, rows)["layer"]]
        return [mark for mark in marks if mark in ("area", "rule")]

    assert (intervals(6), intervals(7)) == (["area"], ["rule"])


@pytest.mark.parametrize("headline", ["messages", "sent", "flow-request"])
def test_any_exhibit_can_be_the_headline(small: Path, tmp_path: Path, headline: str) -> None:
    change(small, "study.toml", 'headline = "success-indication"', f'headline = "{headline}"')
    page = study.run(small, level="quick", out=tmp_path / "out").report.read_text()
    assert page.index("Yes: ") < page.index(f'id="{headline}"') < page.index('class="contents"')
    assert page.count(f'id="{headline}"') == 1


def test_an_answer_is_markdown(small: Path, tmp_path: Path) -> None:
    old = '{{ "Yes" if'
    change(small, "study.toml", old, '- **Loss** loses,\n  as one\n  expects.\n- <b>Nothing</b> else.\n\n{{ "Yes" if')
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    first, second, between, last = outcome.answer.splitlines()
    assert (first, second, between) == ("- **Loss** loses, as one expects.", "- <b>Nothing</b> else.", "")
    assert last.endswith("% arrive at a loss of one half. 1 of 2 statements agree.")
    assert "<li><strong>Loss</strong> loses, as one expects.</li>" in outcome.report.read_text().replace("\n", "")
    assert "&lt;b&gt;Nothing" in outcome.report.read_text()
    assert outcome.summary().splitlines()[2:4] == ["- Loss loses, as one expects.", second]
    assert outcome.summary(20).splitlines()[2:4] == ["- Loss loses, as one", "  expects."]


def test_an_answer_may_have_the_share_of_counted_trials(small: Path, tmp_path: Path) -> None:
    asked = (
        '{{ mean("lossy", "successes", trials="messages", scale=100, kind="indication", loss=0.0) }} % {{ "Yes" if'
    )
    change(small, "study.toml", '{{ "Yes" if', asked)
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    # All of 200 messages: Wilson's interval ends at 200 / (200 + 1.96^2) = 98.1 %.
    assert outcome.answer.startswith("100.00 (98.12 … 100.00) %")


def test_the_files_of_a_study_import_each_other_and_exhibits_may_be_a_package(small: Path, tmp_path: Path) -> None:
    (small / "exhibits").mkdir()
    (small / "exhibits.py").rename(small / "exhibits" / "pictures.py")
    (small / "exhibits" / "__init__.py").write_text("from ..cases import WORD\nfrom .pictures import *\n")
    (small / "cases.py").write_text("WORD = 'first'\n")
    first = study.load(small)
    assert first.exhibits is not None
    assert first.exhibits.WORD == "first"
    assert callable(first.exhibit("messages"))
    # Another folder of the same name is another study.
    other = tmp_path / "other" / "small"
    shutil.copytree(small, other)
    (other / "cases.py").write_text("WORD = 'another one'\n")
    second = study.load(other)
    assert second.exhibits is not None
    assert (first.exhibits.WORD, second.exhibits.WORD) == ("first", "another one")
    (small / "statements.py").unlink()
    with pytest.raises(UsageError, match=r"statements.py has no function 'all_arrive'"):
        study.load(small)


def test_a_study_keeps_what_it_measures_of_a_run(roamsim: Command, small: Path, tmp_path: Path) -> None:
    change(small, "study.toml", 'tables = ["links"]', 'tables = ["links"]\nmeasure = "messages_sent"')
    with (small / "study.py").open("a") as code:
        code.write(
            "\ndef messages_sent(tables):\n"
            "    sent = tables['signalling']\n"
            "    packets = int(sum(tables['links']['sent_packets']))\n"
            "    return {'messages': [int(sent['messages'][0])], 'success_rate': [sent['success_rate'][0]],\n"
            "            'packets': [packets]}\n"
        )
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    assert outcome.figures["success-request"][1]["closed_form"] == 25.0
    rows = json.loads(
        roamsim(
            "query", "out", "select * from messages_sent where kind = 'indication'", "--json", "--study", small
        ).stdout
    )
    # Without loss 100 indications, and registration and subscription: an exchange each.
    assert [(row["messages"], row["packets"]) for row in rows if row["loss"] == 0] == [(100, 104)] * 2
    assert study.run(small, level="quick", out=tmp_path / "out").effort.made == 0
    with_name_of_table = 'measure = "messages_sent"\ntable = "flows"'
    refused(
        small, "study.toml", 'measure = "messages_sent"', with_name_of_table, "'flows' is the name of a result table"
    )
    change(small, "study.toml", with_name_of_table, 'measure = "messages_send"')
    with pytest.raises(UsageError, match=r"study.py has no function 'messages_send'"):
        study.load(small)


@pytest.mark.parametrize("file", ["study.toml", "figures.toml", "two-nodes.toml"])
def test_a_definition_says_the_same_however_it_is_stored(small: Path, file: str) -> None:
    text = (small / file).read_text()
    for stored in (text.encode("utf-8-sig"), text.encode("utf-16"), gzip.compress(text.encode())):
        (small / file).write_bytes(stored)
        assert study.load(small).title == "A small study"
    (small / "study.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"study\.toml: is not a text file"):
        study.load(small)


def test_a_report_can_be_written_again(small: Path, tmp_path: Path) -> None:
    study.run(small, level="quick", out=tmp_path / "out")
    with pytest.raises(UsageError, match=r"[^-]study DIR"):
        report(tmp_path / "out")
    written = report(tmp_path / "out", tmp_path / "again.html", study=small)
    assert "A small study" in written.read_text()


def test_a_study_answers_questions_and_says_where_its_figures_are(
    roamsim: Command, small: Path, tmp_path: Path
) -> None:
    roamsim("study", "run", small, "--quick", "--out", "out")
    question = "select experiment, kind, loss, count(*) as n from signalling group by all order by all"
    rows = json.loads(roamsim("query", "out", question, "--json", "--study", small).stdout)
    # 2 kinds x 2 losses, 2 replications each.
    assert rows == [
        {"experiment": "lossy", "kind": kind, "loss": loss, "n": 2}
        for kind in ("indication", "request")
        for loss in (0.0, 0.5)
    ]
    assert "roamsim report" in roamsim("plot", "out", "--what", "flows.goodput_bps", code=2).stderr
    assert roamsim("report", "out", "--study", small).stdout == "out/report.html\n"


def test_a_failed_check_ends_the_command_with_4(roamsim: Command, small: Path, tmp_path: Path) -> None:
    change(small, "study.py", "estimate.mean, 1.0, 0.0", "estimate.mean, 0.9, 0.01")
    done = roamsim("study", "run", small, "--quick", "--out", "out", code=4)
    assert "success without loss: measured 1, exact 0.9" in done.stderr
    assert (tmp_path / "out" / "report.html").exists()


def test_json_has_figures_and_statements(small: Path, tmp_path: Path) -> None:
    tree = json.loads(study.run(small, level="quick", out=tmp_path / "out").to_json())
    assert set(tree["figures"]) == {"success-indication", "success-request"}
    assert set(tree["statements"][0]) >= {"id", "published", "measured", "interval", "verdict"}
    assert tree["failed_checks"] == []
    assert tree["axes"]["success-request"] == {
        "title": "Success of requests",
        "x": {"label": "Loss", "unit": "%"},
        "y": {"label": "Success", "unit": "%"},
    }
    second = tree["statements"][1]
    assert second["interval_of"] == "success"
    (value,) = second["values"]
    assert (value["what"], [value["low"], value["high"]]) == ("success", second["interval"])


def test_a_difference_has_a_reason_or_says_that_none_is_known(small: Path, tmp_path: Path) -> None:
    change(small, "statements.toml", 'if_differs = "what is lost is lost"', "")
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    assert [s["why"] for s in outcome.statements] == [None, "no reason is known yet"]


@pytest.mark.parametrize("name", ["mih-transport", "sctp-mobile-ip", "tcp-dect"])
def test_pages_name_the_differences_of_the_full_run_and_their_reasons_say_what_was_tested(name: str) -> None:
    loaded = study.load(name)
    statements = {s.id: s for s in loaded.statements}
    came_out = (loaded.folder / "README.md").read_text().partition("## What came out")[2].partition("\n## ")[0]
    differ = came_out.partition("\nDiffer:\n")[2] or came_out
    lines = re.findall(r"^- ([\w, ]+):", re.split(r"^-? ?Not decidable", differ, flags=re.MULTILINE)[0], re.MULTILINE)
    named = [clause for line in lines for clause in line.split(", ")]
    assert len(named) >= 5
    for clause in named:
        assert "Tested by runs: " in statements[clause].if_differs, clause
    reference = path_of(loaded, "full")
    if reference.is_file():
        found = json.loads(reference.read_text())["statements"]
        assert sorted(named) == sorted(clause for clause, kept in found.items() if kept["verdict"] == "differs")


def test_figures_have_no_empty_layers_and_shares_end_at_100_percent(small: Path, tmp_path: Path) -> None:
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    figure = outcome.study.figures[0]
    rows = outcome.figures[figure.id]
    marks = [layer["mark"]["type"] for layer in chart(figure, rows).to_dict()["layer"]]
    assert marks == ["rule", "tick", "point"]  # two losses stand beside each other: nothing is joined
    rows.append({**rows[-1], "x": 100.0, "mean": 0.0})
    marks = [layer["mark"]["type"] for layer in chart(figure, rows).to_dict()["layer"]]
    assert marks == ["area", "line", "point"]  # the line is the closed form: no run is left to be joined
    assert chart(figure, rows).to_dict()["layer"][-1]["encoding"]["y"]["scale"]["domain"] == [0, 100]
    single = [{**row, "low": None, "high": None, "closed_form": None} for row in rows]
    assert [layer["mark"]["type"] for layer in chart(figure, single).to_dict()["layer"]] == ["line", "point"]
    assert [layer["mark"]["type"] for layer in chart(figure, single[:2]).to_dict()["layer"]] == ["point"]


def test_charts_number_transactions_from_one() -> None:
    published = study.load("mih-transport")
    for kind in ("indication", "request"):
        one = next(s for s in published.sequences if s.id == f"flow-{kind}-udp-ack")
        svg = picture(published, one, 1)
        assert f">{kind} 1<" in svg
        assert f">MIH ACK of {kind} 1<" in svg
        assert f">{kind} 2<" in svg
        assert f">{kind} 3<" not in svg


def test_reasons_stand_in_the_full_report(small: Path, tmp_path: Path) -> None:
    page = study.run(small, out=tmp_path / "out").report.read_text()
    assert "<dt>Why</dt><dd>what is lost is lost</dd>" in page


def test_coverage_names_what_there_is_and_all_of_it(small: Path, tmp_path: Path) -> None:
    loaded = study.load(small)
    assert loaded.not_covered() == []
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    assert outcome.coverage()[0] == {
        "published": "What arrives",
        "place": "page 1",
        "statements": {"1": "agrees", "2": "differs"},
        "exhibits": ["success-indication", "success-request", "messages"],
        "left_out": None,
    }
    change(small, "coverage.toml", 'statements = ["1", "2"]', 'statements = ["1"]')
    change(small, "coverage.toml", ', "sent"', "")
    assert study.load(small).not_covered() == ["2", "sent"]


@pytest.mark.parametrize("name", study.available())
def test_every_statement_and_exhibit_of_the_published_studies_is_covered(name: str) -> None:
    assert study.load(name).not_covered() == []


def test_the_time_of_runs_adds_up_over_calls(small: Path, tmp_path: Path) -> None:
    first = study.run(small, level="quick", out=tmp_path / "out")
    again = study.run(small, level="quick", out=tmp_path / "out")
    assert first.made_with["runs made"] == again.made_with["runs made"] == 8
    assert again.made_with["seconds that they took"] == first.made_with["seconds that they took"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('verdict("2")', 'verdict("3")', "answer: '3'"),
        ("{{ statements }}", "{{ clauses }}", "answer: 'clauses' is undefined"),
        ("{{ statements }}", "{{ statements", "answer: .*end of print statement"),
        ("loss=0.5", "loss=0.7", "answer: no run of experiment 'lossy' has 'success_rate'"),
    ],
)
def test_a_malformed_answer_is_refused(small: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    change(small, "study.toml", old, new)
    with pytest.raises(UsageError, match=message):
        study.run(small, level="quick", out=tmp_path / "out")


def test_finished_runs_are_not_repeated(small: Path, tmp_path: Path) -> None:
    first = study.run(small, level="quick", out=tmp_path / "out")
    again = study.run(small, level="quick", out=tmp_path / "out", jobs=1)
    assert (again.effort.made, again.effort.kept) == (0, 8)
    assert again.figures == first.figures
    # What a lost part held is made again, and nothing else.
    parts = sorted((tmp_path / "out" / "parts").iterdir())
    assert parts
    parts[0].unlink()
    repaired = study.run(small, level="quick", out=tmp_path / "out")
    assert repaired.effort.made > 0
    assert repaired.figures == first.figures
    assert repaired.pictures == first.pictures


def test_a_study_that_was_stopped_goes_on_in_its_folder_and_no_other_one_writes_there(
    small: Path, tmp_path: Path
) -> None:
    class Enough(Exception):
        pass

    class Stopping:
        def plan(self, total: int, kept: int) -> None:
            pass

        def done(self, runs: int) -> None:
            raise Enough

        def under_way(self, runs: float) -> None:
            pass

        def failed(self, runs: int) -> None:
            pass

    with pytest.raises(Enough):
        study.run(small, level="quick", out=tmp_path / "out", jobs=1, progress=Stopping())
    after = study.run(small, level="quick", out=tmp_path / "out")
    assert (after.effort.kept, after.effort.made) == (1, 7)
    other = tmp_path / "other"
    shutil.copytree(small, other)
    with pytest.raises(UsageError, match=r"holds results of the study 'small'; choose another folder"):
        study.run(other, level="quick", out=tmp_path / "out")


def test_other_levels_and_seeds_are_other_runs(small: Path, tmp_path: Path) -> None:
    quick = study.run(small, level="quick", out=tmp_path / "out")
    full = study.run(small, out=tmp_path / "out")
    assert (full.effort.made, full.effort.kept) == (24, 0)  # 2 kinds x 2 sizes x 2 losses x 3 replications
    other = study.run(small, level="quick", out=tmp_path / "out", seed=2)
    assert other.effort.made == 8
    assert other.figures != quick.figures


def test_a_failed_check_is_an_error_and_stands_in_the_report(small: Path, tmp_path: Path) -> None:
    change(small, "study.py", "estimate.mean, 1.0, 0.0", "estimate.mean, 0.9, 0.01")
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    with pytest.raises(CheckFailed, match=r"success without loss: measured 1, exact 0\.9"):
        outcome.require_checks()
    assert "Do not trust these results" in outcome.report.read_text()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("study.toml", 'title = "Messages over', 'titel = "Messages over', "experiment lossy: unknown key 'titel'"),
        ("study.toml", '"kind", "size_bytes", "loss"]', '"kind", "sise_bytes"]', r"no \[dimension.sise_bytes\]"),
        ("study.toml", '"size", quick', '"sise", quick', "study.py has no function 'sise'"),
        ("study.toml", "dimensions = [", "dimension = [", "unknown key 'dimension'"),
        ("study.toml", 'quick = "100", full', "full", "size_bytes: give the values, or those of quick and full"),
        (
            "study.toml",
            'quick = "100", full',
            'values = "50", quick = "100", full',
            "size_bytes: give the values, or",
        ),
        ("figures.toml", 'experiments = ["lossy"]', 'experiments = ["lousy"]', "no experiment 'lousy'"),
        ("figures.toml", 'x = "loss"', 'x = "lost"', "no dimension 'lost'"),
        ("figures.toml", "success-{kind}", "success", "'success' is there twice"),
        ("statements.toml", '"all_arrive"', '"none_arrive"', "statements.py has no function 'none_arrive'"),
        (
            "statements.toml",
            'rule = "Success is at least 0.98."\nfunction = "all_arrive"',
            'function = "all_arrive"',
            "'rule' is missing",
        ),
        ("study.toml", "[study]", "[study", "study.toml"),
        ("study.toml", "answer = ", "unanswered = ", r"\[study\] lacks 'answer'"),
        ("study.toml", '"success-indication"', '"success"', r"headline: there is no figure, .* 'success'"),
        ("study.toml", 'id = "messages"', 'id = "sent"', r"'sent' is there twice: figures, tables"),
        ("coverage.toml", '["1", "2"]', '["1", "3"]', "coverage of 'What arrives': there is no statement '3'"),
        ("coverage.toml", '"messages"]', '"massages"]', "there is no figure, table, drawing or sequence 'massages'"),
        ("coverage.toml", 'left_out = "nobody asked"', "", "give statements, exhibits, or what is left out and why"),
    ],
)
def test_a_malformed_definition_says_where(small: Path, file: str, old: str, new: str, message: str) -> None:
    refused(small, file, old, new, message)


def test_values_hold_at_both_levels(small: Path) -> None:
    change(small, "study.toml", 'quick = "100", full = "100,200"', "values = [100, 300]")
    loaded = study.load(small)
    for level in LEVELS:
        labels = [point.labels["size_bytes"] for point in points(loaded, loaded.experiments[0], level)]
        assert sorted(set(labels)) == [100, 300]


def test_studies_are_found_by_name(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small.parent.parent)
    assert study.available()["small"] == small
    assert study.load("small").title == "A small study"
    assert "24 runs" in study.show(study.load("small"))
    with pytest.raises(UsageError, match=r"no study 'smal'; did you mean small\? There are .*small"):
        study.load("smal")


def test_runs_that_experiments_share_are_counted_once(small: Path, tmp_path: Path) -> None:
    definition = small / "study.toml"
    head, mark, rest = definition.read_text().partition("[[experiment]]")
    experiment, end, tail = rest.partition("\n[[")
    again = experiment.replace('id = "lossy"', 'id = "again"').replace("replications = 2", "replications = 3")
    definition.write_text(f"{head}{mark}{again}\n{mark}{experiment}{end}{tail}")

    class Heard:
        planned = 0

        def plan(self, total: int, kept: int) -> None:
            self.planned = total

        def done(self, runs: int) -> None:
            pass

        def under_way(self, runs: float) -> None:
            pass

        def failed(self, runs: int) -> None:
            pass

    heard = Heard()
    study.run(small, level="quick", out=tmp_path / "out", progress=heard)
    # Two kinds and two losses, three times.
    assert heard.planned == 12
    told = study.show(study.load(small))
    assert "quick: 12 runs of 2 experiments" in told
    # The second experiment has two of the three replications of each point of the first.
    assert "full: 24 runs of 2 experiments" in told
    # What there is none of has no heading.
    one = study.load(small)
    bare = study.show(replace(one, experiments=one.experiments[:1], figures=[], sequences=[]))
    assert " of 1 experiment\n" in bare
    assert "figures:" not in bare
    assert "sequence charts:" not in bare


def test_the_published_studies_are_well_formed() -> None:
    found = study.available()
    assert "mih-transport" in found
    for folder in found.values():
        study.load(folder)


def test_no_interval_of_a_figure_reaches_below_what_values_can_be() -> None:
    class Rows:
        """Timeouts of two replications of two points: of the second both the same."""

        def rows(self, experiment: str, **where: object) -> list[dict[str, float]]:
            return [{"x": x, "series": 1, "timeouts": n, "saved": n - 2} for x, n in ((1, 0), (1, 2), (2, 3), (2, 3))]

    named = cast(study.Study, SimpleNamespace(words={"1": "one"}))

    def drawn(column: str) -> list[tuple[float, float, float]]:
        figure = Figure("f", "t", "all", ["e"], "x", "x", [Curve(column, "c")], "y", ["series"])
        rows = figure_rows(named, figure, cast(Data, Rows()))
        return [(row["low"], row["mean"], row["high"]) for row in rows]

    # Shares end at their whole too: 0.5 and 1 have a mean of 0.75 and 3.18 to either side.
    class Shares:
        def rows(self, experiment: str, **where: object) -> list[dict[str, float]]:
            return [{"x": 1, "series": 1, "chat_decodable_share": share} for share in (0.5, 1.0)]

    figure = Figure("f", "t", "all", ["e"], "x", "x", [Curve("chat_decodable_share", "c", 100)], "y", ["series"])
    (row,) = figure_rows(named, figure, cast(Data, Shares()))
    # The legend has the study's word for the label.
    assert row["series"] == "one"
    assert (row["low"], row["mean"], row["high"]) == (0.0, 75.0, 100.0)
    drawing = specification(figure, [row])
    assert drawing["layer"][-1]["encoding"]["y"]["scale"]["domain"] == [0, 100]
    # Student's t of one degree of freedom: 12.706 times a standard error of 1.
    assert drawn("timeouts") == [(0.0, 1.0, pytest.approx(13.706, abs=1e-3)), (3.0, 3.0, 3.0)]
    # What is below zero somewhere, and a difference, which could be, keep their intervals.
    for column, mean in (("saved", -1.0), ("timeouts - 0", 1.0)):
        assert drawn(column)[0][0] == pytest.approx(mean - 12.706, abs=1e-3)


@pytest.mark.parametrize(
    ("places", "read"),
    [
        ((1, 3), ["1", "3"]),
        ((25, 50, 100), ["25", "50", "100"]),
        ((150, 200, 384, 1000, 2000), ["150", "200", "384", "1000", "2000"]),
    ],
)
def test_what_was_varied_is_read_at_its_marks(places: tuple[int, ...], read: list[str]) -> None:
    import vl_convert

    figure = Figure("f", "t", "all", ["e"], "x", "x", [Curve("y", "c")], "y", ["series"])
    values = {"series": "s", "curve": "", "mean": 7.5, "low": 7.5, "high": 7.5, "samples": 2, "closed_form": None}
    drawing = specification(figure, [{"x": float(x), **values} for x in places])
    # As the page draws it: labels that lie on each other are left out.
    drawing |= {"width": 400, "config": {"axis": {"labelOverlap": True, "labelSeparation": 6}}}
    svg = vl_convert.vegalite_to_svg(drawing)
    axis = svg[svg.index("X-axis") : svg.index("Y-axis titled")]
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", axis)
    assert [label for label in shown if label.isdigit() or "e" in label] == read


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("column", ["overhead", "success_rate"])
def test_points_at_the_ends_of_an_axis_are_drawn_whole(column: str, logarithmic: bool) -> None:
    import vl_convert

    # Ends that are round numbers: an axis that ended there would cut the points in half.
    figure = Figure("f", "t", "all", ["e"], "x", "x", [Curve(column, "c")], "y", ["series"], logarithmic=logarithmic)
    row = {"series": "s", "curve": "", "low": None, "high": None, "samples": 1, "closed_form": None}
    drawing = specification(
        figure, [{"x": x, "mean": mean, **row} for x, mean in ((0.0, 0.1), (0.5, 1.0), (1.0, 0.1))]
    )
    svg = vl_convert.vegalite_to_svg(drawing | {"width": 400, "height": 300})
    points = re.findall(r'aria-roledescription="point" transform="translate\(([\d.]+),([\d.]+)\)"', svg)
    radius = math.sqrt(26 / math.pi)
    assert len(points) == 3
    assert all(radius <= float(x) <= 400 - radius and radius <= float(y) <= 300 - radius for x, y in points)


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("curves", [("share",), ("delay_s",), ("delay_s", "timeouts")])
@pytest.mark.parametrize("places", [2, 20])
def test_every_kind_of_figure_is_valid_vega_lite(logarithmic: bool, curves: tuple[str, ...], places: int) -> None:
    declared = [Curve(column, column) for column in curves]
    figure = Figure("f", "t", "all", ["e"], "x", "x", declared, "y", ["series"], logarithmic=logarithmic)
    rows = [
        {
            "series": name, "curve": curve, "x": float(x), "mean": 0.5 * x, "low": 0.4 * x, "high": 0.6 * x,
            "samples": 2, "closed_form": 0.5 * x if name == "b" else None,
        }
        for name in "ab" for curve in curves for x in range(places)
    ]  # fmt: skip
    # Altair holds it against the schema.
    assert chart(figure, rows).to_dict()["layer"]


def test_code_is_read_as_it_is_although_it_has_the_time_and_the_length_that_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    code = tmp_path / "study.py"
    for value in (1, 2):
        code.write_text(f"VALUE = {value}\n")
        os.utime(code, (1_000_000_000, 1_000_000_000))
        read = read_code(tmp_path)["study"].VALUE
        assert read == value
    assert [path.name for path in tmp_path.iterdir()] == ["study.py"], "nothing is written beside it"
