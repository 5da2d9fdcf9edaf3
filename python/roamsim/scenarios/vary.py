"""The varied values of a sweep: lists, ranges with exact decimal steps, and their product."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any
from warnings import warn

from roamsim.errors import Notice, UsageError
from roamsim.scenarios.laws import named
from roamsim.scenarios.notation import MOST_DIGITS, read_value, rewritten, written
from roamsim.scenarios.typed import plain

#: Most values in one range (chosen, because a slip in a step should not fill the memory).
LIMIT = 100_000

#: Most points of a sweep (chosen: a manifest holds three times as many, and to check them takes minutes).
MOST_POINTS = 1_000_000

#: Two ends of a range, as others write it.
_OTHER_RANGE = re.compile(r"(.*?[\w%/])\s*(?:\.{2,}|…|–|-|\bto\b)\s*([\d.].*)")

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-zµ%][A-Za-z/]*)?\s*")

# Factors to the unit that a numeric column has; the letters are those of the scenario's quantities.
_UNITS: dict[str, tuple[str, str]] = {
    **{u: ("s", f) for u, f in (("ns", "1e-9"), ("us", "1e-6"), ("µs", "1e-6"), ("ms", "1e-3"), ("s", "1"))},
    "min": ("s", "60"),
    "h": ("s", "3600"),
    **{f"{p}b/s": ("bps", f) for p, f in (("", "1"), ("k", "1e3"), ("M", "1e6"), ("G", "1e9"), ("T", "1e12"))},
    **{f"{p}B": ("bytes", f) for p, f in (("", "1"), ("k", "1e3"), ("M", "1e6"), ("G", "1e9"))},
    **{f"{p}iB": ("bytes", f) for p, f in (("K", "1024"), ("M", "1048576"), ("G", "1073741824"))},
    **{u: ("m", f) for u, f in (("mm", "1e-3"), ("cm", "1e-2"), ("m", "1"), ("km", "1e3"))},
    "m/s": ("mps", "1"),
    "km/h": ("mps", "5/18"),
    **{f"{p}Hz": ("hz", f) for p, f in (("", "1"), ("k", "1e3"), ("M", "1e6"), ("G", "1e9"))},
    "dBm": ("dbm", "1"),
}


@dataclass(frozen=True)
class Value:
    """One value of a varied path.

    Attributes:
        toml: what replaces the scenario's value, as `notation.written` writes it.
        shown: what tables show: a number, a truth value, or text.
    """

    toml: str
    shown: int | float | bool | str


@dataclass(frozen=True)
class Variation:
    """A path and the values it takes, in order."""

    path: str
    values: tuple[Value, ...]


#: One point: for each path, in the order of the variations, its value.
Point = dict[str, Value]


def parse_variation(text: str) -> Variation:
    """Reads `PATH=SPEC` of the command line.

    Raises:
        UsageError: there is no `=`, or SPEC is malformed.
    """
    path, equals, spec = text.partition("=")
    if not equals or not path.strip() or not spec.strip():
        raise UsageError(
            f"--vary takes PATH=SPEC, as in --vary link.path.loss.probability=0:0.5:0.01; this is {text!r}"
        )
    return variation(path.strip(), spec, named)


def variation(
    path: str, spec: str | Sequence[Any], resolve: Callable[[str, Any], Any] = lambda _, value: value
) -> Variation:
    """The values of one path.

    Args:
        path: dotted path into the scenario.
        spec: a text of values and ranges separated by commas, such as `tahoe,reno`, `0:0.5:0.01` (start, end,
            step; a step falls on the end, which belongs to the range) or `10ms:100ms:10ms`; or a sequence of
            values.
        resolve: puts another value in the place of one at a path: `named`, if the user has given the values.

    Raises:
        UsageError: a malformed range, or a value twice.
    """
    if isinstance(spec, str):
        values = tuple(value for item in split_values(spec) for value in _parse_item(path, item, resolve))
    elif isinstance(spec, Iterable) and not isinstance(spec, Mapping | bytes):
        values = tuple(value_of(path, value, resolve) for value in map(plain, spec))
    else:
        raise UsageError(
            f"{path}: {spec!r} is not a list of values; write [{spec!r}], or a text as on the command line"
        )
    if not values:
        raise UsageError(f"{path}: there is no value to vary")
    first: dict[object, Value] = {}
    for value in values:
        before = first.setdefault(alike(value.toml), value)
        if before is not value:
            other = "" if before.toml == value.toml else f", as {before.toml} too"
            raise UsageError(f"{path}: the value {value.toml} is there twice{other}; leave one out")
    return Variation(path, values)


def value_of(path: str, value: Any, resolve: Callable[[str, Any], Any] = lambda _, value: value) -> Value:
    """A Python value as one of a path.

    Raises:
        UsageError: a scenario holds no such value.
    """
    try:
        return Value(written(resolve(path, value)), _shown(value))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def alike(toml: str) -> object:
    """What values have in common that say the same: `1s` and `1000ms`, `1` and `1.0`, tables in another order."""
    return _alike(read_value(toml))


def _alike(value: Any) -> object:
    if isinstance(value, Mapping):
        return tuple((key, _alike(value[key])) for key in sorted(value))
    if isinstance(value, list):
        return tuple(map(_alike, value))
    if isinstance(value, str):
        return quantity(value) or value
    return isinstance(value, bool), value


def variations(vary: Mapping[str, str | Sequence[Any]]) -> list[Variation]:
    """The API's `vary` argument as variations."""
    if not isinstance(vary, Mapping):
        raise UsageError(f"vary: {vary!r} is not a dictionary, such as {{'link.path.delay': '10ms:50ms:10ms'}}")
    return [variation(path, spec, named) for path, spec in vary.items()]


