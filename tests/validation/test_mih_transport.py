"""The study `mih-transport` in its quick form: its checks hold, and what must agree agrees."""

import pytest
from roamsim import study

#: Clauses that follow from closed forms or from the protocol itself, so that few runs decide them.
CERTAIN = ("1a", "1b", "1d", "2e", "2h", "2j", "3a", "3b", "3d", "4a", "5a", "5f", "6a", "6d", "8i", "8j", "8l")

#: Clauses that are exact, but whose tolerance is narrower than the intervals of so few runs.
EXACT = ("1c", "2a", "2b", "2d", "2g", "2i", "2k", "3f")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> study.Outcome:
    return study.run("mih-transport", level="quick", out=tmp_path_factory.mktemp("mih-transport"))


def test_the_simulator_is_exact_for_isolated_transactions(outcome: study.Outcome) -> None:
    # 3 indications per round trip and 27 requests, 4 round trips; delay is missing where nothing can succeed.
    assert len(outcome.checks) > 300
    outcome.require_checks()


@pytest.mark.parametrize("id", CERTAIN)
def test_statements_that_must_agree(outcome: study.Outcome, id: str) -> None:
    statement = next(s for s in outcome.statements if s["id"] == id)
    assert statement["verdict"] == "agrees", statement["measured"]


@pytest.mark.parametrize("id", EXACT)
def test_statements_that_must_not_differ(outcome: study.Outcome, id: str) -> None:
    statement = next(s for s in outcome.statements if s["id"] == id)
    assert statement["verdict"] != "differs", statement["measured"]


def test_every_figure_has_values(outcome: study.Outcome) -> None:
    for name, rows in outcome.figures.items():
        assert any(row["mean"] is not None for row in rows), name
        assert all(row["samples"] > 1 for row in rows if row["mean"] is not None), name


def test_the_message_flows_are_drawn(outcome: study.Outcome) -> None:
    # Eight flows, three late acknowledgements, two networks.
    assert len(outcome.pictures) == 13
    for name, svg in outcome.pictures.items():
        # Each flow shows a loss; the late acknowledgements come without one.
        assert ("lost</text>" in svg) == name.startswith("flow"), name
