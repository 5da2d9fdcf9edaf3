"""A burst of ten times the BER: figure 6, right, and what waits in one run."""

from __future__ import annotations

from itertools import pairwise

import polars
from roamsim import Result, statistics
from roamsim.pictures import timed
from roamsim.pictures.timeseries import Part, cut
from roamsim.study.data import Data
from roamsim.technologies.dect import channel_map

from ..cases import BATCHES, BURST_S, POISSON, SENDERS, mean_between

#: Seconds over which delays are averaged: of batches, which are few, more of them.
PARTS_S = {POISSON: 0.5, BATCHES: 2.5}
#: What is drawn, in seconds: of all runs, and of one.
SHOWN_S, SHOWN_OF_ONE_S = 40.0, 25.0
#: The publication's run; a datagram with a segment: IPv4 20, TCP 20, payload 512 octets.
SHOWN_OF_AIR_S, SEGMENT_PACKET_BYTES = 15.0, 552
BLUE = "#0072b2"
#: Of the burst: seen on light and dark ground, under the lines.
SHADE = "#d55e0033"
#: Of intervals, with what is behind it; and how an interval is told.
INTERVAL, BETWEEN = f"{BLUE}4d", "format(datum.low, '.3~g') + ' to ' + format(datum.high, '.3~g')"


def burst_delays(data: Data) -> timed.Figure:
    """Mean delay by the time of generation, and the longest."""
    panels = []
    for arrivals, width_s in PARTS_S.items():
        edges = [part * width_s for part in range(round(SHOWN_S / width_s) + 1)]
        rows = data.rows("burst", arrivals=arrivals)
        means, longest = [], []
        for begin, end in pairwise(edges):
            means.append(statistics.mean(list(mean_between(rows, begin, end).values())).within(0.0))
            longest.append(max(row["longest_delay_s"] for row in rows if begin <= row["from_s"] < end))
        ends = {"low": [one.low for one in means], "high": [one.high for one in means]}
        interval = polars.DataFrame({"t": edges[:-1], "until": edges[1:], **ends})
        # A line's last value holds until the end.
        lines = {
            name: polars.DataFrame({"t": edges, "v": [*values, values[-1]]})
            for name, values in (("mean", [one.mean for one in means]), ("longest", longest))
        }
        marks = [
            _burst(max(longest)),
            timed.Marks("95 % interval", INTERVAL, "span", interval),
            timed.Marks("longest of any run", "#7a7a7a", "step", lines["longest"]),
            timed.Marks("mean of the runs", BLUE, "step", lines["mean"]),
        ]
        title = f"{arrivals}: delay in each {width_s:g} s, s"
        panels.append(timed.Panel(title, marks, 200, place=BETWEEN))
    return timed.Figure(panels, whole_s=(0.0, SHOWN_S))


def burst_air(result: Result) -> timed.Figure:
    """Each segment's time from TCP to TCP across the air interface, in one run."""
    packets = result.packets.filter(polars.col("size_bytes") == SEGMENT_PACKET_BYTES)
    sent, delivered = (
        packets.filter(polars.col("event") == event).select("packet_id", "node", "time_s")
        for event in ("sent", "delivered")
    )
    both = sent.join(delivered, on="packet_id", suffix="_delivered").sort("time_s")
    both = both.select("node", t="time_s", v=polars.col("time_s_delivered") - polars.col("time_s"))
    marks = [
        timed.Marks(way, colour, "dot", both.filter(polars.col("node") == SENDERS[way]).select("t", "v"))
        for way, colour in channel_map.DIRECTIONS.items()
    ]
    top = float(both["v"].max() or 1.0)  # type: ignore[arg-type]
    panel = timed.Panel("transfer delay across the air interface, s", [_burst(top), *marks], 260)
    return timed.Figure([panel], whole_s=(0.0, SHOWN_OF_AIR_S))


def burst_run(result: Result) -> timed.Figure:
    """Delays, queues and windows of one run."""
    titles = {
        "delay of a segment, s": "delay_s",
        "DLC queue, fragments": "dlc_queue",
        "TCP queue, B": "backlog",
        "cwnd, B": "cwnd",
    }
    panels = []
    for title, quantity in titles.items():
        marks: list[timed.Marks] = []
        for way, colour in channel_map.DIRECTIONS.items():
            if quantity == "delay_s":
                rows = result.messages.filter(polars.col("from") == SENDERS[way]).sort("generated_s")
                marks.append(timed.Marks(way, colour, "dot", rows.select(t="generated_s", v=quantity)))
            else:
                rows = result.samples.filter(polars.col("from") == SENDERS[way], polars.col("quantity") == quantity)
                found = cut(rows, Part(end_s=SHOWN_OF_ONE_S)).select(t="time_s", v="value")
                marks.append(timed.Marks(way, colour, "step", found))
        top = max(float(one.frame["v"].max() or 1.0) for one in marks)  # type: ignore[arg-type]
        panels.append(timed.Panel(title, [_burst(top), *marks], 110))
    return timed.Figure(panels, whole_s=(0.0, SHOWN_OF_ONE_S))


def _burst(top: float) -> timed.Marks:
    """The burst, behind what is as high as `top`."""
    begin_s, end_s = BURST_S
    frame = polars.DataFrame({"t": [begin_s], "until": [end_s], "low": [0.0], "high": [top]})
    return timed.Marks("the burst", SHADE, "span", frame)
