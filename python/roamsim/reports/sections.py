"""Sections that the reports of runs and of sweeps have in common."""

from __future__ import annotations

import io

import polars

from roamsim.errors import UsageError
from roamsim.estimates.curves import titled
from roamsim.pages.page import Report
from roamsim.pictures.timeseries import NOTES, POINTS, segments, time_series
from roamsim.reports.plot import save
from roamsim.storing.store import Results
from roamsim.tables.metrics import quantities

#: Metrics that a report draws where the results have them.
DRAWN = (
    (
        "flows",
        (
            "goodput_bps",
            "loss_ratio",
            "mean_delay_s",
            "p95_delay_s",
            "jitter_s",
            "completion_time_s",
            "retransmissions",
        ),
    ),
    ("video", ("decodable_share", "mean_frame_delay_s")),
    (
        "signalling",
        ("success_rate", "mean_delay_s", "p95_delay_s", "overhead", "tcp_segments_per_message", "load_bps"),
    ),
    ("links", ("utilisation", "mean_queue_packets")),
)

#: Vega's expression for samples that are points.
_POINTS = " || ".join(f"datum.quantity == '{quantity}'" for quantity in POINTS)

#: Samples of one series that a figure holds (chosen: more make the page slow, and no screen shows them).
SAMPLES = 3000


def recorded(page: Report, results: Results) -> None:
    """What was recorded over time; of several points, which stand side by side, as a picture."""
    import altair

    for kind in (*quantities(), "segments"):
        try:
            panels = segments(results) if kind == "segments" else time_series(results, kind)
        except UsageError:
            continue
        if kind == "segments" or len(panels) > 1:
            drawn = io.BytesIO()
            save(results, kind, drawn, ".svg")
            page.picture(f"samples-{kind}", drawn.getvalue().decode(), f"{kind} over time, first replication")
            continue
        found = panels[0].frame
        thinned = found.filter(
            polars.int_range(polars.len()).over("series") % (polars.len().over("series") // SAMPLES + 1) == 0
        )
        unit = ", ".join(found["unit"].drop_nulls().unique(maintain_order=True))
        axis = altair.Axis(format="~s") if unit in ("bit/s", "B") else altair.Axis()
        base = altair.Chart(thinned).encode(
            x=altair.X("time_s", type="quantitative", title="time [s]"),
            y=altair.Y("value", type="quantitative", title=titled(kind, unit), axis=axis),
            color=altair.Color("series", type="nominal", title=None, sort=None),
        )
        layers = [base.transform_filter(f"!({_POINTS})").mark_line(interpolate="step-after", strokeWidth=1)]
        if kind in POINTS:
            layers.insert(0, base.transform_filter(_POINTS).mark_circle(size=6))
        chart = altair.layer(*layers) if len(layers) > 1 else layers[0]
        left_out = found.height - thinned.height
        notes = [f"{thinned.height} of {found.height} samples are drawn, evenly chosen."] if left_out else []
        notes += [NOTES[kind]] if kind in NOTES else []
        page.figure(f"samples-{kind}", chart, f"{kind} over time, first replication", " ".join(notes) or None)


def drops(page: Report, results: Results) -> None:
    """Packets that were dropped, by place and reason."""
    if results.height("drops"):
        keys = results.keys_of("drops")
        rows = results.columns("drops", [*keys, "packets", "bytes"])
        counts = rows.group_by(keys, maintain_order=True).agg(polars.col("packets", "bytes").sum())
        page.table(counts, "drops: packets in all replications")
