"""Throughput over the offered load in the five cases, beside the published limits: figure 5."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from roamsim.study.data import Data

from ..cases import PUBLISHED_RATIO, REFERENCE, SATURATED

CURVES = {
    "throughput": ("TH", "#0072b2"),
    "throughput_teo": ("TH_teo", "#d55e00"),
    "throughput_ideal": ("TH_id", "#009e73"),
}
#: Published values of the reference case, in segments/s.
PUBLISHED_TH, PUBLISHED_TEO = 25.0, 30.0


def figure_5(data: Data) -> Figure:
    """A panel a case."""
    cases = [str(case) for case in data.labels("throughput", "case")]
    figure = Figure(figsize=(9.0, 5.6), layout="constrained")
    places = figure.subplots(2, 3, sharex=True, sharey=True).flat
    for axes, case in zip(places, cases, strict=False):
        _panel(axes, data, case)
    rest = places[len(cases)]
    rest.set_axis_off()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    rest.legend(handles, labels, loc="center", frameon=False)
    figure.supxlabel("offered load [segments/s]")
    figure.supylabel("throughput [segments/s]")
    return figure


def _panel(axes: Axes, data: Data, case: str) -> None:
    for column, (label, colour) in CURVES.items():
        curve = data.curve("throughput", column, "offered", case=case)
        offered = list(curve)
        means = [estimate.mean for estimate in curve.values()]
        below = [estimate.mean - estimate.low for estimate in curve.values()]
        above = [estimate.high - estimate.mean for estimate in curve.values()]
        axes.errorbar(
            offered, means, yerr=[below, above], label=label, color=colour, linewidth=1.2, marker=".", capsize=2
        )
    low, high = PUBLISHED_RATIO[case]
    teo = data.estimate("throughput", "throughput_teo", case=case, offered=SATURATED).mean
    # A single published value is drawn as wide as a line.
    thickness = max(high - low, 0.006) * teo
    bottom = (low + high) / 2 * teo - thickness / 2
    start = 0.6 * SATURATED
    axes.fill_between(
        [start, SATURATED],
        bottom,
        bottom + thickness,
        color="#555",
        alpha=0.35,
        label="published limit of TH",
        zorder=0,
    )
    if case == REFERENCE:
        for value, (_, colour) in ((PUBLISHED_TH, CURVES["throughput"]), (PUBLISHED_TEO, CURVES["throughput_teo"])):
            axes.axhline(value, color=colour, linestyle=":", linewidth=1.0)
    share = f"{100 * low:g}" if low == high else f"{100 * low:g} to {100 * high:g}"
    axes.set_title(f"{case} ({share} %)", fontsize=9)
    axes.set_ylim(bottom=0)
    # Below the last panel of the first row stands the legend.
    axes.tick_params(labelbottom=True)
