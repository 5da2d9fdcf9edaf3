"""What each mechanism of TCP is worth on four walks: the table and the picture of docs/mechanisms.md.

    python docs/figures/mechanisms.py

It switches each mechanism of `stack = "linux"` by itself, for a download without end and for pages of 100 kB, each
over a connection of its own. Differences are those of `roamsim compare`: in pairs of runs with equal random draws.
"""

from __future__ import annotations

import polars
import roamsim
from figure_style import DOCS, drawn, write_block

PAGE = DOCS / "mechanisms.md"
REPLICATIONS = 20
WALKS = {"outage": "Outage", "pause": "Pause", "reordering": "Reordering", "rate-step": "Rate step"}
#: What the table calls a change of the preset, and the change.
CHANGES: dict[str, dict[str, object]] = {
    '`stack = "linux"`': {},
    "RTO by RFC 6298": {"rto_rules": "rfc6298", "min_rto": "1s"},
    "without RACK": {"rack": False},
    "without TLP": {"tail_loss_probe": False},
    "TLP by RFC 8985": {"loss_probe_rules": "rfc8985"},
    "without compressed ACKs": {"compressed_acks": False},
    "without F-RTO": {"frto": False},
    "without undo": {"undo": False},
    "without both": {"frto": False, "undo": False},
    "without PRR": {"prr": False},
    "without HyStart": {"hystart": False},
    "with HyStart++": {"hystart_rules": "rfc9406"},
    "with pacing": {"pacing": True},
}
PAGES = {"kind": "transfers", "rate": "3/s", "size": "100kB"}
KEY = "flow.download.transport"
GOODPUT, TIMEOUTS, REPEATED = "flows.goodput_bps", "flows.timeouts", "flows.retransmissions"
TIME = "transfers.mean_completion_time_s"


def compared(walk: str, metrics: list[str], **settings: object) -> tuple[polars.DataFrame, polars.DataFrame]:
    """Means and differences of all changes on a walk, one row each for a metric, in the order of `CHANGES`."""
    values = [{"protocol": "tcp", "stack": "linux", **change} for change in CHANGES.values()]
    found = roamsim.compare(
        DOCS.parent / "examples" / f"walk-{walk}.toml",
        {KEY: values},
        set={f"flow.download.{key}": value for key, value in settings.items()},
        metric=metrics,
        replications=REPLICATIONS,
        jobs=1,
    )
    first = found.means["value"][0]
    return found.means, found.differences.filter(polars.col("against") == first)


def shown(low: float, high: float, digits: int) -> str:
    """An interval by its middle and half of its width."""
    if low == high:
        return f"{low:.{digits}f}"
    return f"{(low + high) / 2:.{digits}f} ± {(high - low) / 2:.{digits}f}"


def difference(row: dict[str, float | None]) -> str:
    """A relative difference in percent; bold if it excludes zero."""
    low, high = row["relative_low"], row["relative_high"]
    if low is None or high is None:
        return "0" if row["difference"] == 0 else "–"
    text = f"{50 * (low + high):+.1f} ± {50 * (high - low):.1f}"
    return f"**{text}**" if low > 0 or high < 0 else text


def has_effect(differences: list[str], counts: list[tuple[float, float]]) -> bool:
    """Whether a difference excludes zero, or a count is not that of the preset within 5 % and a twentieth."""
    return any("**" in text for text in differences) or any(
        abs(here - preset) > 0.05 * max(preset, 1.0) for here, preset in counts
    )


def main() -> None:
    """Runs the comparisons, writes the table into the page and draws the picture.

    A change without an effect on a walk has no row there.
    """
    lines = [
        "| walk | | goodput, Mb/s | difference | timeouts | retransmissions | time of a page, ms | difference |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    points: dict[str, tuple[list[dict], list[dict]]] = {}
    for walk, name in WALKS.items():
        means, against = compared(walk, [GOODPUT, TIMEOUTS, REPEATED])
        page_means, page_against = compared(walk, [TIME], application=PAGES)

        def of(table: polars.DataFrame, metric: str) -> list[dict]:
            return table.filter(polars.col("metric") == metric).to_dicts()

        rates, waits = of(against, GOODPUT), of(page_against, TIME)
        points[name] = rates, waits
        for place, change in enumerate(CHANGES):
            goodput, timeouts, repeated = (of(means, metric)[place] for metric in (GOODPUT, TIMEOUTS, REPEATED))
            presets = (of(means, metric)[0]["mean"] for metric in (TIMEOUTS, REPEATED))
            time = of(page_means, TIME)[place]
            cells = [
                name if place == 0 else "",
                change,
                shown(goodput["low"] / 1e6, goodput["high"] / 1e6, 2),
                difference(rates[place - 1]) if place else "",
                shown(timeouts["low"], timeouts["high"], 1),
                f"{repeated['mean']:.0f}",
                shown(1e3 * time["low"], 1e3 * time["high"], 0),
                difference(waits[place - 1]) if place else "",
            ]
            counts = zip((timeouts["mean"], repeated["mean"]), presets, strict=True)
            if place == 0 or has_effect([cells[3], cells[7]], list(counts)):
                lines.append(f"| {' | '.join(cells)} |")
    write_block(PAGE, "mechanisms", lines)
    draw(points)


def draw(points: dict[str, tuple[list[dict], list[dict]]]) -> None:
    """Differences with their intervals, a column for each walk."""
    names = list(CHANGES)[1:]
    with drawn("mechanisms", 9.6, 5.6) as figure:
        grid = figure.subplots(2, len(points), sharey=True)
        for column, (walk, measures) in enumerate(points.items()):
            for row, (rows, colour) in enumerate(zip(measures, ("#0072b2", "#d55e00"), strict=True)):
                axes = grid[row][column]
                for place, found in enumerate(rows):
                    low, high = (100 * (found[key] or 0.0) for key in ("relative_low", "relative_high"))
                    middle = (low + high) / 2
                    axes.errorbar(
                        middle, -place, xerr=[[middle - low], [high - middle]], fmt="o", markersize=3.5, capsize=2.5,
                        color=colour,
                    )  # fmt: skip
                axes.axvline(0, color="black", linewidth=0.8)
                axes.set_yticks([-place for place in range(len(names))], labels=names)
                axes.grid(axis="x", alpha=0.25)
                axes.spines[["top", "right"]].set_visible(False)
                if row == 0:
                    axes.set_title(walk)
                axes.set_xlabel(("goodput of a download, %", "time of a page, %")[row])


if __name__ == "__main__":
    main()
