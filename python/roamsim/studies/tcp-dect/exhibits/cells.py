"""What fills the cells of this study's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roamsim.study.data import Data, Metric
from roamsim.study.judging import with_interval

Rows = list[dict[str, Any]]


def shown(data: Data, experiment: str, metric: Metric, where: Mapping[str, Any]) -> str:
    """The mean of a metric over replications, with its 95 % interval."""
    return with_interval(data.estimate(experiment, metric, **where))
