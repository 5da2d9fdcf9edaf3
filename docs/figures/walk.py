"""The picture of the README: four TCPs on a walk between two access points, over time and in the mean.

    python docs/figures/walk.py

It shows what `roamsim demo` compares.
"""

from __future__ import annotations

import polars
import roamsim
from figure_style import VARIANTS, drawn
from roamsim.scenarios.bundled import example

COMPARED = ("newreno", "sack", "cubic", "vegas")
COLOURS = dict(zip(COMPARED, ("#0072b2", "#009e73", "#d55e00", "#7f7f7f"), strict=True))
REPLICATIONS = 10


def main() -> None:
    """Runs the comparison and draws it."""
    walk = example("wifi-roaming").path
    path = "flow.download.transport.variant"
    compared = roamsim.compare(
        walk, {path: list(COMPARED)}, metric="flows.download.goodput_bps", replications=REPLICATIONS
    )
    with drawn("walk", 9.0, 3.6) as figure:
        grid = figure.add_gridspec(len(COMPARED), 2, width_ratios=(2.4, 1))
        first = None
        for row, variant in enumerate(COMPARED):
            run = roamsim.run(walk, set={path: variant})
            series = run.series.filter((polars.col("kind") == "flow") & (polars.col("name") == "download"))
            rate = series["delivered_bytes"] * 8e-6 / (series["end_s"] - series["begin_s"])
            axes = figure.add_subplot(grid[row, 0], sharex=first)
            first = first or axes
            axes.fill_between(series["begin_s"], rate, step="post", color=COLOURS[variant], linewidth=0)
            for begun_s in run.handovers["begun_s"]:
                axes.axvline(begun_s, color="black", linewidth=0.8, linestyle=":")
            axes.set(xlim=(0, 60), ylim=(0, 30), yticks=(0, 20))
            # Where a telephone shows it without scrolling, and no variant has a peak.
            axes.text(18, 29, VARIANTS[variant], va="top")
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(labelbottom=row == len(COMPARED) - 1)
            if row == 0:
                axes.set_title("Goodput in Mb/s over 60 s; dotted: handovers", loc="left")
        axes.set_xlabel("time, s")
        means = {row["value"]: row for row in compared.means.to_dicts()}
        axes = figure.add_subplot(grid[:, 1])
        for row, variant in enumerate(COMPARED):
            mean, low, high = (means[variant][key] / 1e6 for key in ("mean", "low", "high"))
            axes.errorbar(mean, -row, xerr=[[mean - low], [high - mean]], fmt="o", color=COLOURS[variant], capsize=3)
            axes.text(mean, -row + 0.22, f"{mean:.1f}", ha="center")
        axes.set(xlim=(0, 16), ylim=(-len(COMPARED) + 0.5, 0.7), yticks=[], xlabel="Mb/s")
        axes.set_title(f"Mean of {REPLICATIONS} walks, 95 % intervals", loc="left")
        axes.spines[["top", "right", "left"]].set_visible(False)


if __name__ == "__main__":
    main()
