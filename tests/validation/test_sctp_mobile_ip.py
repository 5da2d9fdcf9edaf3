"""The study `sctp-mobile-ip` in its quick form: its checks hold, and the orders hold and vanish with the kind of loss."""

import re

import pytest
from roamsim import study

#: Clauses that few runs decide.
CERTAIN = ("1a", "1b", "1c", "1e")

ORDERS = ("SACK over Reno", "SCTP over Reno", "SCTP over SACK")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> study.Outcome:
    return study.run("sctp-mobile-ip", level="quick", out=tmp_path_factory.mktemp("sctp-mobile-ip"))


def test_senders_without_loss_and_handovers_are_exact(outcome: study.Outcome) -> None:
    # 4 protocols at 6 x 5 pairs of bandwidths; detection, and registration in two cells.
    assert len(outcome.checks) == 4 * 30 + 3
    outcome.require_checks()


@pytest.mark.parametrize("id", CERTAIN)
def test_statements_that_must_agree(outcome: study.Outcome, id: str) -> None:
    statement = next(s for s in outcome.statements if s["id"] == id)
    assert statement["verdict"] == "agrees", statement["measured"]


def gains(outcome: study.Outcome, loss: str, bottleneck: str) -> dict[str, float]:
    """The three orders in percent, where the radio link loses this."""
    rows = outcome.tables["by-loss"]
    row = next(r for r in rows if r["the radio link loses"] == loss and r["bottleneck"] == bottleneck)
    found = {order: re.match(r"-?[\d.]+(?= [±(])", row[f"{order} (%)"]) for order in ORDERS}
    return {order: float(match[0]) for order, match in found.items() if match}


@pytest.mark.parametrize("bottleneck", ["radio", "none"])
def test_sack_is_ahead_of_reno_where_several_segments_of_a_window_are_lost(
    outcome: study.Outcome, bottleneck: str
) -> None:
    assert gains(outcome, "data, 30 % in fades", bottleneck)["SACK over Reno"] > 8
    assert abs(gains(outcome, "data, 30 % in fades", bottleneck)["SCTP over SACK"]) < 5


@pytest.mark.parametrize("bottleneck", ["radio", "none", "wire"])
def test_sctp_is_ahead_of_sack_where_losses_keep_the_window_small(outcome: study.Outcome, bottleneck: str) -> None:
    assert gains(outcome, "data, independent, 10 %", bottleneck)["SCTP over SACK"] > 30


@pytest.mark.parametrize("bottleneck", ["radio", "none", "wire"])
@pytest.mark.parametrize("loss", ["none", "acknowledgements, 30 % in fades"])
def test_no_order_is_left_without_losses_of_data(outcome: study.Outcome, loss: str, bottleneck: str) -> None:
    found = gains(outcome, loss, bottleneck)
    assert len(found) == 3
    # SCTP's packets are 8 B longer than TCP's: 0.8 % where the wire is full.
    assert all(abs(gain) < 1.5 for gain in found.values()), found


def test_every_table_and_drawing_is_there(outcome: study.Outcome) -> None:
    assert [len(outcome.tables[f"segments-{name}"]) for name in ("reno", "sack", "sctp", "sctp-2960")] == [6] * 4
    assert len(outcome.pictures) == 16
    # Only protocols that have SACK blocks show them.
    assert {
        name for name, made in outcome.pictures.items() if name.startswith("recovery") and "SACK block" in str(made)
    } == {
        "recovery-sack",
        "recovery-sctp",
        "recovery-sctp-2960",
    }