# Paths are compared as they are written: which element a number names hangs on how the scenario is written.


def check_paths(varied: Iterable[str]) -> None:
    """Refuses what is varied twice, and parts of what is varied behind them.

    Args:
        varied: paths, in their order.

    Raises:
        UsageError: a path is varied in vain.
    """
    placed: list[tuple[list[list[str]], str]] = []
    for path in varied:
        places = list(all_steps(path))
        for inside, before in placed:
            if all(any(_sets(place, inner) for place in places) for inner in inside):
                if inside == places:
                    raise UsageError(f"{path} is varied twice")
                why = f"{path} is varied behind it, and sets all of it; name {path} first"
                raise UsageError(f"{before} is varied without effect: {why}")
        placed.append((places, path))


def tell_set_in_vain(settings: Iterable[tuple[str, str]], varied: Iterable[str]) -> None:
    """Tells of paths that are set, with their values, and are varied or lie inside of what is."""
    placed = [(list(all_steps(path)), path) for path in varied]
    for path, _ in settings:
        for places, of in placed:
            if all(any(_sets(place, steps) for place in places) for steps in all_steps(path)):
                warn(f"--set {path} has no effect on the runs, for {of} is varied", Notice, stacklevel=2)


def product(varied: Iterable[Variation]) -> list[Point]:
    """Every combination; the last variation changes fastest. Without variations, one point.

    Raises:
        UsageError: a path is varied in vain.
    """
    chosen = list(varied)
    paths = [v.path for v in chosen]
    check_paths(paths)
    count = math.prod(len(v.values) for v in chosen)
    if count > MOST_POINTS:
        raise UsageError(
            f"{', '.join(paths)} have {count:,} combinations, more than {MOST_POINTS:,}; vary fewer values"
        )
    combinations = itertools.product(*(v.values for v in chosen))
    return [dict(zip(paths, combination, strict=True)) for combination in combinations]


def quantity(text: str) -> tuple[float, str] | None:
    """A text such as `10ms` as a number in the unit of numeric columns, (0.01, "s"); `None` for other texts."""
    number, written = parse_number(text) or (Decimal(), "")
    if written not in _UNITS:
        return None
    unit, factor = _UNITS[written]
    return float(Fraction(number) * Fraction(factor)), unit


def parse_number(text: str) -> tuple[Decimal, str] | None:
    """A text such as `10ms` as an exact number and its unit, (10, "ms"); `None` for other texts and absurd ones."""
    match = _QUANTITY.fullmatch(text)
    if not match or abs((number := Decimal(match[1])).adjusted()) > MOST_DIGITS:
        return None
    return number, match[2] or ""


def in_one_unit(numbers: Sequence[tuple[Decimal, str]]) -> tuple[list[Decimal], str] | None:
    """Numbers in the smallest of their units, and that unit; `None` where they measure different things.

    A zero needs no unit.
    """
    units = {unit for number, unit in numbers if unit or number}
    if len(units) <= 1:
        return [number for number, _ in numbers], next(iter(units), "")
    if not units <= _UNITS.keys() or len({_UNITS[unit][0] for unit in units}) > 1:
        return None
    factors = {unit: Fraction(_UNITS[unit][1]) for unit in units}
    smallest = min(factors, key=lambda unit: factors[unit])
    ratios = {unit: factor / factors[smallest] for unit, factor in factors.items()}
    # Of two units of a quantity the smaller one measures the larger one exactly.
    exact = {unit: Decimal(ratio.numerator) / Decimal(ratio.denominator) for unit, ratio in ratios.items()}
    return [number * exact.get(unit, Decimal(1)) for number, unit in numbers], smallest


class Pattern(str):
    """A step of a path in which `*` stands for any letters of a name; in quotes it is a letter."""

    def names(self, step: str) -> bool:
        """Whether it stands for this step, among others."""
        return re.fullmatch(".*".join(map(re.escape, self.split("*"))), step) is not None


