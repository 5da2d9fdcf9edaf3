"""Names of metrics and varied paths for readers, and the unit prefix that suits their values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roamsim.tables.metrics import Metric
from roamsim.tables.significant import significant

#: Endings of columns that say their unit, which stands beside the name in words.
_UNIT_ENDINGS = {"s": "_s", "bit/s": "_bps", "B": "_bytes", "m": "_m", "dBm": "_dbm"}

#: Words of columns and keys that are abbreviations.
_ABBREVIATIONS = {
    word.lower(): word
    for word in (
        "TCP",
        "SCTP",
        "QUIC",
        "UDP",
        "IP",
        "MIH",
        "MSS",
        "MTU",
        "RTO",
        "RTT",
        "ECN",
        "DSCP",
        "RED",
        "MAC",
        "CW",
        "AIFS",
        "ID",
        "PDUs",
        "DLC",
        "SACK",
        "EDCA",
        "RTS",
    )
}

_PERCENTILE = re.compile(r"p(\d\d)")

#: Prefixes of units, the largest first.
_PREFIXES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bit/s": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "events/s": ((1e9, "Gevents/s"), (1e6, "Mevents/s"), (1e3, "kevents/s"), (1.0, "events/s")),
    "Hz": ((1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz"), (1.0, "Hz")),
    "m": ((1e3, "km"), (1.0, "m")),
}

#: What columns of varied quantities end in (`scenarios/vary.py`), and the unit that they are in.
VARIED_UNITS = {"s": "s", "bps": "bit/s", "bytes": "B", "m": "m", "mps": "m/s", "hz": "Hz", "dbm": "dBm"}


#: Endings of paths whose values are plain numbers, and the unit that they say.
_KEY_UNITS = {"_db": "dB", "_percent": "%", ".queue.packets": "packets"}


@dataclass(frozen=True)
class Scale:
    """A unit that suits some values.

    Attributes:
        unit: its name; empty where there is none.
        size: how much of the values' own unit it is.
    """

    unit: str
    size: float = 1.0

    def of(self, value: float | None) -> float | None:
        """A value in this unit; what is missing stays so."""
        return None if value is None else value / self.size

    def words(self, value: float) -> str:
        """A value with its unit, three significant digits."""
        return f"{digits(value / self.size)}{' ' if self.unit else ''}{self.unit}"


def scale(unit: str | None, values: Iterable[float | None], *, share: bool = False) -> Scale:
    """The unit in which the largest of the values is 1 or more, and of shares per cent."""
    if share:
        return Scale("%", 0.01)
    largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    prefixes = _PREFIXES.get(unit or "")
    if prefixes is None:
        return Scale(unit or "")
    # A value that is rounded up to 1 belongs to the larger unit.
    size, name = next(((size, name) for size, name in prefixes if largest >= 0.9995 * size), prefixes[-1])
    return Scale(name, size) if largest else next(Scale(name, size) for size, name in prefixes if size == 1.0)


def in_words(value: float, metric: Metric) -> str:
    """A value of a metric with its unit, three significant digits."""
    return scale(metric.unit, [value], share=metric.share).words(value)


def digits(value: float) -> str:
    """A number with three significant digits."""
    return significant(value, 3)


def metric_words(metric: Metric) -> str:
    """What a column is called: `mean delay` of `mean_delay_s`, `95th percentile of delay` of `p95_delay_s`."""
    if metric.index_of is not None:
        return f"Jain's index of {metric_words(metric.index_of)}"
    column = metric.column
    ending = _UNIT_ENDINGS.get(metric.unit or "", "")
    words = (column.removesuffix(ending) if ending and column != ending else column).split("_")
    # How long a queue is: packets are its unit.
    words = words[:-1] if words[-2:] == ["queue", "packets"] else words
    percentile = _PERCENTILE.fullmatch(words[0])
    if percentile:
        return f"{percentile[1]}th percentile of {_joined(words[1:])}"
    if words[0] == "median":
        return f"median {_joined(words[1:])}"
    return _joined(words)


def path_words(path: str, scenario: Mapping[str, Any], *, brief: bool = False) -> str:
    """What a varied path is called: `loss probability of path` of `link.path.loss.probability`.

    Args:
        path: as `--vary` takes it.
        scenario: the scenario's tree, which says whether a step is a key or the name of an entry of a list.
        brief: whether the name of an entry is left out where its list has no other.
    """
    steps = _steps(path)
    name = ""
    if len(steps) > 2 and isinstance(scenario.get(steps[0]), list):
        only = brief and len(scenario[steps[0]]) == 1
        name, steps = "" if only else _named(steps[1], scenario[steps[0]]), steps[2:]
    elif len(steps) > 1 and steps[0] == "scenario":
        steps = steps[1:]
    elif len(steps) == 2 and isinstance(scenario.get(steps[0]), list):
        return f"{_joined(steps[0].split('_'))} {steps[1]}"
    words = _key_words(steps)
    return f"{words} of {name}" if name else words


def value_label(path: str, value: Any, paths: Sequence[str]) -> str:
    """A value of a varied path with its quantity: `RTS threshold 500 B`; names and tables stand alone.

    Args:
        path: as `--vary` takes it.
        value: as the tables show it.
        paths: what is varied.
    """
    if isinstance(value, str) and value.split(" ", 1)[0].isidentifier():
        return value
    return " ".join(filter(None, (brief_words(path, paths), value_words(value), key_unit(path))))


def brief_words(path: str, paths: Sequence[str]) -> str:
    """A varied path without its entry: `RTS threshold`. Of two alike, each has its entry, or stays a path."""
    own, entry = _brief(path)
    alike = [_brief(other)[1] for other in paths if other != path and _brief(other)[0] == own]
    if not alike:
        return own
    return path if not entry or entry in alike else f"{own} of {entry}"


def _brief(path: str) -> tuple[str, str]:
    """The words of a path's last keys, and the name or number of its entry."""
    steps = _steps(path)
    if len(steps) > 2:
        return _key_words(steps[2:]), steps[1]
    return _key_words(steps[1:] or steps), ""


