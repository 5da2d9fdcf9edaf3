"""Throughput: the limit of each case, and what MAC and DLC repaired at it."""

from __future__ import annotations

from collections.abc import Callable

from roamsim.study.data import Data, Row

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
                "± (%)": 100 * data.estimate("throughput", "mean_bearers", **at).relative_half_width,
                "without any (%)": shown(data, "throughput", lambda row: 100 * row["no_bearer_share"], at),
                "closed form": form,
                "TH over it": data.estimate("throughput", "ratio", **at).mean / form,
                "TCP timeouts": sum(row["timeouts"] for row in data.rows("throughput", **at)),
            }
        )
    return rows


def user_plane(data: Data) -> Rows:
    """What MAC and DLC did at the highest offered load."""
    columns: dict[str, Callable[[Row], float]] = {
        "attempts a packet": lambda row: row["attempts"] / row["packets"],
        "packets discarded /s": lambda row: _per_s(row, "discarded"),
        "packets lost with their bearer /s": lambda row: _per_s(row, "lost_with_bearer"),
        "go-back-N requests /s": lambda row: _per_s(row, "retransmission_requests"),
        "fragments sent again /s": lambda row: _per_s(row, "fragments_repeated"),
        "fragments sent again (%)": lambda row: 100 * row["fragments_repeated"] / row["packets"],
        "DLC frames dropped of a million": lambda row: (
            1e6 * row["dlc_frames_dropped"] / (row["dlc_frames_dropped"] + row["dlc_frames_delivered"])
        ),
        "TCP fast retransmits /h": lambda row: 3600 * _per_s(row, "fast_retransmits"),
    }
    return [
        {
            "case": case,
            **{
                name: shown(data, "throughput", metric, {"case": case, "offered": SATURATED})
                for name, metric in columns.items()
            },
        }
        for case in data.labels("throughput", "case")
    ]


def _per_s(row: Row, column: str) -> float:
    """Of both directions, a direction and second."""
    return float(row[column] / 2 / row["measured_s"])