def all_steps(path: str) -> Iterator[list[str]]:
    """The keys and names of each dotted path of those that `+` joins; names with dots stand in quotes."""
    steps: list[str] = []
    for match in re.finditer(r'"([^"]*)"|([^."+]+)|(\+)', path):
        if match[3]:
            yield steps
            steps = []
        else:
            word = match[2]
            steps.append(match[1] if word is None else Pattern(word) if "*" in word else word)
    yield steps


def path_steps(path: str) -> list[str]:
    """The keys and names of a dotted path, of several joined by `+` those of the first."""
    return next(all_steps(path))


def _sets(place: Sequence[str], steps: Sequence[str]) -> bool:
    """Whether setting a place sets all that the steps lead to."""
    return len(place) <= len(steps) and all(
        outer == step or (isinstance(outer, Pattern) and outer.names(step))
        for outer, step in zip(place, steps, strict=False)
    )


def inner(place: Any, step: str) -> Any:
    """What a tree has at one step of a path: under a key, or in a list by name or number; else `None`.

    Of elements that a pattern names, the first.
    """
    if isinstance(place, list):
        named = [entry for entry in place if isinstance(entry, Mapping) and _matches(entry.get("name"), step)]
        if not named and re.fullmatch("[0-9]+", step):
            named = place[int(step) : int(step) + 1]
        return named[0] if named else None
    return place.get(step) if isinstance(place, Mapping) else None


def _matches(name: Any, step: str) -> bool:
    if not isinstance(step, Pattern):
        return bool(name == step)
    return isinstance(name, str) and step.names(name)


def split_values(spec: str) -> list[str]:
    """Splits at commas that are outside of quotes, brackets and braces."""
    items, depth, quote, current = [], 0, "", ""
    for letter in spec:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and depth == 0:
            items.append(current.strip())
            current = ""
            continue
        current += letter
    items.append(current.strip())
    if any(not item for item in items):
        raise UsageError(f"{spec!r} has an empty value between its commas")
    return items


def _parse_item(path: str, item: str, resolve: Callable[[str, Any], Any]) -> list[Value]:
    if item.count(":") == 2 and item[0] not in "\"'[{":
        return _range(path, item)
    other = _OTHER_RANGE.fullmatch(item)
    ends = item.split(":") if other is None or _QUANTITY.fullmatch(item) else list(other.groups())
    if len(ends) == 2 and all(parse_number(end) for end in ends):
        raise UsageError(
            f"{path}: {item!r} has no step; a range is start:end:step, as in 0:0.5:0.01 or 10ms:100ms:10ms"
        )
    return [Value(rewritten(resolve(path, item)), _shown(read_value(item)))]


def _range(path: str, item: str) -> list[Value]:
    parts = [parse_number(part) for part in item.split(":")]
    if any(part is None for part in parts):
        raise UsageError(
            f"{path}: {item!r} is not a range; write start:end:step, such as 0:0.5:0.01 or 10ms:100ms:10ms"
        )
    found = in_one_unit([part for part in parts if part])
    if found is None:
        raise UsageError(f"{path}: start, end and step of {item!r} do not measure the same thing")
    (start, end, step), unit = found
    if step == 0 or (end - start) * step < 0:
        raise UsageError(f"{path}: a step of {step} does not lead from {start} to {end}")
    count = int((end - start) / step) + 1
    if count > LIMIT:
        raise UsageError(f"{path}: {item!r} has {count} values, more than {LIMIT}")
    last = start + (count - 1) * step
    if last != end:
        first, before, behind, by = (decimal_value(value, unit).toml for value in (start, last, last + step, step))
        raise UsageError(
            f"{path}: the steps of {item!r} do not reach its end: {before} is the last value; "
            f"write {first}:{before}:{by} or {first}:{behind}:{by}"
        )
    return [decimal_value(start + k * step, unit) for k in range(count)]


def decimal_value(number: Decimal, unit: str) -> Value:
    """A number with its unit as a range writes it: without an exponent, and without zeros at its end."""
    plain = format(number, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    plain = "0" if plain in ("-0", "") else plain
    text = plain + unit
    return Value(rewritten(text), _shown(read_value(text)))


def _words(path: str, value: Any) -> Iterator[str]:
    """A table in words: `tcp sack mss=1000B` of `{ protocol = "tcp", variant = "sack", mss = "1000B" }`."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _words(f"{path}.{key}" if path else key, inner)
    elif isinstance(value, str) and value.isidentifier():
        yield value
    else:
        shown = _shown(value)
        yield f"{path}={str(shown).lower() if isinstance(shown, bool) else shown}"


def _shown(value: Any) -> int | float | bool | str:
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping) and value:
        return " ".join(_words("", value))
    return json.dumps(value, default=str)
