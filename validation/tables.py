"""Ours beside theirs: ratios with intervals, and the Markdown that shows them."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from roamsim.statistics import Estimate, mean, student_t_quantile

from peers.document import marked, replace, table
from validation.explanations import explanation, listed
from validation.parts import Case, Part, Quantity
from validation.runs import Outcome, Run

#: By part and labels of the case, then by simulator: each run with its outcome.
Outcomes = dict[tuple[str, tuple[str, ...]], dict[str, list[tuple[Run, Outcome]]]]
OURS = "roamsim"
#: A ratio further from one than this asks for an explanation.
TOLERANCE = 0.10
WHY = "### Why they differ by more than 10 %"
NOT_EXPLAINED = "not explained"


@dataclass(frozen=True)
class Ratio:
    """Ours over theirs with its 95 % interval; NaN where an end is open."""

    value: float
    low: float
    high: float

    def differs_by(self, tolerance: float) -> bool:
        """Whether the two differ by more than that."""
        return not 1 - tolerance <= self.value <= 1 + tolerance


def ratio(first: Estimate, second: Estimate) -> Ratio | None:
    """The ratio of two independent means, by the delta method on its logarithm.

    None where both are zero, or a side has no value.
    """
    if math.isnan(first.mean) or math.isnan(second.mean) or (first.mean == 0 and second.mean == 0):
        return None
    if second.mean == 0:
        return Ratio(math.inf, math.nan, math.nan)
    value = first.mean / second.mean
    if value <= 0:
        return Ratio(value, math.nan, math.nan)
    variances = [_relative_error(first) ** 2, _relative_error(second) ** 2]
    degrees = min(first.samples, second.samples) - 1
    if degrees < 1 or any(math.isnan(v) for v in variances):
        return Ratio(value, math.nan, math.nan)
    half = student_t_quantile(0.975, degrees) * math.sqrt(sum(variances))
    return Ratio(value, value * math.exp(-half), value * math.exp(half))


def _relative_error(estimate: Estimate) -> float:
    """Standard error over the mean."""
    if estimate.samples < 2:
        return math.nan
    return estimate.half_width / student_t_quantile(0.975, estimate.samples - 1) / estimate.mean


def estimates(quantity: Quantity, by_simulator: Mapping[str, Sequence[tuple[Run, Outcome]]]) -> dict[str, Estimate]:
    """The mean of a quantity in each simulator."""
    return {
        name: mean(quantity.values([run for run, _ in pairs], [outcome for _, outcome in pairs]))
        for name, pairs in by_simulator.items()
    }


def show(estimate: Estimate | None, digits: int) -> str:
    """Mean and half-width."""
    if estimate is None or math.isnan(estimate.mean):
        return ""
    text = f"{estimate.mean:.{digits}f}"
    return f"{text} ± {estimate.half_width:.{digits}f}" if estimate.half_width > 0 else text


def show_ratio(value: Ratio | None, mark: str, *, interval: bool = True) -> str:
    """The ratio, with its interval if that is wanted, and a mark where the two differ."""
    if value is None:
        return ""
    if math.isinf(value.value):
        text = "only ours"
    elif value.value == 0:
        text = "only theirs"
    elif not interval or math.isnan(value.low) or value.low == value.high:
        text = f"{value.value:.3f}"
    else:
        text = f"{value.value:.3f} ({value.low:.3f} to {value.high:.3f})"
    return f"**{text}** {mark}" if mark else text


def judged(
    part: Part, peers: Sequence[str], outcomes: Outcomes
) -> Iterator[tuple[Case, Quantity, dict[str, Estimate], dict[str, tuple[Ratio | None, str]]]]:
    """Each quantity of each case: the means, and by peer the ratio with its mark."""
    for case in part.cases:
        for quantity in part.quantities:
            found = estimates(quantity, outcomes[part.name, case.labels])
            ratios: dict[str, tuple[Ratio | None, str]] = {}
            for peer in peers:
                compared = ratio(found[OURS], found[peer]) if peer in found else None
                mark = ""
                if compared is not None and compared.differs_by(TOLERANCE) and quantity.judged:
                    because = explanation(part.name, case.variant, case.labels, quantity.name, peer)
                    mark = because.letter if because else NOT_EXPLAINED
                ratios[peer] = compared, mark
            yield case, quantity, found, ratios


def part_table(part: Part, peers: Sequence[str], outcomes: Outcomes) -> tuple[str, set[str], int]:
    """The table of a part, the letters of the explanations it uses, and how many differences have none."""
    rows: list[list[str]] = []
    marks: list[str] = []
    for case, quantity, found, ratios in judged(part, peers, outcomes):
        row = [
            *case.labels,
            *([quantity.name] if len(part.quantities) > 1 else []),
            show(found[OURS], quantity.digits),
        ]
        for peer, (compared, mark) in ratios.items():
            row += [show(found.get(peer), quantity.digits), show_ratio(compared, mark)]
            marks.append(mark)
        rows.append(row)
    ours_head = f"ours: {part.quantities[0].name}" if len(part.quantities) == 1 else "ours"
    head = [*part.labels, *(["quantity"] if len(part.quantities) > 1 else []), ours_head]
    for peer in peers:
        head += [peer, f"ours / {peer}"]
    return table(head, rows), set(marks) - {"", NOT_EXPLAINED}, marks.count(NOT_EXPLAINED)


def part_ratios(part: Part, peers: Sequence[str], outcomes: Outcomes) -> str:
    """A part in short, its last label across: our means and the ratios to them that are judged, without intervals.

    The row of our means has the labels, the rows of its ratios follow. A peer that agrees everywhere has the range of
    its ratios behind the labels instead. It is left out if it lacks the variant, or if all its ratios are 1.000.
    Variants with equal rows share them.
    """
    shown = [quantity for quantity in part.quantities if quantity.judged]
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for case, quantity, found, ratios in judged(part, peers, outcomes):
        if quantity.judged:
            column = f"{part.labels[-1]} {case.labels[-1]}"
            labels = _named(case.labels[:-1], quantity.name if len(shown) > 1 else "") or "ours"
            rows.setdefault((labels, ""), {})[column] = f"{found[OURS].mean:.{quantity.digits}f}"
            for peer, (compared, mark) in ratios.items():
                rows.setdefault((labels, peer), {})[column] = show_ratio(compared, mark, interval=False)
    same = {row for row, cells in rows.items() if row[1] and set(cells.values()) <= {"", "1.000"}}
    head = _named(part.labels[:-1], shown[0].name if len(shown) == 1 else "")
    columns = dict.fromkeys(column for cells in rows.values() for column in cells)
    shown_rows = [
        [f"/ {peer}" if peer else labels, *(cells.get(column, "") for column in columns)]
        for (labels, peer), cells in rows.items()
        if (labels, peer) not in same
    ]
    return table([head, *columns], folded(shared(shown_rows)))


def folded(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows of a brief table, without those of ratios that are not marked: `reno (ns-2 0.987 to 1.051)`."""
    found: list[list[str]] = []
    ranges: list[list[str]] = []
    for label, *cells in rows:
        if not label.startswith("/ ") or any("**" in cell for cell in cells):
            found.append([label, *cells])
            ranges.append([])
        else:
            values = sorted(filter(None, cells), key=float)
            to = f" to {values[-1]}" if values[-1] != values[0] else ""
            ours = max(place for place, row in enumerate(found) if not row[0].startswith("/ "))
            ranges[ours].append(f"{label.removeprefix('/ ')} {values[0]}{to}")
    return [
        [f"{label} ({'; '.join(agree)})" if agree else label, *cells]
        for (label, *cells), agree in zip(found, ranges, strict=True)
    ]


