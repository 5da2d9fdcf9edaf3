"""Draws docs/images/queue-delays.svg: a call's delay beside a download, by queue discipline.

docs/models/queues.md shows it, and has the same runs in a table: those of examples/queue-management.toml without ECN.
Run it with `make figures`.
"""

from __future__ import annotations

import roamsim
from figure_style import DOCS, drawn

EXAMPLE = DOCS.parent / "examples" / "queue-management.toml"
#: What is set as the queue of the example's line, and the colour (Okabe and Ito) in which it is drawn.
QUEUES = {
    "drop-tail, 1000 packets": ({"packets": 1000}, "#000000"),
    "RED": ({"discipline": "red", "packets": 1000}, "#d55e00"),
    "PIE": ({"discipline": "pie"}, "#cc79a7"),
    "CoDel": ({"discipline": "codel"}, "#0072b2"),
    "FQ-CoDel": ({"discipline": "fq_codel"}, "#009e73"),
}
#: When the download starts.
START_S = 1.0


def delays(queue: dict[str, object]) -> list[tuple[float, float]]:
    """When each packet of the call was sent, in seconds, and its delay in milliseconds."""
    changes = {"link.line.queue": queue, "flow.download.transport.ecn": False}
    messages = roamsim.run(EXAMPLE, set=changes, trace=["messages"]).tables["messages"]
    call = messages.filter(messages["name"] == "call")
    return [
        (sent_s, 1e3 * delay_s)
        for sent_s, delay_s in call.select("generated_s", "delay_s").sort("generated_s").iter_rows()
    ]


def main() -> None:
    """Draws delays over time, and the share of packets that were as fast."""
    with drawn("queue-delays", 9.0, 3.8) as figure:
        over_time, share = figure.subplots(1, 2, width_ratios=(3, 2))
        for name, (queue, colour) in QUEUES.items():
            found = delays(queue)
            over_time.plot(*zip(*found, strict=True), color=colour, linewidth=0.9, label=name)
            sorted_ms = sorted(delay_ms for sent_s, delay_ms in found if sent_s >= START_S)
            shares = [(place + 1) / len(sorted_ms) for place in range(len(sorted_ms))]
            share.plot(sorted_ms, shares, color=colour, linewidth=1.4)
        over_time.set_xlabel("time [s]")
        over_time.set_ylabel("delay of the call, one way [ms]")
        over_time.set_yscale("log")
        over_time.set_xlim(0, 30)
        share.set_xlabel("delay [ms]")
        share.set_ylabel("share of packets as fast or faster")
        share.set_xscale("log")
        share.set_ylim(0, 1.02)
        for axes, scale in ((over_time, over_time.yaxis), (share, share.xaxis)):
            scale.set_ticks([20, 50, 100, 200, 500, 1000], labels=["20", "50", "100", "200", "500", "1000"])
            scale.set_ticks([], minor=True)
            axes.grid(alpha=0.25)
        figure.legend(loc="outside upper center", ncols=len(QUEUES), frameon=False)


if __name__ == "__main__":
    main()
