"""Results of `run` and `sweep`, which can be queried, drawn, reported and saved; and `run` itself."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamsim._roamsim import Scenario
from roamsim.errors import UsageError
from roamsim.files import Written, goes_with
from roamsim.running.run import run_loaded, traces
from roamsim.running.work import Listener
from roamsim.scenarios.reading import ScenarioLike, in_words_of_python, overrides, parse, parse_source, source
from roamsim.storing import store
from roamsim.tables import result

# What only some of the methods need is imported by these: a first run waits for none of it.
if TYPE_CHECKING:
    import polars


class Told:
    """The methods of all results: query, report, plot and save, in the words of the command line.

    `report` and `plot` return the path of their file; a notebook shows the file itself. Without `out` the file goes
    to the folder of the results, or to a temporary folder that lives as long as they do.
    """

    def _stored(self) -> store.Results:
        """The results in the form of a folder."""
        raise NotImplementedError

    @cached_property
    def _aside(self) -> Path:
        return goes_with(self, Path(tempfile.mkdtemp(prefix="roamsim-")))

    def __getstate__(self) -> dict[str, Any]:
        """Leaves the temporary folder out: a copy makes its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_aside"}

    def _written(self, path: Path) -> Written:
        return Written.of(path, self)

    def query(self, question: str) -> polars.DataFrame:
        """Answers a question in SQL (DuckDB's dialect) over the tables: `select * from flows`.

        Raises:
            UsageError: the question is not valid SQL; the message is DuckDB's.
            MissingExtra: install `roamsim[sql]`.
        """
        from roamsim.storing.queries import answer_of

        with in_words_of_python():
            return answer_of(self._stored(), question)

    def report(self, out: str | os.PathLike[str] | None = None) -> Written:
        """Writes the report, as `roamsim report` and `roamsim run --report` do: one HTML file that works offline.

        Args:
            out: the file; `report.html` by default.

        Raises:
            UsageError: the file's folder does not exist.
            MissingExtra: install `roamsim[report]`.
        """
        with in_words_of_python():
            from roamsim.reports import results

            target = Path(out) if out is not None else self._home() / "report.html"
            return self._written(results.write(self._stored(), target, follow=out is not None))

    def plot(
        self,
        what: str,
        out: str | os.PathLike[str] | None = None,
        *,
        flow: str | None = None,
        start_s: float | None = None,
        end_s: float | None = None,
        against: str | None = None,
        where: Sequence[str] = (),
        log: str | None = None,
        title: str | None = None,
        x_label: str | None = None,
        y_label: str | None = None,
        size: tuple[float, float] | None = None,
    ) -> Written:
        """Draws one figure, as `roamsim plot` does: `cwnd`, `segments`, `flows.goodput_bps`, ...

        Args:
            what: a trace or a metric.
            out: the file; its ending (.svg, .png, .pdf) chooses the format. `WHAT.svg` by default.
            flow: for a trace, the only flow to draw.
            start_s: for a trace, the begin of the time axis.
            end_s: for a trace, its end.
            against: for a metric, the metric along x.
            where: conditions on rows, such as `name=download` or `link.path.delay=10ms`.
            log: the logarithmic axes, `""`, `"x"`, `"y"` or `"xy"`; chosen from the values by default.
            title: above the figure; the scenario's name by default.
            x_label: text of the x axis.
            y_label: text of the y axis.
            size: width and height in inches.

        Raises:
            UsageError: the results are missing, or the ending is not .svg, .png or .pdf.
            MissingExtra: install `roamsim[plot]`.
        """
        with in_words_of_python():
            from roamsim.pictures.paper import Dress
            from roamsim.pictures.timeseries import Part
            from roamsim.reports.plot import Figured, usual_name, write

            dress = Dress(log, title, x_label, y_label, size)
            asked = Figured(Part(flow, start_s, end_s), against, tuple(where), dress)
            target = Path(out) if out is not None else self._home() / usual_name(what)
            return self._written(write(self._stored(), what, target, asked, follow=out is not None))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes a folder of Parquet tables and a manifest for `open_results`, `roamsim report`, `plot` and `query`.

        It has the format of `roamsim run --parquet` and `roamsim sweep --out`. A run replaces an earlier run in the
        folder; a sweep is added to the same sweep.

        Raises:
            UsageError: the folder holds something else, or is not writable.
        """
        from roamsim.storing import outputs
        from roamsim.storing.merging import merge

        with in_words_of_python():
            stored, target = self._stored(), Path(folder)
            if stored.manifest.kind == "run":
                with outputs.prepared(target):
                    store.replace_results(target, stored.manifest, stored.tables)
            elif stored.path.is_dir():
                merge([stored.path], target)
            else:
                raise UsageError(
                    f"there is no folder {os.fspath(stored.path)!r}, from which these results are saved. `roamsim "
                    "merge URL --out DIR` makes a folder of results at a URL. Save a sweep before you copy it to "
                    "another process, or give it a folder by `out`"
                )
        return target

    def _repr_html_(self) -> str:
        """The view of a notebook: the summary in words and units, with all tables folded."""
        from roamsim.pages import notebook

        stored = self._stored()
        return "".join((*self._came_out(stored), notebook.frames(stored.tables)))

    def _came_out(self, stored: store.Results) -> Iterator[str]:
        from roamsim.estimates import summaries
        from roamsim.estimates.findings import answered
        from roamsim.pages import notebook
        from roamsim.tables.overview import overviews, remarks
        from roamsim.tables.words import count, value_words

        manifest = stored.manifest
        runs = sum(point.replications for point in manifest.points)
        if manifest.kind == "run":
            length = value_words(manifest.canonical["scenario"]["duration"])
            yield notebook.title(manifest.scenario, f"{length}, seed {manifest.seed}, {count(runs, 'replication')}")
            yield from map(notebook.overview, overviews(stored.tables, runs))
            yield notebook.sentences(remarks(stored.tables))
            return
        points = count(len(manifest.points), "point")
        yield notebook.title(manifest.scenario, f"{points}, {count(runs, 'run')}, seed {manifest.seed}")
        yield notebook.sentences(answered(stored))
        for name, columns in summaries.TABLES:
            rows = summaries.summary(stored, name, columns)
            if rows:
                yield notebook.of_rows(name, rows)
        yield notebook.sentences([note for note in (stored.alike_in_words, *stored.failures.values()) if note])

    def _home(self) -> Path:
        """The folder for pages and figures of these results."""
        path = self._stored().path
        return path if path.is_dir() else self._aside


class Result(Told, result.Result):
    """The result of `run`: its tables and counts.

    Attributes:
        scenario: name of the scenario.
        seed: seed of all its replications.
        replications: their number; they count from 0.
        version: version of the simulator.
        events: events of all replications.
        wall_s: seconds of all runs, without start-up and building the network.
    """

    @classmethod
    def of(cls, made: result.Result, scenario: Scenario, text: str, traces: Sequence[str]) -> Result:
        """A result with its scenario, the scenario's text, and its traces."""
        told = cls(
            made.tables,
            scenario=made.scenario,
            seed=made.seed,
            replications=made.replications,
            events=made.events,
            wall_s=made.wall_s,
        )
        told._given = scenario, text, traces
        return told

    _given: tuple[Scenario, str, Sequence[str]] | None = None

    def _stored(self) -> store.Results:
        if self._given is None:
            raise UsageError("this result does not know its scenario; use the result that roamsim.run returns")
        from roamsim.storing import outputs

        scenario, text, traces = self._given
        return outputs.in_memory(scenario, self, None, text, [], traces)

    def _home(self) -> Path:
        return self._aside


