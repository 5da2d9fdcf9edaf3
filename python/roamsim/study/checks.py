"""Checks of the simulator against closed forms inside a study; one that fails makes every result doubtful."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

#: Probability that any check of a study fails by chance (chosen: one study in a thousand).
FAMILY_WISE = 1e-3

#: Relative difference that is none: rounding, and the nanoseconds that packets of isolated transactions wait for each
#: other on a fast wire, which the closed forms leave out.
ROUNDING = 1e-7


@dataclass(frozen=True)
class Check:
    """A measured value beside its exact one.

    Attributes:
        what: what was compared.
        measured: from runs.
        exact: from a closed form.
        standard_error: of `measured`, when the closed form holds; 0 where the value has no variance.
    """

    what: str
    measured: float
    exact: float
    standard_error: float

    @property
    def z(self) -> float:
        """Deviation in standard errors."""
        deviation = self.measured - self.exact
        if abs(deviation) <= ROUNDING * max(1.0, abs(self.exact)):
            return 0.0
        return deviation / self.standard_error if self.standard_error > 0 else math.copysign(math.inf, deviation)


def limit(checks: Sequence[Check]) -> float:
    """The |z| that a check may have: all together fail by chance with probability `FAMILY_WISE` (Bonferroni)."""
    return NormalDist().inv_cdf(1 - FAMILY_WISE / (2 * max(1, len(checks))))


def failed(checks: Sequence[Check]) -> list[Check]:
    """The checks that deviate by more than chance allows; a value that is not a number has failed."""
    most = limit(checks)
    return [check for check in checks if not abs(check.z) <= most]
