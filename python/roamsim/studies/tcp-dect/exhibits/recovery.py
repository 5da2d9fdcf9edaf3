"""Recovery by TCP alone, over LU1, beside that of MAC, DLC and TCP over LU2."""

from __future__ import annotations

from roamsim.study.data import Data

from ..cases import SATURATED, dropped_share
from .cells import Rows, shown


def recoveries(data: Data) -> Rows:
    """LU2 beside LU1 at the highest offered load."""
    rows = []
    for case in data.labels("recovery", "case"):
        for recovery in data.labels("recovery", "recovery"):
            at = {"case": case, "recovery": recovery, "offered": SATURATED}
            found = data.rows("recovery", **at)
            rows.append(
                {
                    "errors": case,
                    "recovery": recovery,
                    "TH (segments/s)": shown(data, "recovery", "throughput", at),
                    "TH / TH_teo": shown(data, "recovery", "ratio", at),
                    "packets lost (%)": shown(data, "recovery", lambda row: 100 * dropped_share(row), at),
                    "segments sent again (%)": shown(
                        data, "recovery", lambda row: 100 * row["retransmissions"] / row["segments_sent"], at
                    ),
                    "TCP timeouts /min": shown(
                        data, "recovery", lambda row: 60 * row["timeouts"] / 2 / row["measured_s"], at
                    ),
                    "runs": len(found),
                }
            )
    return rows