class Results(Told, store.Results):
    """Tables of a folder, with the varied paths as columns after `point`.

    Attributes:
        path: the folder; a temporary one, which lives as long as these results, for a sweep without `out`.
        manifest: scenario, build, seed, command and points.
        made: for a sweep, the number of runs that this call made; the others were there already.
    """

    @classmethod
    def of(cls, stored: store.Results) -> Results:
        """The same results."""
        return cls(stored.path, stored.manifest, stored.tables, stored.made)

    def _stored(self) -> store.Results:
        return self


#: What `sweep` returns.
SweepResult = Results


def run(
    scenario: ScenarioLike,
    *,
    seed: int = 1,
    replications: int = 1,
    set: Mapping[str, Any] | None = None,
    allow_files_outside: bool = False,
    trace: str | Sequence[str] = (),
    pcap: str | os.PathLike[str] | None = None,
    pcap_at: str | Iterable[str] = (),
    pcap_frames: str | None = None,
    qlog: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Listener | None = None,
) -> Result:
    """Runs a scenario.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        seed: selects the random streams, 0 to 2^64 - 1. The same seed gives the same tables on any machine.
        replications: independent repetitions.
        set: values to replace, by dotted path: `{"link.path.delay": "50ms"}`.
        allow_files_outside: whether the scenario may name files outside its folder.
        trace: further records, such as `cwnd` (in table `samples`) or `segments`; `roamsim explain` lists all. Their
            rows are held in memory. `roamsim run --parquet` writes them to disk instead.
        pcap: the file of a pcapng capture, for one replication.
        pcap_at: the nodes whose sent and received packets it shows. Without it: packets at every interface, once a
            hop.
        pcap_frames: `all` for the 802.11 frames on the air instead of IP packets, or a node for the frames that its
            radio sends or hears.
        qlog: a folder for the qlog files of QUIC connections, one an end, for one replication.
        jobs: threads; all processors by default. Results do not depend on it.
        progress: called with the numbers of finished and of all replications whenever one finishes.

    Returns:
        The tables as polars frames, with rows in the order of replications.

    Raises:
        ScenarioError: the scenario is not valid.
        RunFailed: a run broke a rule of the simulator, such as the conservation of packets.
        UsageError: a missing file, an unknown trace, or an argument out of range.
    """
    with in_words_of_python():
        read, kinds = source(scenario, allow_files_outside=allow_files_outside), traces(trace)
        loaded = (
            parse(scenario, overrides(set)) if isinstance(scenario, Scenario) else parse_source(read, overrides(set))
        )
        made = run_loaded(
            loaded,
            seed=seed,
            replications=replications,
            trace=kinds,
            pcap=pcap,
            pcap_at=pcap_at,
            pcap_frames=pcap_frames,
            qlog=qlog,
            jobs=jobs,
            progress=progress,
        )
    return Result.of(made, loaded, read.text, kinds)
