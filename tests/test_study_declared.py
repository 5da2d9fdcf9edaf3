"""Statements and tables without code: the study that docs/how-to/a-study.md writes, and what is refused."""

import re
import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from roamsim import study
from roamsim.errors import UsageError
from roamsim.study.data import Data
from roamsim.study.judging import number
from roamsim.study.shown import in_order
from small_study import change, refused

PAGE = ROOT / "docs/how-to/a-study.md"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the page writes."""
    folder = tmp_path_factory.mktemp("page") / "fall-floyd"
    folder.mkdir()
    for name, text in re.findall(r"```toml (\S+)\n(.*?)```", PAGE.read_text(), re.DOTALL):
        (folder.parent / name).write_text(text)
    shutil.copy(ROOT / "examples/fall-floyd.toml", folder / "scenario.toml")
    return folder


@pytest.fixture
def page(written: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(written, tmp_path / "fall-floyd"))


def test_the_page_needs_no_code_and_agrees_with_the_publication(page: Path, tmp_path: Path) -> None:
    assert not list(page.glob("**/*.py"))
    outcome = study.run(page, out=tmp_path / "out")
    assert {s["id"]: s["verdict"] for s in outcome.statements} == dict.fromkeys("1234", "agrees")
    # docs/fall-floyd.md: Reno has one timeout after three and four losses, the others none.
    waits = {"losses 1": "0 ± 0", "losses 2": "0 ± 0", "losses 3": "1 ± 0", "losses 4": "1 ± 0"}
    none = dict.fromkeys(waits, "0 ± 0")
    assert outcome.tables["timeouts"] == [
        {"variant": "tahoe", **none},
        {"variant": "reno", **waits},
        {"variant": "newreno", **none},
        {"variant": "sack", **none},
    ]
    assert [value["what"] for value in outcome.statements[1]["values"]] == [
        "timeouts after 3 losses",
        "timeouts after 4 losses",
    ]
    figure = {(row["series"], row["x"]): row["mean"] for row in outcome.figures["delivered"]}
    # 8 s of a link of 0.8 Mb/s carry no more than 8 * 100 packets of 1000 B.
    assert figure["reno", 4] < figure["reno", 1] < 800
    # The difference of the statement is that of the points.
    assert outcome.statements[3]["values"][0]["mean"] == figure["sack", 4] - figure["reno", 4]
    assert study.load(page).not_covered() == []


def test_ratios_and_curves_need_no_code_either(page: Path, tmp_path: Path) -> None:
    change(page, "statements.toml", 'less = { variant = "reno" }', 'over = { variant = "reno" }')
    with (page / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "5"
published = "The more losses, the more is sent again."
rule = "Retransmissions of SACK rise with the losses."
rises = true
measured = { experiment = "drops", column = "retransmissions", where = { variant = "sack" }, x = "losses" }

[[statement]]
id = "6"
published = "The more losses, the more gets through."
rule = "What Reno delivers rises with the losses."
rises = true
measured = { experiment = "drops", column = "delivered_bytes", where = { variant = "reno" }, x = "losses" }
"""
        )
    outcome = study.run(page, out=tmp_path / "out")
    figure = {(row["series"], row["x"]): row["mean"] for row in outcome.figures["delivered"]}
    ratio = outcome.statements[3]["values"][0]["mean"]
    assert ratio == pytest.approx(figure["sack", 4] / figure["reno", 4])
    assert [s["verdict"] for s in outcome.statements[4:]] == ["agrees", "differs"]


