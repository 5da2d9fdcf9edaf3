"""Estimates from a study's runs, by experiment, metric and point."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import product
from typing import Any

import polars

from roamsim import statistics
from roamsim.statistics import Estimate
from roamsim.storing.parts import Parts
from roamsim.study.entries import Comparison, Label, of_alternative
from roamsim.study.judging import Place
from roamsim.study.metric import Metric, Row, Share, estimate_of, value_of, values_of
from roamsim.study.runs import Planned
from roamsim.tables import caveats
from roamsim.tables.metrics import metrics

__all__ = ["Data", "Metric", "Row", "Selection", "Share", "paired", "value_of"]

#: Digits of a digest that are kept (chosen: sixteen make two of a kind as good as impossible).
DIGEST_DIGITS = 16

Selection = Label | Sequence[Label]
"""The label, or the labels, that a dimension must have."""


class Data:
    """The rows of every experiment; replications are the samples of each estimate."""

    def __init__(self, planned: Sequence[Planned], runs: Parts, places: Mapping[str, str]) -> None:
        self._places = places
        self._rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self._tables = {one.experiment.id: one.experiment.table for one in planned}
        self._labels: dict[str, dict[str, list[Label]]] = {}
        self._read: set[str] = set()
        self._views: dict[str, Data] = {}
        by_key: dict[str, dict[str, list[dict[str, Any]]]] = {}
        keys: dict[str, set[str]] = {}
        for one in planned:
            for table in (one.experiment.table, *one.experiment.tables):
                keys.setdefault(table, set()).add(one.key)
        for one in planned:
            experiment = one.experiment
            labels = self._labels.setdefault(experiment.id, {})
            for name, label in one.point.labels.items():
                known = labels.setdefault(name, [])
                if label not in known:
                    known.append(label)
            for table in (experiment.table, *experiment.tables):
                if table not in by_key:
                    by_key[table] = {}
                    for row in _by_replication(runs.rows_of_each(table, keys[table])):
                        by_key[table].setdefault(row["key"], []).append(row)
                self._rows.setdefault((experiment.id, table), []).extend(
                    {**row, **one.point.labels, "experiment": experiment.id}
                    for row in by_key[table].get(one.key, [])
                    if row["replication"] < one.replications
                )

    @property
    def experiments_read(self) -> set[str]:
        """The experiments that were asked for since this was last cleared."""
        return self._read

    @cached_property
    def runs_read(self) -> set[str]:
        """The keys of the runs whose rows were asked for since this was last cleared, of all views together."""
        return set()

    def has(self, alternative: str) -> bool:
        """Whether an alternative was run at this level."""
        return any(one.endswith(of_alternative("", alternative)) for one in self._tables)

    def under(self, alternative: str) -> Data:
        """The same where the experiments of an alternative stand in place of those that they run again."""
        if alternative in self._views:
            return self._views[alternative]
        _ = self.runs_read
        view = self._views[alternative] = copy(self)
        ending = of_alternative("", alternative)
        again = {one.removesuffix(ending) for one in self._tables if one.endswith(ending)}
        view._rows = {
            (experiment, table): [
                {**row, "experiment": experiment} for row in self._rows.get((f"{experiment}{ending}", table), [])
            ]
            if experiment in again
            else rows
            for (experiment, table), rows in self._rows.items()
        }
        view._labels = {**self._labels, **{one: self._labels[f"{one}{ending}"] for one in again}}
        view.__dict__.pop("_indices", None)
        return view

    def rows(self, experiment: str, **where: Selection) -> list[dict[str, Any]]:
        """The rows whose labels are as asked for, in the order of points and replications."""
        return self.rows_of(experiment, self._tables.get(experiment, ""), **where)

    def rows_of(self, experiment: str, table: str, **where: Selection) -> list[dict[str, Any]]:
        """The same of another table that the experiment keeps."""
        self._read.add(experiment)
        rows = self._rows.get((experiment, table), [])
        found = list(rows)
        if where:
            index = self._by_labels_of(experiment, table, tuple(where))
            keys = set(product(*map(_many, where.values())))
            places = [place for key in keys for place in index.get(key, ())]
            found = [rows[place] for place in (sorted(places) if len(keys) > 1 else places)]
        self.runs_read.update(row.get("key", "") for row in found)
        return found

    @cached_property
    def _indices(self) -> dict[tuple[str, str, tuple[str, ...]], dict[tuple[Label | None, ...], list[int]]]:
        return {}

    def _by_labels_of(
        self, experiment: str, table: str, names: tuple[str, ...]
    ) -> dict[tuple[Label | None, ...], list[int]]:
        """The places of a table's rows by their values of some dimensions or columns."""
        index = self._indices.get((experiment, table, names))
        if index is None:
            index = self._indices[experiment, table, names] = {}
            for place, row in enumerate(self._rows.get((experiment, table), [])):
                index.setdefault(tuple(row.get(name) for name in names), []).append(place)
        return index

    def columns(self) -> dict[str, list[str]]:
        """The columns of each table that experiments keep."""
        found: dict[str, set[str]] = {}
        for (_, table), rows in self._rows.items():
            found.setdefault(table, set()).update(*rows)
        # The key names the build, not what came out.
        return {table: sorted(names - {"key"}) for table, names in sorted(found.items())}

    def digest(self, experiment: str, columns: Mapping[str, Sequence[str]]) -> str:
        """The SHA-256 of an experiment's rows in some columns of each table: the same when they are, to the bit."""
        digest = hashlib.sha256()
        for (owner, table), rows in sorted(self._rows.items()):
            if owner == experiment:
                names = sorted(columns.get(table, ()))
                for row in rows:
                    # `repr` of a float tells it from every other one.
                    kept = [(name, repr(row[name])) for name in names if name in row]
                    digest.update(repr((table, kept)).encode())
        return digest.hexdigest()[:DIGEST_DIGITS]

    def labels(self, experiment: str, dimension: str) -> list[Label]:
        """The values that a dimension takes, in the order of the definition."""
        return self._labels[experiment][dimension]

    def samples(self, experiment: str, metric: Metric, **where: Selection) -> list[float]:
        """One number a replication (and point, where several are chosen); missing ones are NaN."""
        return values_of(self.rows(experiment, **where), metric)

    def estimate(self, experiment: str, metric: Metric, **where: Selection) -> Estimate:
        """Mean over the replications of one point, or a share of all their trials, with its 95 % interval.

        Where several points are chosen, each row is a sample. Those of a replication have met the same draws: unless
        it is the points that are sampled, as patterns are, `together` is what tells.
        """
        return estimate_of(self.rows(experiment, **where), metric)

    def missing(self, experiment: str, column: str, **where: Selection) -> list[float]:
        """Of a mean over what arrived, the share that each row is without; nothing of other columns."""
        table, rows = self._tables.get(experiment, ""), self.rows(experiment, **where)
        for metric in metrics():
            over = metric.over or ()
            if over and (metric.table, metric.column) == (table, column) and rows and set(over) <= rows[0].keys():
                counts = [{name: row[name] for name in over} for row in rows]
                return [caveats.missing(metric, {name: [value] for name, value in row.items()}) for row in counts]
        return []

    def together(self, experiment: str, metric: Metric, **where: Selection) -> Estimate:
        """The same of several points, with replications as the samples: rows of one may depend on each other.

        A share of counted trials is given as a `Share`.
        """
        if isinstance(metric, Share):
            return statistics.share(*self.counts(experiment, metric, **where))
        return statistics.sum_of_means([(1.0, self.clusters(experiment, metric, **where))])

    def clusters(self, experiment: str, metric: Metric, **where: Selection) -> dict[int, list[float]]:
        """The values of each replication at all points that are chosen; missing ones are NaN."""
        found: dict[int, list[float]] = {}
        rows = self.rows(experiment, **where)
        for row, value in zip(rows, values_of(rows, metric), strict=True):
            found.setdefault(row["replication"], []).append(value)
        return found

    def counts(self, experiment: str, share: Share, **where: Selection) -> tuple[list[int], list[int]]:
        """What a share counts at all points that are chosen, and its trials: one number a replication."""
        both = [self.clusters(experiment, part, **where) for part in (share.of, share.trials)]
        of, trials = ([int(math.fsum(values)) for _, values in sorted(part.items())] for part in both)
        return of, trials

    def curve(self, experiment: str, metric: Metric, x: str, **where: Selection) -> dict[float, Estimate]:
        """The estimate at each value of a numeric dimension, in ascending order."""
        found: dict[float, list[Row]] = {}
        for row in self.rows(experiment, **where):
            found.setdefault(float(row[x]), []).append(row)
        return {at: estimate_of(rows, metric) for at, rows in sorted(found.items())}

    def place(self, x: str) -> Place:
        """How a value of a numeric dimension is written: `an RTT of 0.46 s`, from `places` of the study."""
        written = self._places.get(x, f"{x} = {{}}")
        return lambda at: written.replace("{}", f"{at:g}")

    def by_replication(self, experiment: str, metric: Metric, **where: Selection) -> dict[int, float]:
        """The value of one point in each replication."""
        rows = self.rows(experiment, **where)
        return dict(zip((row["replication"] for row in rows), values_of(rows, metric), strict=True))

    def compared(
        self, experiment: str, metric: Metric, how: Comparison, other: Mapping[str, Selection], **where: Selection
    ) -> Estimate:
        """A point beside another one, in pairs: both met the same losses in a replication.

        Where several points are chosen, those pair up that have all other labels in common, and each pair is a
        sample, as of `estimate`.

        Args:
            experiment: whose runs.
            metric: what is compared.
            how: `less`, `over` or `gain_over`.
            other: labels that the other point has instead, or its `experiment`.
            where: the labels of the point.
        """
        there = {**where, **other}
        elsewhere = str(there.pop("experiment", experiment))
        common = [name for name in self._labels[experiment] if name in self._labels[elsewhere] and name not in other]
        ours, others = (
            self._by_labels(of, metric, common, at) for of, at in ((experiment, where), (elsewhere, there))
        )
        order = [key for key in ours if key in others]
        pairs = [others[key] for key in order], [ours[key] for key in order]
        if how == "less":
            return statistics.paired_difference(*pairs)
        change = statistics.paired_ratio(*pairs)
        if how == "gain_over":
            return change
        return change.shifted(1)

    def _by_labels(
        self, experiment: str, metric: Metric, names: Sequence[str], where: Mapping[str, Selection]
    ) -> dict[tuple[Label, ...], float]:
        """The value of each replication of each point, by these labels."""
        rows = self.rows(experiment, **where)
        keys = (tuple(row[name] for name in ("replication", *names)) for row in rows)
        return dict(zip(keys, values_of(rows, metric), strict=True))


def paired(function: Callable[..., float], *columns: Mapping[int, float]) -> Estimate:
    """Mean over replications of a function of values that belong together, with its 95 % interval."""
    common = sorted(set.intersection(*(set(column) for column in columns)))
    return statistics.mean([function(*(column[replication] for column in columns)) for replication in common])


def _by_replication(frame: polars.DataFrame) -> Iterable[dict[str, Any]]:
    return frame.sort("replication", maintain_order=True).iter_rows(named=True) if frame.height else ()


def _many(wanted: Selection) -> Iterable[Label]:
    return wanted if isinstance(wanted, list | tuple) else [wanted]  # type: ignore[list-item]
