"""Results of `compare`, `optimise` and `sensitivity`: the answer, with the runs behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from roamsim.estimates import comparisons, optima, sensitivities
from roamsim.estimates.comparisons import MEANS
from roamsim.pages import notebook
from roamsim.results import Results, Told
from roamsim.storing import store

if TYPE_CHECKING:
    import pandas
    import polars


class _Answer(Told):
    """An answer with its `results`; query, plot, report and save work on them."""

    results: Results
    sentences: list[str]
    notes: list[str]

    def _stored(self) -> store.Results:
        return self.results

    def to_pandas(self, table: str) -> pandas.DataFrame:
        """One table of the runs as a pandas frame, as `SweepResult.to_pandas`."""
        return self.results.to_pandas(table)

    def estimate(self, table: str, column: str, by: Sequence[str] | None = None) -> polars.DataFrame:
        """Means over replications of a column of the runs, with 95 % intervals, as `SweepResult.estimate`."""
        return self.results.estimate(table, column, by)

    def _came_out(self, stored: store.Results) -> Iterator[str]:
        yield notebook.title(stored.manifest.scenario, ", ".join(stored.varied))
        yield notebook.sentences((*self.sentences, *self.notes))


class Comparison(_Answer, comparisons.Comparison):
    """The result of `compare`: sentences, means and differences, with the `results` of all runs."""

    results: Results

    def _came_out(self, stored: store.Results) -> Iterator[str]:
        yield from super()._came_out(stored)
        for target in self.targets:
            words, rows = self.shown_means(target)
            yield notebook.table(target.name, [*words, *MEANS], rows, len(words))
        yield notebook.folded("Differences", self.differences._repr_html_())


class Optimum(_Answer, optima.Optimum):
    """The result of `optimise`: the winner and its confirmation, with the `results` of all runs."""

    results: Results


class Sensitivity(_Answer, sensitivities.Sensitivity):
    """The result of `sensitivity`: indices with intervals, with the `results` of all runs."""

    results: Results
