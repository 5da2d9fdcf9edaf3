"""A sweep's answer in a sentence: the metric that varies most, and how it depends on the varied values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars

from roamsim.errors import UsageError
from roamsim.estimates import survivors
from roamsim.estimates.curves import Curves, curves
from roamsim.storing.store import Results
from roamsim.tables.metrics import Target, metrics, summaries
from roamsim.tables.significant import significant
from roamsim.tables.words import capital, digits, in_words, listed, metric_words, scale

#: How near to the one that varies most a metric comes that is shown first because it comes first (chosen).
NEAR = 0.8

#: Groups of which each has its own numbers in a sentence (chosen: a longer sentence is not read).
NAMED_GROUPS = 3

#: Metrics that another says as well: bytes delivered are the rate times the duration.
_SAID_ALREADY = ("delivered_bytes",)

#: Metrics that are worth a figure beside those that summaries show.
_ALSO = ("signalling.load_bps", "links.utilisation", "links.mean_queue_packets")


def drawn_metrics() -> list[Target]:
    """The metrics that reports draw, in their order: what the summaries show and is good or bad, then some more."""
    shown = [
        (summary.table, metric.column)
        for summary in summaries()
        for _, metric in summary.columns
        if (metric.better and metric.column not in _SAID_ALREADY)
        or metric.column in ("retransmissions", "timeouts", "tcp_segments_per_message")
    ]
    return [Target(table, None, column) for table, column in shown] + [Target.parse(name) for name in _ALSO]


def all_curves(results: Results) -> list[Curves]:
    """Each of these that the results have a value of."""
    found = []
    for target in drawn_metrics():
        try:
            found.append(curves(results, target))
        except UsageError:
            continue
    return found


def variation(drawn: Curves) -> float:
    """How far the means of a row lie apart beside the largest, of shares beside the whole; 0 within intervals."""
    most = 0.0
    for _, mine in drawn.frame.group_by("row", maintain_order=True):
        if mine.height < 2:
            continue
        ordered = mine.sort("mean")
        low, high = ordered.row(0, named=True), ordered.row(-1, named=True)
        apart = high["mean"] - low["mean"] - _half_width(low) - _half_width(high)
        whole = 1.0 if drawn.metric.share else max(abs(high["mean"]), abs(low["mean"]))
        most = max(most, apart / whole if whole else 0.0)
    return most


def ordered(found: Sequence[Curves], first: Target | None = None) -> list[Curves]:
    """Curves, the most varying first; those of metrics that are neither good nor bad, or get no verdict, come last.

    Args:
        found: the curves.
        first: what was asked for, which stands before all others.
    """
    varying = [(variation(drawn), drawn) for drawn in found]
    judged = [value for value, drawn in varying if drawn.metric.better and not drawn.uneven]
    bound = NEAR * max(judged, default=0.0)

    def place(entry: tuple[float, Curves]) -> tuple[bool, bool, float]:
        value, drawn = entry
        asked = first is not None and (drawn.target.table, drawn.target.column) == (first.table, first.column)
        leads = bool(drawn.metric.better) and not drawn.uneven
        near = leads and value >= bound
        return (not asked, not leads, -bound if near else -min(value, bound))

    return [drawn for _, drawn in sorted(varying, key=place)]


def answered(results: Results) -> list[str]:
    """What the metric that varies most says, if there is one."""
    found = ordered(all_curves(results), asked_for(results))
    if not found:
        return []
    told = survivors.advice(results, found[0].target) if found[0].uneven else ""
    return [answer(found[0]), *([told] if told else [])]


def answer(drawn: Curves) -> str:
    """What curves say, in a sentence or two."""
    if not drawn.x_words:
        return _of_one_point(drawn)
    if drawn.uneven:
        return (
            f"{_subject(drawn)}: no verdict. It counts only messages that arrived, and the share of the others "
            f"differs between points: {survivors.between(drawn.uneven)}."
        )
    if variation(drawn) <= 0:
        means = drawn.frame["mean"].to_list()
        if min(means) == max(means):
            return f"{_subject(drawn)}: {_value(drawn, means[0])} everywhere."
        return f"{_subject(drawn)}: {_range(drawn, means)}. No difference beyond the intervals is shown."
    mine = _most_varying(drawn)
    if drawn.over_numbers and mine.frame["x"].n_unique() > 2:
        return _over_numbers(mine, mine.frame)
    return _over_names(mine, mine.frame)


def _over_numbers(drawn: Curves, frame: polars.DataFrame) -> str:
    ends = [
        (group, mine.row(0, named=True), mine.row(-1, named=True), mine)
        for (group,), mine in frame.sort("x", maintain_order=True).group_by("group", maintain_order=True)
    ]
    first, last = frame["x"].min(), frame["x"].max()
    span = f"as {drawn.x_words} goes from {_once(_x(drawn, first), _x(drawn, last))}"
    moves = {str(group): _move(begin, end) for group, begin, end, _ in ends}
    subject = _subject(drawn)
    one_way = len(set(moves.values())) == 1
    if one_way and 0 not in moves.values():
        verb = ("rise" if 1 in moves.values() else "fall") + ("" if _plural(drawn) else "s")
        told = f"{subject} {verb} {_from_to(drawn, ends)} {span}."
    else:
        told = f"{subject}: {_range(drawn, frame['mean'].to_list())} {span}."
        told += " No change between the two ends is shown." if one_way else _ways(drawn, moves)
    if len(ends) == 1:
        return told + _peak(drawn, ends[0][3])
    return told + _best(drawn, frame)


def _from_to(drawn: Curves, ends: Sequence[tuple[Any, Any, Any, polars.DataFrame]]) -> str:
    """The first and the last mean: of each group where they are few, else of all together."""
    if len(ends) > NAMED_GROUPS:
        begins = _range(drawn, [begin["mean"] for _, begin, _, _ in ends], "–")
        return f"from {begins} to {_range(drawn, [end['mean'] for _, _, end, _ in ends], '–')}"
    told = []
    for group, begin, end, _ in ends:
        of = f" with {_kind(drawn, group)}{group}" if len(ends) > 1 else ""
        told.append(f"from {_once(_value(drawn, begin['mean']), _value(drawn, end['mean']))}{of}")
    return listed(told)


def _plural(drawn: Curves) -> bool:
    """Whether a metric's words are those of several: `retransmissions`, `tcp segments per message`."""
    head = re.split(r" (?:of|per) ", metric_words(drawn.metric))[0]
    return head.endswith("s") and not head.endswith("ss")


