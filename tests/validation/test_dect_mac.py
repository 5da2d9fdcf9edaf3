"""The closed forms of the DECT MAC against values worked by hand."""

import pytest
from roamsim.theory import dect_mac


def test_lost_calls() -> None:
    """Erlang's formula by hand: B(1) = 2/3, B(2) = 2 (2/3) / (2 + 2 (2/3)) = 2/5 for 2 erlang."""
    assert dect_mac.erlang_b(0, 2.0) == 1.0
    assert dect_mac.erlang_b(1, 2.0) == pytest.approx(2 / 3)
    assert dect_mac.erlang_b(2, 2.0) == pytest.approx(2 / 5)
    with pytest.raises(ValueError, match="not negative"):
        dect_mac.erlang_b(-1, 2.0)


def test_bearers_lost_one_by_one() -> None:
    """From 3 to 2 and back: 2 / (1/2 + 1/3) = 12/5. From 10 to 4: 7 / 1.095635 = 6.38899."""
    assert dect_mac.mean_bearers(3, 2) == pytest.approx(12 / 5)
    assert dect_mac.mean_bearers(10, 4) == pytest.approx(6.38899, abs=1e-5)
    # Restored at once, whatever is lost.
    assert dect_mac.mean_bearers(10, 10) == pytest.approx(10.0)
    with pytest.raises(ValueError, match="from 1 to the target"):
        dect_mac.mean_bearers(10, 11)
