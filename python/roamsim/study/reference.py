"""Reference results of a study: the values, verdicts and checks that later runs are compared with.

They lie in the study's folder, `reference-quick.json` and `reference-full.json`, one result a line. They hold a
digest of each experiment's rows, and the verdict of each statement with every measured value and its 95 % interval.
Equal digests mean rows that are equal to the bit, in the columns that there were: a table may get more. Values
follow from the rows by means and quantiles, whose last digits depend on the platform; two values are the same when
they agree to `SAME`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roamsim.errors import UsageError
from roamsim.files import write_whole
from roamsim.study.definition import replications
from roamsim.study.full import path_of
from roamsim.study.judging import Value
from roamsim.study.publish import Outcome, plain
from roamsim.tables.words import count

#: Relative difference of two values that are the same (chosen: some hundred roundings of a double).
SAME = 1e-12


@dataclass(frozen=True)
class Moved:
    """Something that is not as in the reference.

    Attributes:
        where: a statement with the value's name, an experiment, or a check.
        before: in the reference; empty where it was not there.
        now: in these runs; empty where it is not there any more.
    """

    where: str
    before: str
    now: str

    def __str__(self) -> str:
        if not self.before:
            return f"{self.where}: new, {self.now}"
        return f"{self.where}: {self.before} -> {self.now}" if self.now else f"{self.where}: gone, was {self.before}"


@dataclass(frozen=True)
class Comparison:
    """A study's run beside its reference results.

    Attributes:
        outcome: the run.
        file: the reference.
        made: version and commit that the reference was made with.
        moved: what is not the same; empty when all is.
    """

    outcome: Outcome
    file: Path
    made: str
    moved: Sequence[Moved]

    def to_json(self) -> str:
        """The object that `roamsim study compare NAME --json` prints."""
        moved = [{"where": one.where, "before": one.before, "now": one.now} for one in self.moved]
        tree = {"study": self.outcome.study.name, "level": self.outcome.level, "moved": moved}
        return json.dumps(tree, ensure_ascii=False)

    def summary(self) -> str:
        """What a terminal shows."""
        head = f"{self.outcome.study.name} ({self.outcome.level}) beside the reference of {self.made}"
        if not self.moved:
            experiments, statements = len(self.outcome.study.experiments), len(self.outcome.statements)
            same = f"{count(experiments, 'experiment')}, {count(statements, 'statement')}"
            return f"{head}: equal to the bit in {same} and all checks"
        return "\n".join(
            [
                f"{head}: {count(len(self.moved), 'difference')}",
                *(f"  {one}" for one in self.moved),
            ]
        )


def compare(outcome: Outcome) -> Comparison:
    """Holds a run against the reference results of its study and level.

    Raises:
        UsageError: there are none, or the file is malformed.
    """
    file = path_of(outcome.study, outcome.level)
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
        moved = list(_moved(before, _kept(outcome, before["columns"])))
        made = before["made_with"]
    except FileNotFoundError:
        raise UsageError(f"{file}: there are no reference results; --update writes them") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file}: these are not reference results ({error}); --update writes them again") from None
    return Comparison(outcome, file, made, moved)


def update(outcome: Outcome) -> Path:
    """Makes a run the reference of its study and level, and returns the file.

    Raises:
        OSError: the study's folder cannot be written to.
    """
    return write_whole(
        path_of(outcome.study, outcome.level), f"{_written(_kept(outcome, outcome.data.columns()))}\n".encode()
    )


def _written(kept: Mapping[str, Any]) -> str:
    """What is kept, as JSON with one experiment, check or measured value a line."""

    def row(entry: Any) -> str:
        return json.dumps(entry, ensure_ascii=False, allow_nan=False)

    def rows(entries: Mapping[str, str]) -> str:
        return "{\n" + ",\n".join(f"{row(name)}: {text}" for name, text in entries.items()) + "\n}"

    def statement(one: Mapping[str, Any]) -> str:
        head = row({key: entry for key, entry in one.items() if key != "values"})[:-1]
        return f'{head}, "values": [\n' + ",\n".join(f" {row(value)}" for value in one["values"]) + "]}"

    parts = {
        name: rows({key: statement(one) if name == "statements" else row(one) for key, one in part.items()})
        if isinstance(part, Mapping)
        else row(part)
        for name, part in kept.items()
    }
    return rows(parts)


def _kept(outcome: Outcome, columns: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """What the reference keeps of a run; its digests are of some columns of each table."""
    made = [f"roamsim {outcome.version}", outcome.made_with.get("commit", "")]
    kept: dict[str, Any] = plain(
        {
            "made_with": ", ".join(filter(None, made)),
            "seed": outcome.seed,
            "columns": columns,
            "experiments": {
                e.id: outcome.data.digest(e.id, columns)
                for e in outcome.study.experiments
                if replications(e, outcome.level)
            },
            "statements": {
                statement["id"]: {
                    "verdict": statement["verdict"],
                    "values": [list(value.values()) for value in statement["values"]],
                    **({"turned_by": statement["turned_by"]} if statement["turned_by"] else {}),
                }
                for statement in outcome.statements
            },
            "checks": {check.what: check.measured for check in outcome.checks},
        }
    )
    return kept


def _moved(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Moved]:
    if before["seed"] != now["seed"]:
        yield Moved("seed", str(before["seed"]), str(now["seed"]))
    for name in _names(before["statements"], now["statements"]):
        was, is_ = before["statements"].get(name), now["statements"].get(name)
        words, values = (was or {}).get("verdict", ""), _values(was)
        if words != (is_ or {}).get("verdict", ""):
            yield Moved(f"statement {name}, verdict", words, (is_ or {}).get("verdict", ""))
        turned = ["; ".join((one or {}).get("turned_by", [])) for one in (was, is_)]
        if was and is_ and turned[0] != turned[1]:
            yield Moved(f"statement {name}, what turns it round", *(words or "nothing" for words in turned))
        current = _values(is_)
        for what in _names(values, current):
            if not _same(values.get(what), current.get(what)):
                yield Moved(
                    f"statement {name}, {what}", *(str(v) if v else "" for v in (values.get(what), current.get(what)))
                )
    for name in _names(before["checks"], now["checks"]):
        pair = [_value(name, [side[name]]) if name in side else None for side in (before["checks"], now["checks"])]
        if not _same(*pair):
            yield Moved(f"check, {name}", *(str(value) if value else "" for value in pair))
    for name in _names(before["experiments"], now["experiments"]):
        pair_of_digests = before["experiments"].get(name, ""), now["experiments"].get(name, "")
        if pair_of_digests[0] != pair_of_digests[1]:
            yield Moved(f"runs of experiment {name}", *(digest and f"digest {digest}" for digest in pair_of_digests))


def _names(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*before, *now]))


def _values(statement: Mapping[str, Any] | None) -> dict[str, Value]:
    """The values of a statement by what they are, those of one name told apart by a number."""
    found: dict[str, Value] = {}
    for what, *numbers in statement["values"] if statement else ():
        name, n = what, 2
        while name in found:
            name, n = f"{what} ({n})", n + 1
        found[name] = _value(what, numbers)
    return found


def _value(what: str, numbers: Sequence[float | None]) -> Value:
    return Value(what, *(math.nan if number is None else number for number in numbers))


def _same(before: Value | None, now: Value | None) -> bool:
    if before is None or now is None:
        return before is now
    pairs = zip((before.mean, before.low, before.high), (now.mean, now.low, now.high), strict=True)
    return all(math.isclose(a, b, rel_tol=SAME) or (math.isnan(a) and math.isnan(b)) for a, b in pairs)
