"""The ranges and choices of a sensitivity or a search.

Ranges of quantities, `10ms:50ms`, cut into steps that the scenario takes; and choices without an order, `reno,sack`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from roamsim._roamsim import ScenarioError
from roamsim.errors import UsageError
from roamsim.scenarios.laws import named
from roamsim.scenarios.reading import Overrides, Source, of_vary, parse_source
from roamsim.scenarios.vary import (
    Value,
    check_paths,
    decimal_value,
    in_one_unit,
    inner,
    parse_number,
    path_steps,
    split_values,
    value_of,
    variation,
)

#: Decimal places of a range's size to which it is cut where no step is given (chosen: a millionth of it is finer than
#: any replication tells).
PLACES = 6


@dataclass(frozen=True)
class Range:
    """A path and the numbers that it takes: `low`, `low + step`, ..., as many as `steps` says.

    Attributes:
        path: dotted path into the scenario.
        low: the lowest value, in `unit`.
        high: the upper end.
        step: between two values; 0 until `stepped` has chosen it.
        unit: as the scenario writes it; empty for bare numbers.
    """

    path: str
    low: Decimal
    high: Decimal
    step: Decimal
    unit: str

    @property
    def steps(self) -> int:
        """Number of the last value, the first one being 0."""
        return int((self.high - self.low) / self.step)

    def at(self, number: int) -> Value:
        """The value of a number from 0 to `steps`."""
        return decimal_value(self.low + number * self.step, self.unit)

    def share(self, value: str) -> float:
        """The place of a value between the ends: 0 to 1."""
        ends = [(self.low, self.unit), (self.high, self.unit)]
        same = in_one_unit([parse_number(value) or ends[0], *ends])
        number, low, high = same[0] if same else (self.low, self.low, self.high)
        return float((number - low) / (high - low))

    def text(self) -> str:
        """As `parse_range` reads what stands behind the path."""
        return ":".join(decimal_value(end, self.unit).toml for end in (self.low, self.high, self.step))

    def stepped(self, read: Source, settings: Overrides, *, color: bool = False) -> Range:
        """The same with both ends valid, and the finest decimal step that the scenario takes.

        A time has no parts of a nanosecond, a queue no half packets: what is no value of the scenario is in no range.

        Raises:
            ScenarioError: there is no such path, or one of its ends is no value.
        """

        def refusal(number: Decimal) -> str:
            return _refusal(read, settings, self.path, decimal_value(number, self.unit), color=color)

        for end in (self.low, self.high):
            if why := refusal(end):
                raise ScenarioError(why)
        if self.step:
            return self
        size = (self.high - self.low).adjusted()
        why = ""
        for exponent in range(size - PLACES, size + 1):
            step = Decimal(1).scaleb(exponent)
            if not (why := refusal(self.low + step)):
                return replace(self, step=step)
        raise ScenarioError(f"there is nothing between the ends of {self.path}; give a step, as in 0:8:4\n{why}")


@dataclass(frozen=True)
class Choice:
    """A path and values between which there is nothing, and of which none is more than another."""

    path: str
    values: tuple[Value, ...]

    @property
    def steps(self) -> int:
        """Number of the last value, the first one being 0."""
        return len(self.values) - 1

    @property
    def unit(self) -> str:
        """None."""
        return ""

    def at(self, number: int) -> Value:
        """The value of a number from 0 to `steps`."""
        return self.values[number]

    def text(self) -> str:
        """As `parse_varied` reads what stands behind the path."""
        return ",".join(value.toml for value in self.values)

    def stepped(self, read: Source, settings: Overrides, *, color: bool = False) -> Choice:
        """The same, with every value valid by itself.

        Raises:
            ScenarioError: there is no such path, or one is no value.
        """
        for value in self.values:
            if why := _refusal(read, settings, self.path, value, color=color):
                raise ScenarioError(why)
        return self


def _refusal(read: Source, settings: Overrides, path: str, value: Value, *, color: bool) -> str:
    """Why a scenario does not take a value; empty where it does."""
    try:
        parse_source(read, [*settings, (path, value.toml)], color=color)
    except ScenarioError as error:
        return f"at {path}={value.toml}:\n{of_vary(error)}"
    return ""


#: What is said of values that are no range.
_CHOICES = "values to choose from are one text, '{}': `compare` compares them, and `optimise` chooses from them"

#: A kind of what is varied.
_Varied = TypeVar("_Varied", bound=Range | Choice)


def parse_range(text: str) -> Range:
    """Reads `PATH=LOW:HIGH` or `PATH=LOW:HIGH:STEP` of the command line.

    Raises:
        UsageError: it is neither.
    """
    return as_range(*_taken_apart(text))


def parse_varied(text: str) -> Range | Choice:
    """Reads the same, or `PATH=A,B,C`.

    Raises:
        UsageError: it is neither.
    """
    return as_varied(*_taken_apart(text))


def _taken_apart(text: str) -> tuple[str, str]:
    path, equals, spec = text.partition("=")
    if not equals or not path.strip() or not spec.strip():
        raise UsageError(
            f"--vary takes PATH=LOW:HIGH, as in --vary link.path.loss.probability=0:0.1; this is {text!r}"
        )
    return path.strip(), spec


def as_varied(path: str, spec: str | Sequence[Any]) -> Range | Choice:
    """The range of one path, or its choices: a text with commas, as in `reno,sack`, or a list of texts or tables.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(spec, str):
        items = split_values(spec)
        chosen = len(items) > 1 or items[0].startswith(("{", "[", '"', "'"))
    else:
        chosen = isinstance(spec, Sequence) and any(parse_number(str(part)) is None for part in spec)
    if not chosen:
        return as_range(path, spec)
    values = variation(path, spec, named).values
    if len(values) < 2:
        raise UsageError(f"{path}: there is one value only, {values[0].shown}; a choice needs two or more")
    if len({type(value.shown) for value in values}) > 1:
        # A column of a table is of one type.
        values = tuple(Value(value.toml, str(value.shown)) for value in values)
    return Choice(path, values)