def _key_words(steps: Sequence[str]) -> str:
    # How long a queue may be; its unit stands behind it.
    if list(steps[-2:-1]) == ["queue"] and steps[-1] in ("packets", "bytes"):
        return "queue length"
    # What stands before the last two steps only says where they are.
    return _joined([word for step in steps[-2:] for word in _without_unit(step).split("_")])


def varied_unit(path: str, column: str) -> str:
    """The unit of a column that holds what was varied at a path as numbers; empty where it has none."""
    return VARIED_UNITS.get(column.removeprefix(f"{path}_"), "") if column != path else key_unit(path)


def key_unit(path: str) -> str:
    """The unit that a path says: `dB` of `shadowing_deviation_db`, packets of a queue; empty where it says none."""
    return next((unit for ending, unit in _KEY_UNITS.items() if path.endswith(ending)), "")


def _without_unit(step: str) -> str:
    """A key without the unit in its name."""
    return next((step.removesuffix(ending) for ending in _KEY_UNITS if step.endswith(ending)), step)


def _named(step: str, entries: list[Any]) -> str:
    """The name of the entry of a list that a step of a path leads to, by its name or its number."""
    names = [entry.get("name") for entry in entries if isinstance(entry, Mapping)]
    if step not in names and step.isdecimal() and int(step) < len(names):
        return str(names[int(step)] or step)
    return step


def value_words(value: Any) -> str:
    """A varied value: `10 ms` of `10ms`; others as they are."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return significant(value, 6)
    parted = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-zµ%][A-Za-z/]*)", str(value))
    return f"{parted[1]} {parted[2]}" if parted else str(value)


def titled(words: str, unit: str) -> str:
    """Title of an axis: what is drawn, and its unit unless the words say it."""
    return f"{words}, {unit}" if unit and unit not in words.split() else words


def capital(words: str) -> str:
    """The same with a capital letter in front."""
    return words[:1].upper() + words[1:]


def listed(words: Iterable[str], joined_by: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, last = list(words) or [""]
    return f"{', '.join(others)} {joined_by} {last}" if others else last


def count(number: float, what: str, form: str = "") -> str:
    """`1 run`, `2 runs`; the number in a format, such as `,`."""
    text = f"{number:{form}}"
    return f"{text} {what}{'' if text == '1' else 's'}"


def _joined(words: Iterable[str]) -> str:
    return " ".join(_ABBREVIATIONS.get(word, word) for word in words)


def _steps(path: str) -> list[str]:
    """The steps of a path; a name with dots stands in quotes."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^."]+)', path)]