def shared(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows of a brief table, with the labels of equal quantities together: `reno, sack: timeouts`."""
    blocks: dict[tuple[str, ...], list[str]] = {}
    groups: list[list[Sequence[str]]] = []
    for row in rows:
        groups[-1].append(row) if row[0].startswith("/ ") else groups.append([row])
    for (labels, *cells), *ratios in groups:
        label, colon, quantity = labels.partition(": ")
        key = (colon + quantity, *cells, *(cell for row in ratios for cell in row))
        blocks.setdefault(key, []).append(label)
    found: list[list[str]] = []
    for (labels, *cells), *ratios in groups:
        label, colon, quantity = labels.partition(": ")
        alike = blocks[colon + quantity, *cells, *(cell for row in ratios for cell in row)]
        if alike[0] == label:
            between = "; " if "," in label else ", "
            found += [[between.join(alike) + colon + quantity, *cells], *map(list, ratios)]
    return found


def _named(labels: Sequence[str], quantity: str) -> str:
    """Labels and the quantity, either may be empty."""
    return ": ".join(filter(None, [", ".join(labels), quantity]))


def sack_over_newreno(part: Part, names: Sequence[str], outcomes: Outcomes) -> str:
    """How SACK and NewReno compare within each simulator, over the cases of a part."""
    variants = {case.variant for case in part.cases}
    if not {"sack", "newreno"} <= variants:
        return ""
    quantity = part.quantities[0]
    at = part.labels.index("variant")
    rows = []
    for case in (case for case in part.cases if case.variant == "sack"):
        labels = [*case.labels]
        labels[at] = "newreno"
        other = outcomes[part.name, tuple(labels)]
        mine = outcomes[part.name, case.labels]
        cells = []
        for name in names:
            pair = (estimates(quantity, {name: side[name]})[name] for side in (mine, other) if name in side)
            sides = list(pair)
            cells.append(show_ratio(ratio(*sides), "") if len(sides) == 2 else "")
        rows.append([*case.labels[:at], *case.labels[at + 1 :], *cells])
    head = [label for label in part.labels if label != "variant"]
    return table([*head, *[f"SACK / NewReno in {name}" for name in names]], rows)


def report(
    plan: Sequence[Part], builds: Mapping[str, str], outcomes: Outcomes, *, brief: bool = False
) -> tuple[str, int]:
    """The whole comparison as Markdown, or it in brief, and how many differences are not explained."""
    paragraphs = made_with(builds)
    unexplained = 0
    for part in plan:
        text, missing = section(part, builds, outcomes, brief=brief)
        paragraphs.append(text)
        unexplained += missing
    return "\n\n".join([*paragraphs, *why("".join(paragraphs))]) + "\n", unexplained


def made_with(builds: Mapping[str, str]) -> list[str]:
    """The simulators and their builds, as paragraphs."""
    return ["Measured with:", "\n".join(f"- {name}: {build}" for name, build in builds.items())]


def section(part: Part, builds: Mapping[str, str], outcomes: Outcomes, *, brief: bool = False) -> tuple[str, int]:
    """A part under its heading, with the simulators that ran any of it, and the count of unexplained differences.

    In brief its last label goes across, and there are no intervals.
    """
    ran = {name for case in part.cases for name in outcomes[part.name, case.labels]}
    names = [name for name in builds if name in ran]
    peers = [name for name in names if name != OURS]
    text, _, unexplained = part_table(part, peers, outcomes)
    paragraphs = [f"### {part.title}", part_ratios(part, peers, outcomes) if brief else text]
    if not brief and part.name == "wide" and (compared := sack_over_newreno(part, names, outcomes)):
        paragraphs.append(compared)
    return "\n\n".join(paragraphs), unexplained


def why(tables: str) -> list[str]:
    """The explanations whose letters stand in tables, under a heading."""
    used = set(re.findall(r"\*\* ([a-z]+)(?= \|)", tables))
    because = listed(used)
    return ["\n\n".join([WHY, because])] if because else []


def update_parts(path: Path, plan: Sequence[Part], builds: Mapping[str, str], outcomes: Outcomes) -> None:
    """Replaces the tables of some parts in the document; the others stay, and must be of the same builds.

    Raises:
        SystemExit: they are not, or a part is not there yet.
    """
    head, *sections = re.split(r"\n\n(?=### )", marked(path, "validation").rstrip("\n"))
    for line in "\n".join(made_with(builds)).splitlines():
        if line not in head.splitlines():
            raise SystemExit(f"{path} does not say {line!r}: measure all parts again")
    tables = [text for text in sections if not text.startswith(f"{WHY}\n")]
    for part in plan:
        places = [place for place, text in enumerate(tables) if text.startswith(f"### {part.title}\n")]
        if len(places) != 1:
            raise SystemExit(f"{path} has no table {part.title!r}: measure all parts again")
        tables[places[0]], _ = section(part, builds, outcomes, brief=True)
    replace(path, "validation", "\n\n".join([head, *tables, *why("".join(tables))]) + "\n")