def as_range(path: str, spec: str | Sequence[Any]) -> Range:
    """The range of one path.

    Args:
        path: dotted path into the scenario.
        spec: a text, `0:0.1`, `10ms:50ms` or, in steps that end on the upper end, `1:9:2`; or its two or three
            numbers.

    Raises:
        UsageError: it is no range, or its lower end is not below the upper one.
    """
    if not isinstance(spec, str | Sequence):
        raise UsageError(f"{path}: {spec!r} is not a range; write a text, such as '10ms:50ms', or its two ends")
    parts = spec.split(":") if isinstance(spec, str) else [str(part) for part in spec]
    where = f"{path}: {spec if isinstance(spec, str) else ':'.join(parts)!s}"
    if len(parts) not in (2, 3):
        choices = (
            [] if isinstance(spec, str) and len(parts) > 1 else split_values(spec) if isinstance(spec, str) else parts
        )
        but = f"; {_CHOICES.format(','.join(choices))}" if len(choices) > 1 else ""
        raise UsageError(f"{where} is not a range; write LOW:HIGH, such as 0:0.1 or 10ms:50ms, or LOW:HIGH:STEP{but}")
    numbers = [parse_number(part) for part in parts]
    for part, number in zip(parts, numbers, strict=True):
        if number is None:
            raise UsageError(
                f"{where}: {part.strip()!r} is not a number; write a range of quantities, such as 10ms:50ms"
            )
    found = [number for number in numbers if number is not None]
    same = in_one_unit(found)
    if same is None:
        raise UsageError(f"{where}: both ends, and the step, must measure the same thing")
    (low, high, *steps), unit = same
    if low == high:
        raise UsageError(f"{where} has one value only; a range needs two ends")
    if low > high:
        raise UsageError(f"{where}: write the lower end first")
    step = steps[0] if steps else Decimal(0)
    if steps:
        if step <= 0 or low + step > high:
            of_list = "" if isinstance(spec, str) else f"; {_CHOICES.format(','.join(parts))}"
            raise UsageError(f"{where}: a step of {step} does not lead from {low} to {high}{of_list}")
        if (high - low) % step:
            raise UsageError(f"{where}: the steps do not reach the upper end")
    return Range(path, low, high, step, unit)


def ranges(vary: Mapping[str, str | Sequence[Any]]) -> list[Range]:
    """The API's `vary` argument as ranges."""
    return [as_range(path, spec) for path, spec in _of_paths(vary)]


def ranges_and_choices(vary: Mapping[str, str | Sequence[Any]]) -> list[Range | Choice]:
    """The API's `vary` argument as ranges and choices."""
    return [as_varied(path, spec) for path, spec in _of_paths(vary)]


def _of_paths(vary: Mapping[str, str | Sequence[Any]]) -> Iterable[tuple[str, str | Sequence[Any]]]:
    if not isinstance(vary, Mapping):
        raise UsageError(f"vary: {vary!r} is not a dictionary, such as {{'link.path.delay': '10ms:50ms'}}")
    return vary.items()


def stepped_ranges(
    varied: Sequence[_Varied], read: Source, settings: Overrides, *, color: bool = False
) -> list[_Varied]:
    """Ranges in steps that the scenario takes, and choices that it takes.

    Raises:
        UsageError: there is none, or a path stands twice.
        ScenarioError: a path or an end is not valid.
    """
    paths = [one.path for one in varied]
    if not paths:
        raise UsageError("nothing is varied; give the range of a path, as in --vary link.path.delay=10ms:50ms")
    check_paths(paths)
    return [one.stepped(read, settings, color=color) for one in varied]  # type: ignore[misc]


def written_value(scenario: Mapping[str, Any], path: str) -> Value | None:
    """What a scenario says at a path; `None` where it says nothing."""
    place: Any = scenario
    for step in path_steps(path):
        place = inner(place, step)
    return None if place is None else value_of(path, place)
