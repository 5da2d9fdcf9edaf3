"""TCP senders over time: states as bands, rates, windows and retransmissions by reason, on one axis of time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars

from roamsim.errors import UsageError
from roamsim.estimates.summaries import MEANS, summary
from roamsim.pictures import timed
from roamsim.pictures.charts import COLOURS
from roamsim.pictures.recorded import AGAIN_FOR
from roamsim.pictures.timeseries import MOST_PANELS, UNSET, Part, cut
from roamsim.storing.store import Results, point_label
from roamsim.tables.labels import in_words
from roamsim.tables.words import count, scale, titled

if TYPE_CHECKING:
    from roamsim.pages.page import Report

__all__ = ["PICTURES", "report"]

#: Traces that a picture is drawn of, as far as they were recorded.
TRACES = ("states", "pacing", "in_flight", "cwnd", "segments")

#: States of congestion controls in words, and the colours of their bands (chosen: lighter than lines and marks).
STATES = {
    "startup": ("Startup", "#e8998d"),
    "drain": ("Drain", "#c9a66b"),
    "probe_bw_down": ("ProbeBW_DOWN", "#9ecae1"),
    "probe_bw_cruise": ("ProbeBW_CRUISE", "#6baed6"),
    "probe_bw_refill": ("ProbeBW_REFILL", "#a1d99b"),
    "probe_bw_up": ("ProbeBW_UP", "#41ab5d"),
    "probe_rtt": ("ProbeRTT", "#b39ddb"),
    "slow_start": ("slow start", "#e8998d"),
    "congestion_avoidance": ("congestion avoidance", "#9ecae1"),
    "scalable": ("scalable", "#9ecae1"),
    "transition": ("transition", "#c9a66b"),
    "classic": ("classic", "#b39ddb"),
}

#: The same of repairs.
REPAIRS = {"fast_recovery": ("fast recovery", "#fdae6b"), "timeout": ("timeout recovery", "#a63603")}

#: Lines of each panel, in words, with their colours.
RATES = {"pacing_rate": ("pacing rate", COLOURS[5]), "delivery_rate": ("delivery rate", COLOURS[1])}
WINDOWS = {
    "ssthresh": ("slow-start threshold", COLOURS[7]),
    "cwnd": ("congestion window", COLOURS[2]),
    "in_flight": ("in flight", COLOURS[3]),
}

#: What a proof that a reduction was needless is called, its colour and its mark.
UNDONE = ("reduction undone", COLOURS[9], "triangle")

#: The rows of the panel of states: of the state itself, and of a repair below it.
STATE_ROW, REPAIR_ROW = (0.55, 1.0), (0.0, 0.45)

#: Columns that tell senders apart.
SENDER = ("kind", "name", "from", "to")

#: Senders that a report draws (chosen), and panels of each.
MOST_SENDERS, PANELS_EACH = 3, 4

#: The line by whose largest value others are cut off, at so many times that (chosen: BBR's first rate is a window a
#: millisecond, of which nothing else could be told apart; its largest gain is 2.77).
CUT_BY, CUT_OFF = "delivery rate", 3.2

#: Samples of rates and of octets in flight that an end may have which sends no data: its handshake (chosen).
OF_A_HANDSHAKE = 4

#: Samples that a line on paper has (chosen: more lie on each other).
ON_PAPER = 4000

#: What a reader of the figure has to know.
NOTE = (
    "Bands are states of the congestion control; those below are repairs. A delivery rate above the link's comes "
    "from late ACKs that arrive together. Pacing rates above 3.2 times the largest delivery rate are cut off."
)


def picture(results: Results, part: Part) -> timed.Figure:
    """The senders of the first replication of each point.

    Raises:
        UsageError: nothing of them was recorded, or they are too many.
    """
    ends_s = [_run_end_s(results, point) for point in range(len(results.manifest.points))]
    part = _until(part, max(ends_s))
    found = list(_senders(results, part))
    if not found:
        again = "run again with --trace " + ",".join(TRACES)
        raise UsageError(f"no states of a TCP sender were recorded; {again}")
    if PANELS_EACH * len(found) > MOST_PANELS:
        raise UsageError(
            f"a figure of {len(found)} senders has more than the {MOST_PANELS // PANELS_EACH} that can be read; "
            "choose a flow with --flow NAME, or vary fewer values"
        )
    panels = [panel for sender in found for panel in _panels(sender, part, ON_PAPER)]
    if not panels:
        raise UsageError("nothing was recorded between these times; choose others")
    return timed.Figure(panels)


def _run_end_s(results: Results, point: int) -> float:
    return results.manifest.duration_s(point) or math.inf


def _until(part: Part, end_s: float) -> Part:
    """The same, until the end of the run at the latest.

    Raises:
        UsageError: it begins there.
    """
    if part.start_s is not None and part.start_s >= end_s:
        raise UsageError(f"a figure cannot begin at {part.start_s:g} s: the run ended at {end_s:g} s")
    return part if part.end_s is None else Part(part.flow, part.start_s, min(part.end_s, end_s))


PICTURES = {"states": picture}


def report(page: Report, results: Results) -> None:
    """Why segments were sent again, as a table; senders over time where states or rates were recorded."""
    reasons, found = _reasons(results), list(_senders(results, Part()))
    if not (reasons or found):
        return
    page.heading("Senders")
    if reasons:
        several = any(point.replications > 1 for point in results.manifest.points)
        page.table(reasons, f"flows, retransmissions by reason{': ' + MEANS if several else ''}")
    for place, sender in enumerate(found[:MOST_SENDERS]):
        panels = _panels(sender, Part(), timed.HELD // (8 * MOST_SENDERS))
        title = sender.title
        more = len(found) - MOST_SENDERS
        left = f" Not drawn: {count(more, 'more sender')}." if place == 0 and more > 0 else ""
        heading = f"TCP sender over time: {title}" if title else "TCP sender over time"
        page.figure(f"sender-{place}", timed.Figure(panels).specification(), heading, NOTE + left)


#: Columns of the reasons, in the table `flows`.
REASONS = (
    "duplicate_ack_retransmissions",
    "rack_retransmissions",
    "loss_probe_retransmissions",
    "timeout_retransmissions",
    "path_removed_retransmissions",
    "undone_reductions",
)


def _reasons(results: Results) -> list[dict[str, Any]]:
    """A row for each flow; nothing if nobody retransmitted, or no transport tells why."""
    if not results.height("flows"):
        return []
    chosen = ("retransmissions", "timeout_retransmissions")
    told = any(timeouts is not None for sent, timeouts in results.iter_rows("flows", chosen) if sent)
    return summary(results, "flows", ("retransmissions", *REASONS)) if told else []


@dataclass(frozen=True)
class Sender:
    """A sender that sent data: its title, what was recorded of it, and the end of its run."""

    title: str
    tables: dict[str, polars.DataFrame]
    run_end_s: float


def _senders(results: Results, part: Part) -> Iterator[Sender]:
    """Each sender that sent data; nothing if neither states nor rates were recorded."""
    tables = {}
    for name in ("states", "samples", "segments"):
        if results.height(name):
            first = polars.col("replication") == 0, polars.col("kind").is_in(["flow", "signalling"])
            rows = polars.concat(lot.filter(*first) for lot in results.lots(name))
            tables[name] = part.of(rows) if name == "states" or not part.flow else rows.filter(name=part.flow)
    drawn = ("pacing_rate", "delivery_rate", "in_flight")
    of = []
    if "states" in tables:
        of.append(tables["states"].select("point", *SENDER))
    if "samples" in tables:
        values = tables["samples"].filter(polars.col("quantity").is_in(drawn), polars.col("value") > 0)
        # The other end has acknowledged a handshake, and sends nothing.
        of.append(values.filter(polars.len().over("point", *SENDER) > OF_A_HANDSHAKE).select("point", *SENDER))
    told = polars.concat(of) if of else polars.DataFrame()
    if not told.height:
        return
    senders = told.select("point", *SENDER).unique(maintain_order=True)
    senders = senders.with_columns(in_words(senders, ["name", "from", "to"]).alias("title"))
    for row in senders.to_dicts():
        mine = {
            name: rows.filter(*(polars.col(key) == row[key] for key in ("point", *SENDER)))
            for name, rows in tables.items()
        }
        several = senders["point"].n_unique() > 1
        number = int(row["point"])
        point = point_label(results.manifest, number) if several else ""
        title = row["title"] if senders["title"].n_unique() > 1 else ""
        yield Sender(", ".join(filter(None, (point, title))), mine, _run_end_s(results, number))


def _panels(sender: Sender, part: Part, most: int) -> list[timed.Panel]:
    """What was recorded of a sender: states, rates, windows, retransmissions. Until its last row; a sender of one
    state has it until the end of the run.
    """
    title, tables = sender.title, sender.tables
    times = polars.concat(rows["time_s"] for rows in tables.values())
    first_s, last_s = float(times.min()), float(times.max())  # type: ignore[arg-type]
    end_s = part.end_s or (last_s if last_s > first_s else sender.run_end_s)
    if part.start_s is not None and part.start_s >= end_s:
        return []
    part = Part(None, part.start_s, end_s)
    before = f"{title}: " if title else ""
    found = [
        _states(before, tables.get("states"), part),
        _lines(f"{before}rate", tables.get("samples"), RATES, part, most),
        _lines(f"{before}window", tables.get("samples"), WINDOWS, part, most),
        _repeated(before, tables.get("segments"), part),
    ]
    return [panel for panel in found if panel is not None]


def _states(before: str, states: polars.DataFrame | None, part: Part) -> timed.Panel | None:
    if states is None or not states.height:
        return None
    start_s = part.start_s or 0.0
    spans = (
        states.with_columns(until=polars.col("time_s").shift(-1).fill_null(part.end_s))
        .filter(polars.col("until") > start_s, polars.col("time_s") < part.end_s)
        .with_columns(
            t=polars.col("time_s").clip(lower_bound=start_s), until=polars.col("until").clip(upper_bound=part.end_s)
        )
    )
    marks = []
    for column, names, (low, high) in (("state", STATES, STATE_ROW), ("repair", REPAIRS, REPAIR_ROW)):
        for (value,), mine in spans.filter(polars.col(column) != "").group_by([column], maintain_order=True):
            words, colour = names.get(str(value), (str(value).replace("_", " "), COLOURS[7]))
            rows = _joined(mine).with_columns(low=polars.lit(low), high=polars.lit(high))
            marks.append(timed.Marks(words, colour, "span", rows))
    axis = {"labels": False, "ticks": False, "grid": False, "domain": False}
    titles = "state of the congestion control; below it repairs"
    return (
        timed.Panel(f"{before}{titles}" if marks else before, marks, 40, axis, {"domain": [0, 1]}) if marks else None
    )


def _joined(spans: polars.DataFrame) -> polars.DataFrame:
    """Spans that follow one another without a gap, as one."""
    begins = (polars.col("t") != polars.col("until").shift(1)).fill_null(value=True)
    runs = spans.select("t", "until", begins.cum_sum().alias("run"))
    return (
        runs.group_by("run", maintain_order=True).agg(polars.col("t").first(), polars.col("until").last()).drop("run")
    )


def _lines(
    title: str, samples: polars.DataFrame | None, lines: dict[str, tuple[str, str]], part: Part, most: int
) -> timed.Panel | None:
    if samples is None:
        return None
    found = samples.filter(polars.col("quantity").is_in(list(lines)), polars.col("value") < UNSET)
    found = found.filter(polars.col("time_s") <= part.end_s)
    if not found.height:
        return None
    found = cut(found.select("time_s", "quantity", "value", "unit"), part)
    size = scale(found["unit"][0], (0.0, float(found["value"].max() or 0.0)))  # type: ignore[arg-type]
    marks = []
    for name, (words, colour) in lines.items():
        mine = found.filter(quantity=name)
        if mine.height:
            frame = mine.select(t="time_s", v=polars.col("value") / size.size)
            marks.append(timed.Marks(words, colour, "step", timed.kept(frame, most)))
    top = CUT_OFF * max((float(mark.frame["v"].max() or 0.0) for mark in marks if mark.series == CUT_BY), default=0.0)  # type: ignore[arg-type]
    is_cut = 0 < top < float(found["value"].max() or 0.0) / size.size  # type: ignore[arg-type]
    return timed.Panel(titled(title, size.unit), marks, 130, {}, {"domain": [0, top]} if is_cut else {})


def _repeated(before: str, segments: polars.DataFrame | None, part: Part) -> timed.Panel | None:
    """Retransmissions by reason, and reductions undone."""
    if segments is None or "reason" not in segments.columns:
        return None
    within = polars.col("time_s").is_between(part.start_s or 0.0, part.end_s)
    middle = (polars.col("start_bytes") + polars.col("end_bytes")) // 2
    rows = segments.filter(within).select("event", "reason", t="time_s", v=middle)
    kinds = [(mark, rows.filter(event="retransmitted", reason=reason)) for reason, mark in AGAIN_FOR.items()]
    kinds.append((UNDONE, rows.filter(event="undone")))
    marks = [
        timed.Marks(words, colour, kind, frame.select("t", "v"))  # type: ignore[arg-type]
        for (words, colour, kind), frame in kinds
        if frame.height
    ]
    title = f"{before}retransmissions: place in the stream, B"
    return timed.Panel(title, marks, 100, {"format": "~s"}, {"zero": False}) if marks else None
