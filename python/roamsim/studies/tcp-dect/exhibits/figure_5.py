"""Throughput over the offered load in the five cases, beside the published limits: figure 5."""

from __future__ import annotations

from typing import Any

from roamsim.pictures.charts import Look, curves
from roamsim.study.data import Data

from ..cases import PUBLISHED_RATIO, REFERENCE, SATURATED

CURVES = {
    "throughput": ("TH", "#0072b2"),
    "throughput_teo": ("TH_teo", "#d55e00"),
    "throughput_ideal": ("TH_id", "#009e73"),
}
#: What the publication says of TH: its share of TH_teo.
LIMIT = "published limit of TH"
#: Published values of the reference case, in segments/s.
PUBLISHED = {"TH, published": 25.0, "TH_teo, published": 30.0}
#: The colours of what was published, which is known between the ends of its lines.
LEVELS = {LIMIT: "#7a7a7a", "TH, published": "#d6336c", "TH_teo, published": "#a6761d"}


def figure_5(data: Data) -> dict[str, Any]:
    """A panel a case: the three throughputs, and the published limits of TH at saturation."""
    rows: list[dict[str, Any]] = []
    for case in map(str, data.labels("throughput", "case")):
        low, high = PUBLISHED_RATIO[case]
        share = f"{100 * low:g}" if low == high else f"{100 * low:g} to {100 * high:g}"
        panel = {"panel": f"{case} ({share} %)"}
        for column, (label, _) in CURVES.items():
            for offered, estimate in data.curve("throughput", column, "offered", case=case).items():
                shown = estimate.within(0.0)
                ends = {"mean": shown.mean, "low": shown.low, "high": shown.high}
                rows.append({**panel, "series": label, "x": offered, **ends})
        teo = data.estimate("throughput", "throughput_teo", case=case, offered=SATURATED).mean
        for x in (0.6 * SATURATED, SATURATED):
            ends = {"mean": (low + high) / 2 * teo, "low": low * teo, "high": high * teo}
            rows.append({**panel, "series": LIMIT, "x": x, **ends})
        if case == REFERENCE:
            for name, value in PUBLISHED.items():
                rows += [
                    {**panel, "series": name, "x": x, "mean": value, "low": None, "high": None}
                    for x in (0.0, SATURATED)
                ]
    look = Look("offered load λ, segments/s", "throughput, segments/s")
    return curves(rows, look, {**dict(CURVES.values()), **LEVELS}, levels=LEVELS)