def test_cells_stand_beside_another_point_and_beside_what_was_published(page: Path, tmp_path: Path) -> None:
    (page / "study.py").write_text(
        "def published(at, column):\n"
        "    if column == 'timeouts':\n"
        "        return None\n"
        "    return {'sack': 300, 'reno': 200}[at['variant']] * int(at['losses'])\n"
    )
    with (page / "study.toml").open("a") as definition:
        definition.write(
            """
[[table]]
each = { ahead = ["sack"] }
id = "gain"
title = "What {ahead} gains"
part = "repair"
experiment = "drops"
where = { variant = "{ahead}" }
rows = ["losses"]
heads = { losses = "lost" }
published = "published"
cells = [
  { column = "delivered_bytes", scale = 0.1, gain_over = { variant = "reno" }, label = "gain" },
  { column = "delivered_bytes", over = { variant = "reno", losses = "1" }, label = "ratio" },
  { column = "delivered_bytes", less = { variant = "reno" }, label = "more" },
  { column = "delivered_bytes", where = { variant = "reno" }, label = "Reno" },
  { column = "timeouts", where = { variant = "reno" }, label = "Reno's timeouts" },
  { column = "retransmissions", trials = "segments_sent", where = { variant = "reno", losses = "1" }, label = "again" },
  { column = "timeouts", trials = "segments_sent", label = "none" },
]
[[table]]
id = "by-losses"
title = "Timeouts by losses"
part = "repair"
experiment = "drops"
rows = ["variant"]
columns = "losses"
heads = { losses = "after (segments)" }
cells = { column = "timeouts" }
"""
        )
    outcome = study.run(page, out=tmp_path / "out")
    received = {
        (row["variant"], row["losses"]): row["delivered_bytes"]
        for row in outcome.data.rows("drops")
        if not row["replication"]
    }
    four = outcome.tables["gain"][3]
    sack, reno = received["sack", "4"], received["reno", "4"]
    assert four["lost"] == "4"
    # 1200 of 800 published are half more, of 200 with one loss six times as many.
    assert four["gain"] == f"{number(0.1 * (sack / reno - 1))} ± 0 [0.05]"
    assert four["ratio"] == f"{number(sack / received['reno', '1'])} ± 0 [6]"
    assert four["more"] == f"{number(sack - reno)} ± 0 [400]"
    assert four["Reno"] == f"{number(reno)} ± 0 [800]"
    assert four["Reno's timeouts"] == "1 ± 0"
    # The unit of a dimension stands behind its label.
    assert list(outcome.tables["by-losses"][0])[:2] == ["variant", "after 1 segments"]
    # None of some 700 segments is no certainty: Wilson's interval of 0 of n ends at 3.84 / (n + 3.84).
    assert re.fullmatch(r"0\.\d+ \(0\.\d+ … 0\.00\d+\)( \[\d+\])?", four["none"])


def test_pairs_have_all_labels_in_common_that_are_not_compared(page: Path, tmp_path: Path) -> None:
    change(page, "statements.toml", 'where = { variant = "sack", losses = "4" }', 'where = { variant = "sack" }')
    outcome = study.run(page, out=tmp_path / "out")
    received: dict[str, list[float]] = {"sack": [], "reno": []}
    for row in outcome.data.rows("drops", variant=["sack", "reno"]):
        received[row["variant"]].append(row["delivered_bytes"] / 1000)
    (value,) = outcome.statements[3]["values"]
    # Four numbers of losses, two replications each: eight pairs.
    assert [len(values) for values in received.values()] == [8, 8]
    assert value["mean"] == pytest.approx((sum(received["sack"]) - sum(received["reno"])) / 8)


