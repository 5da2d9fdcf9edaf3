"""The study `mih-transport` in its quick form: its checks hold, and what must agree agrees."""

import pytest
from roamsim import study

#: Clauses that an exact law decides, so that no number of runs leaves them open.
BY_LAW = ("1c", "1d", "2a", "2b", "2d", "2g", "2h", "2i", "2k", "2q", "3b", "3c", "3e", "3f", "3h", "4b", "8r")

#: Clauses that follow from the protocol itself, so that few runs decide them.
CERTAIN = (
    "1a",
    "1b",
    "2e",
    "2j",
    "2l",
    "2m",
    "3a",
    "3d",
    "3g",
    "3i",
    "4a",
    "5a",
    "5f",
    "5i",
    "6a",
    "6d",
    "8i",
    "8j",
    "8l",
    "8q",
)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> study.Outcome:
    return study.run("mih-transport", level="quick", out=tmp_path_factory.mktemp("mih-transport"))


def test_the_simulator_is_exact_for_isolated_transactions(outcome: study.Outcome) -> None:
    # 3 indications per round trip and 27 requests, 4 round trips; delay is missing where nothing can succeed.
    assert len(outcome.checks) > 300
    outcome.require_checks()


@pytest.mark.parametrize("id", (*BY_LAW, *CERTAIN))
def test_statements_that_must_agree(outcome: study.Outcome, id: str) -> None:
    statement = next(s for s in outcome.statements if s["id"] == id)
    assert statement["verdict"] == "agrees", statement["measured"]
    assert (statement["judged_by"] != "runs") == (id in BY_LAW) or id == "4a"


def test_no_law_is_contradicted_by_the_runs(outcome: study.Outcome) -> None:
    assert [s["id"] for s in outcome.statements if "contradict" in s["measured"]] == []


def test_what_is_open_says_what_would_decide_it(outcome: study.Outcome) -> None:
    for statement in outcome.statements:
        if statement["verdict"] == "not decidable" and statement["replications_needed"] is not None:
            assert statement["replications_needed"] > statement["replications"], statement["id"]


def test_statements_about_background_stations_are_ours(outcome: study.Outcome) -> None:
    assert {s["id"] for s in outcome.statements if s["own"]} == {f"9{letter}" for letter in "abcdefgh"}


def test_every_exhibit_names_what_it_shows_of_the_publication_or_is_ours(outcome: study.Outcome) -> None:
    assert [one.id for one in outcome.study.all_exhibits if not one.shows] == []


def test_every_figure_has_values(outcome: study.Outcome) -> None:
    for name, rows in outcome.figures.items():
        assert any(row["mean"] is not None for row in rows), name
        assert all(row["samples"] > 1 for row in rows if row["mean"] is not None), name


def test_the_message_flows_are_drawn(outcome: study.Outcome) -> None:
    # Eight flows, three late acknowledgements, two networks, two concepts.
    assert len(outcome.pictures) == 15
    for name, svg in outcome.pictures.items():
        assert ("lost</text>" in svg) == name.startswith(("flow", "late")), name
    # Two losses in the second regime, and one in the third, make a transaction fail; the first has a third copy in time.
    failing = {name for name, svg in outcome.pictures.items() if "transaction fails" in str(svg)}
    assert failing == {"late-ack-2", "late-ack-3"}
    assert "timeout 2 (400" in str(outcome.pictures["late-ack-1"])
