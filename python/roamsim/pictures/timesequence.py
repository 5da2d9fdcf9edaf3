"""Time-sequence charts of TCP and SCTP: the segments of a sender and their acknowledgements over time.

The kind of chart that V. Jacobson, "Congestion Avoidance and Control" (1988), and K. Fall and S. Floyd,
"Simulation-based Comparisons of Tahoe, Reno, and SACK TCP" (1996), use to show how a sender repairs losses.

- sent: a dot in the middle of the segment
- sent again: a ring, in the colour of its reason
- window probe: a plus
- lost: a cross at the time of the drop (at once in a full queue, with the last bit on a channel)
- acknowledged: a line at the cumulative acknowledgement, from each arriving ACK to the next
- duplicate ACK: a tick on that line
- SACK block, or gap ack block of SCTP: a bar over its octets, when it reaches the sender
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars

from roamsim.pictures.paper import names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours that readers with a weak sense of red or green tell apart too: M. Okabe and K. Ito, "Color Universal
#: Design" (2008).
SENT, AGAIN, PROBE, LOST, ACKNOWLEDGED, SACKED = "#404040", "#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7"
#: A tick on the line of what is acknowledged, so far from its green for all readers.
DUPLICATE = "#c217a8"

#: What a retransmission is called by its reason, and its colour; `AGAIN` if no reason is known.
AGAIN_FOR = {
    "duplicate_acks": ("sent again: duplicate ACKs", AGAIN),
    "rack": ("sent again: RACK", "#8c6bb1"),
    "loss_probe": ("sent again: loss probe", "#a6761d"),
    "timeout": ("sent again: timeout", "#b2182b"),
    "path_removed": ("sent again: path removed", "#01665e"),
}

#: Letters that a line of a legend holds, and names beside each other in a longer one (chosen: as wide as a figure).
LEGEND_LETTERS, LEGEND_COLUMNS = 66, 4

#: Marks of one kind beyond which they are drawn as pixels, so that the file stays small (chosen).
MOST_MARKS = 4000


def draw(axes: Axes, events: polars.DataFrame, *, segment_bytes: int | None = None) -> None:
    """Draws what became of the stream of one sender.

    Args:
        axes: where to draw; its labels are set, its title and legend are left to the caller (see `legend`).
        events: rows of the table `segments` of one sender in one run: `time_s`, `event`, `start_bytes`, `end_bytes`;
            with `reason`, retransmissions have a colour for each.
        segment_bytes: size of a segment: the vertical axis then counts segments, the first being 1, so that the
            mark of the n-th is at n. Without it, the axis is in bytes.
    """
    scale = 1.0 if segment_bytes is None else 1.0 / segment_bytes
    shift = 0.0 if segment_bytes is None else 0.5
    rows = events.select(
        "time_s",
        "event",
        polars.col("reason") if "reason" in events.columns else polars.lit("").alias("reason"),
        low=polars.col("start_bytes") * scale + shift,
        high=polars.col("end_bytes") * scale + shift,
    )

    def of(event: str) -> polars.DataFrame:
        return rows.filter(polars.col("event") == event)

    size = 2.4 if rows.height <= MOST_MARKS else 1.4
    blocks = of("sacked")
    if blocks.height:
        axes.vlines(
            blocks["time_s"],
            blocks["low"],
            blocks["high"],
            colors=SACKED,
            linewidth=0.5 * size,
            alpha=0.7,
            label="SACK block",
            rasterized=blocks.height > MOST_MARKS,
            zorder=1,
        )
    acknowledged = of("acknowledged")
    if acknowledged.height:
        axes.step(
            acknowledged["time_s"],
            acknowledged["high"].cum_max(),  # an ACK that was overtaken takes nothing back
            where="post",
            color=ACKNOWLEDGED,
            linewidth=0.9,
            label="acknowledged",
            zorder=2,
        )
    duplicates = acknowledged.filter(polars.col("low") == polars.col("high"))
    _marks(axes, duplicates, "duplicate ACK", "|", DUPLICATE, 2.2 * size)
    _marks(axes, of("sent"), "sent", "o", SENT, 0.7 * size)
    again = of("retransmitted")
    for reason, (label, colour) in AGAIN_FOR.items():
        _marks(axes, again.filter(reason=reason), label, "o", colour, 1.4 * size, hollow=True)
    others = again.filter(~polars.col("reason").is_in(list(AGAIN_FOR)))
    _marks(axes, others, "sent again", "o", AGAIN, 1.4 * size, hollow=True)
    _marks(axes, of("window_probe"), "window probe", "+", PROBE, 1.7 * size)
    _marks(axes, of("lost"), "lost", "x", LOST, 1.7 * size)
    axes.margins(x=0.02)
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.25)
    if segment_bytes is None:
        from matplotlib.ticker import EngFormatter

        axes.yaxis.set_major_formatter(EngFormatter("B"))
        axes.set_ylabel("place in the stream")
    else:
        from matplotlib.ticker import MaxNLocator

        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("segment")


def repaired_after_s(events: Iterable[Mapping[str, Any]]) -> float:
    """Seconds from the first loss until the sender heard that all up to the last lost octet had arrived.

    Args:
        events: rows of the table `segments` of one sender in one run.

    Returns:
        NaN where nothing was lost, or where the run ended before.
    """
    rows = list(events)
    lost = [row for row in rows if row["event"] == "lost"]
    if not lost:
        return math.nan
    end_bytes = max(row["end_bytes"] for row in lost)
    heard = (row["time_s"] for row in rows if row["event"] == "acknowledged" and row["end_bytes"] >= end_bytes)
    return float(min(heard, default=math.nan) - min(row["time_s"] for row in lost))


def legend(figure: Figure, panels: Iterable[Axes]) -> None:
    """One legend below a figure for all of its panels: each kind of mark that any of them has, once."""
    found = names_of(panels)
    again = ["sent again", *(label for label, _ in AGAIN_FOR.values())]
    order = ["sent", *again, "window probe", "lost", "acknowledged", "duplicate ACK", "SACK block"]
    labels = sorted(found, key=lambda label: order.index(label) if label in order else len(order))
    if labels:
        figure.legend(
            handles=[found[label] for label in labels],
            labels=labels,
            loc="outside lower center",
            ncols=len(labels) if sum(map(len, labels)) <= LEGEND_LETTERS else LEGEND_COLUMNS,
            frameon=False,
            handletextpad=0.4,
            markerscale=1.6,
            columnspacing=1.2,
        )


def _marks(
    axes: Axes, rows: polars.DataFrame, label: str, marker: str, color: str, size: float, *, hollow: bool = False
) -> None:
    if not rows.height:
        return
    axes.plot(
        rows["time_s"],
        (rows["low"] + rows["high"]) / 2,
        linestyle="none",
        marker=marker,
        markersize=size,
        color=color,
        markerfacecolor="none" if hollow else color,
        markeredgewidth=0.9 if hollow or marker in "x|" else 0,
        label=label,
        rasterized=rows.height > MOST_MARKS,
        zorder=3,
    )
