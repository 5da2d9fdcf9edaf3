"""Throughput: the limit of each case."""

from __future__ import annotations

from roamsim.study.data import Data

from ..cases import ERRORS, SATURATED, air_interface
from .cells import Rows, shown


def limits(data: Data) -> Rows:
    """TH, TH_teo and their ratio at the highest offered load, in each case."""
    rows = []
    for case in data.labels("throughput", "case"):
        at = {"case": case, "offered": SATURATED}
        form = air_interface(2.0 if case == ERRORS else 1.0)
        rows.append(
            {
                "case": case,
                "TH (segments/s)": shown(data, "throughput", "throughput", at),
                "TH_teo (segments/s)": shown(data, "throughput", "throughput_teo", at),
                "TH / TH_teo": shown(data, "throughput", "ratio", at),
                "mean bearers": shown(data, "throughput", "mean_bearers", at),
                "mean bearers, ± (%)": 100 * data.estimate("throughput", "mean_bearers", **at).relative_half_width,
                "time without bearers (%)": shown(data, "throughput", lambda row: 100 * row["no_bearer_share"], at),
                "closed form": form,
                "TH over closed form": data.estimate("throughput", "ratio", **at).mean / form,
                "TCP timeouts": sum(row["timeouts"] for row in data.rows("throughput", **at)),
            }
        )
    return rows