def _peak(drawn: Curves, mine: polars.DataFrame) -> str:
    """Where in between the largest or smallest mean lies, if it is beyond both ends and their intervals."""
    begin, end = mine.row(0, named=True), mine.row(-1, named=True)
    for word, row in (
        ("largest", mine.sort("mean").row(-1, named=True)),
        ("smallest", mine.sort("mean").row(0, named=True)),
    ):
        if row["x"] not in (begin["x"], end["x"]) and all(_move(row, side) != 0 for side in (begin, end)):
            return f" The {word}, {_value(drawn, row['mean'])}, is at {_x(drawn, row['x'])}."
    return ""


def _ways(drawn: Curves, moves: Mapping[str, int]) -> str:
    """Which groups rise from one end to the other, and which fall."""
    told = []
    for move, verb in ((1, "rises"), (-1, "falls"), (0, "shows no change")):
        mine = [group for group, its in moves.items() if its == move]
        if mine:
            few = f"{_kind(drawn, mine[0])}{', '.join(mine)}"
            many = f"{len(mine)} of {len(moves)} values of {drawn.group_words}"
            told.append(f"{verb} with {few if len(mine) <= 4 else many}")
    return f" It {'; it '.join(told)}."


def _kind(drawn: Curves, group: str) -> str:
    """What a group is a value of, in front of one that is a number."""
    return f"{drawn.group_words} " if group[:1] in "-.0123456789" else ""


def _best(drawn: Curves, frame: polars.DataFrame) -> str:
    """At how many values which group has the best mean, beyond the interval of the next one."""
    better = drawn.metric.better
    if not better:
        return ""
    wins: dict[str, int] = {}
    places = 0
    for _, mine in frame.group_by("x", maintain_order=True):
        if mine.height < 2:
            continue
        places += 1
        first, second, *_ = mine.sort("mean", descending=better == "larger").to_dicts()
        if _move(second, first):
            wins[first["group"]] = wins.get(first["group"], 0) + 1
    if places and not wins:
        return f" No {drawn.group_words} is best beyond the intervals."
    name, number = max(wins.items(), key=lambda entry: entry[1], default=("", 0))
    if 2 * number <= places:
        return ""
    extent = "highest" if better == "larger" else "lowest"
    where = f"at all {places} values" if number == places else f"at {number} of {places} values"
    return f" {_kind(drawn, name)}{name} has the {extent} mean{f' {where}' if places > 1 else ''}."