def test_a_reading_may_stand_for_several_things(page: Path, tmp_path: Path) -> None:
    with (page / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "5"
published = "A sender waits for a timeout."
rule = "At least one timeout."
readings = { what_is_lost = [{ name = "little", variant = "sack", n = "1" }, { name = "much", variant = "reno", n = "4" }] }
within = [1, inf]
measured = { experiment = "drops", column = "timeouts", where = { variant = "{what_is_lost[variant]}", losses = "{what_is_lost[n]}" } }
"""
        )
    found = study.run(page, out=tmp_path / "out").statements[4]
    assert (found["verdict"], found["rests_on"]) == ("agrees", "what is lost much alone")
    change(page, "statements.toml", "{what_is_lost[n]}", "{what_is_lost[m]}")
    with pytest.raises(UsageError, match=r"its braces cannot be filled \('m'\); there are values for what_is_lost"):
        study.load(page)


def test_a_curve_follows_a_formula_and_readings_are_judged_apart(page: Path, tmp_path: Path) -> None:
    with (page / "statements.toml").open("a") as statements:
        statements.write(
            """
[[statement]]
id = "5"
published = "SACK sends again what was lost."
rule = "Retransmissions equal losses, after two and three."
follows = ["x", 0.001]
measured = { experiment = "drops", column = "retransmissions", where = { variant = "sack" }, x = "losses", between = [1, 4] }

[[statement]]
id = "6"
published = "After three losses a sender waits for a timeout."
rule = "At least one timeout."
readings = { variant = ["sack", "reno"] }
within = [1, inf]
measured = { experiment = "drops", column = "timeouts", where = { variant = "{variant}", losses = "3" } }

[[statement]]
id = "7"
published = "SACK sends two segments again."
rule = "Two, whatever the losses."
follows = ["2", 0.5]
measured = { experiment = "drops", column = "retransmissions", where = { variant = "sack" }, x = "losses" }
"""
        )
    found = {s["id"]: s for s in study.run(page, out=tmp_path / "out").statements}
    # docs/fall-floyd.md: 1, 2, 3 and 4 segments are sent again.
    assert found["5"]["verdict"] == "agrees"
    assert found["5"]["ours"] in (
        "retransmissions, at losses = 2: 2 ± 0 (formula 2)",
        "retransmissions, at losses = 3: 3 ± 0 (formula 3)",
    )
    assert (found["6"]["verdict"], found["6"]["rests_on"]) == ("agrees", "variant reno alone")
    assert (found["7"]["verdict"], found["7"]["ours"]) == (
        "differs",
        "retransmissions, at losses = 4: 4 ± 0 (formula 2)",
    )


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "statements.toml",
            'experiment = "drops"',
            'experiment = "drips"',
            "statement 1: there is no experiment 'drips'",
        ),
        ("statements.toml", 'losses = "1"', 'loses = "1"', "statement 1: experiment drops has no dimension 'loses'"),
        (
            "statements.toml",
            "within = [0, 0]\n",
            "",
            "statement 1: what is measured has one of within, positive, rises, follows",
        ),
        ("statements.toml", "within = [0, 0]", "within = [0]", r"statement 1: within is a range, \[least, most\]"),
        ("statements.toml", "positive = true", 'follows = ["1 - x"]', "statement 4: follows is a formula of x and a"),
        (
            "statements.toml",
            "positive = true",
            "positive = true\nreadings = { a = [1], b = [2] }",
            "the values of one",
        ),
        (
            "statements.toml",
            "less = {",
            'over = { variant = "tahoe" }, less = {',
            "statement 4: give one of less, over, gain_over",
        ),
        ("statements.toml", "positive = true", "rises = true", "statement 4: rises and follows are about a curve"),
        (
            "study.toml",
            'rows = ["variant"]',
            'rows = ["varient"]',
            "table timeouts: experiment drops has no dimension",
        ),
        (
            "figures.toml",
            'x = "losses"',
            'x = "variant"',
            "x = 'variant' has the value 'tahoe', and an x axis has numbers",
        ),
        ("study.toml", 'rows = ["variant"]', "", "table timeouts: the dimensions of its rows are missing"),
        ("study.toml", 'cells = ["timeouts"]', "", "table timeouts: give a function, or an experiment with rows and"),
    ],
)
def test_what_does_not_fit_is_refused(page: Path, file: str, old: str, new: str, message: str) -> None:
    refused(page, file, old, new, message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'losses = "1"',
            'losses = "9"',
            "statement 1: no run of experiment drops has .*losses = '9'; .* losses: '1', '2'",
        ),
        (
            "delivered_bytes / 1000",
            "delivered_octets / 1000",
            "'delivered_octets / 1000' is neither a column nor an expression",
        ),
        ("delivered_bytes / 1000", "delivered_bytes /", "'delivered_bytes /' is neither a column nor an expression"),
    ],
)
def test_what_no_run_has_is_refused(page: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    change(page, "statements.toml", old, new)
    with pytest.raises(UsageError, match=message):
        study.run(page, out=tmp_path / "out")


@pytest.mark.parametrize("name", ["sctp-mobile-ip", "tcp-dect", "tcp-wifi-mobility"])
def test_a_section_shows_the_publications_exhibits_before_ours(name: str) -> None:
    exhibits = study.load(name).all_exhibits
    for part in study.load(name).parts:
        shown = [one.shows for one in in_order([one for one in exhibits if one.part == part])]
        ours = [words.startswith("ours") for words in shown]
        assert ours == sorted(ours)
        numbers = [words for words in shown if words.startswith("figure ")]
        assert numbers == sorted(numbers) == shown[: len(numbers)]


def test_a_figure_may_name_the_labels_of_its_series(page: Path, tmp_path: Path) -> None:
    change(page, "figures.toml", 'series = ["variant"]', 'series = ["variant"]\nwords = { reno = "TCP Reno" }')
    outcome = study.run(page, out=tmp_path / "out")
    assert {row["series"] for row in outcome.figures["delivered"]} == {"tahoe", "TCP Reno", "newreno", "sack"}


def test_a_value_along_x_is_written_with_its_name_or_as_the_study_says() -> None:
    data = Data([], {}, {"rtt": "an RTT of {} s"})  # type: ignore[arg-type]
    assert (data.place("rtt")(0.46), data.place("loss")(0.5)) == ("an RTT of 0.46 s", "loss = 0.5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[study]\nseed 1\n", "study.toml:2:6: invalid TOML: Expected '='"),
        ('[study]\ntitle = """x', "study.toml: invalid TOML: Unterminated string"),
    ],
)
def test_a_mistake_in_the_toml_of_a_study_has_its_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        study.load(tmp_path)