def _over_names(drawn: Curves, frame: polars.DataFrame) -> str:
    better = drawn.metric.better or "larger"
    ordered = frame.sort("mean", descending=better == "larger", maintain_order=True)
    best, worst = ordered.row(0, named=True), ordered.row(-1, named=True)
    top, bottom = ("highest", "lowest") if better == "larger" else ("lowest", "highest")
    return (
        f"{_subject(drawn)}: {top} with {_named(drawn, best)}, {_with_interval(drawn, best)}; "
        f"{bottom} with {_named(drawn, worst)}, {_with_interval(drawn, worst)}."
    )


def _of_one_point(drawn: Curves) -> str:
    rows = drawn.frame.head(3).to_dicts()
    more = f", and {drawn.frame.height - 3} more" if drawn.frame.height > 3 else ""
    told = ", ".join(f"{row['row']} {_with_interval(drawn, row)}" for row in rows)
    return f"{capital(metric_words(drawn.metric))}: {told}{more}."


def _most_varying(drawn: Curves) -> Curves:
    """The curves of the row that varies most."""
    return max((replace(drawn, frame=drawn.frame.filter(row=row)) for row in drawn.rows), key=variation)


def _subject(drawn: Curves) -> str:
    words = metric_words(drawn.metric)
    return capital(f"{words} of {drawn.rows[0]}" if len(drawn.rows) == 1 and drawn.rows[0] else words)


def _move(begin: dict[str, Any], end: dict[str, Any]) -> int:
    """1 where the second mean lies above the first beyond both intervals, -1 below, 0 within."""
    apart = end["mean"] - begin["mean"]
    return 0 if abs(apart) <= _half_width(begin) + _half_width(end) else 1 if apart > 0 else -1


def _half_width(row: dict[str, Any]) -> float:
    return (row["high"] - row["low"]) / 2 if row["low"] is not None and row["high"] is not None else 0.0


def _named(drawn: Curves, row: dict[str, Any]) -> str:
    x = _x(drawn, row["x"]) if drawn.over_numbers else row["x"]
    return ", ".join(filter(None, (f"{drawn.x_words} {x}" if drawn.over_numbers else x, row["group"])))


def _x(drawn: Curves, value: Any) -> str:
    scale = drawn.x_scale
    return (
        f"{significant(value / scale.size, 4)}{' ' if scale.unit else ''}{scale.unit}"
        if value
        else f"0 {scale.unit}".strip()
    )


def _value(drawn: Curves, value: Any) -> str:
    return in_words(value, drawn.metric)


def _range(drawn: Curves, values: Sequence[float], between: str = " to ") -> str:
    low, high = _value(drawn, min(values)), _value(drawn, max(values))
    return low if low == high else _once(low, high, between)


def _once(first: str, last: str, between: str = " to ") -> str:
    """Two values with their unit said once: `2 to 20 Mb/s`."""
    number, _, unit = first.rpartition(" ")
    return f"{number if unit and last.endswith(f' {unit}') else first}{between}{last}"


def _with_interval(drawn: Curves, row: dict[str, Any]) -> str:
    mean = _value(drawn, row["mean"])
    if row["low"] is None or row["low"] == row["high"]:
        return mean
    # In the mean's unit. An interval below the shown digits says nothing.
    size = scale(drawn.metric.unit, [row["mean"]], share=drawn.metric.share).size
    low, high = (digits(row[end] / size) for end in ("low", "high"))
    return mean if low == high else f"{mean} ({low} to {high})"


def asked_for(results: Results) -> Target | None:
    """The metric that replications were added for, if any were."""
    precision = results.manifest.precision or ""
    name = precision.rpartition(" to ")[0]
    return Target.parse(name) if "." in name and any(name.startswith(f"{m.table}.") for m in metrics()) else None
