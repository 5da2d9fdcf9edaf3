"""What functions of the package return: tables that can be asked, drawn, reported and saved. And a run of them."""

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
from roamsim.running.work import Progress
from roamsim.scenarios.reading import ScenarioLike, in_words_of_python, overrides, parse, parse_source, source
from roamsim.storing import store
from roamsim.tables import result

# What only some of the methods need is imported by these: a first run waits for none of it.
if TYPE_CHECKING:
    import polars


class Told:
    """What can be asked of results, and made of them, in the words of the command line.

    A page or a figure is written to a file, and its path returned; at the end of a notebook's cell the notebook shows
    the file. Unless a file is named it goes to the folder of the results, or of results that have none to a temporary
    one that goes with them.
    """

    def _stored(self) -> store.Results:
        """The results as a folder has them."""
        raise NotImplementedError

    @cached_property
    def _aside(self) -> Path:
        return goes_with(self, Path(tempfile.mkdtemp(prefix="roamsim-")))

    def __getstate__(self) -> dict[str, Any]:
        """For copies and other processes, which make temporary folders of their own."""
        return {name: value for name, value in self.__dict__.items() if name != "_aside"}

    def _written(self, path: Path) -> Written:
        return Written.of(path, self)

    def query(self, question: str) -> polars.DataFrame:
        """Answers a question in SQL (DuckDB's) over the tables, for instance `select * from flows`.

        Raises:
            UsageError: the text is no question, or it is not valid SQL; the text is DuckDB's.
            MissingExtra: `pip install 'roamsim[sql]'` brings what is missing.
        """
        from roamsim.storing.queries import answer_of

        with in_words_of_python():
            return answer_of(self._stored(), question)

    def report(self, out: str | os.PathLike[str] | None = None) -> Written:
        """Writes the report, as `roamsim report` and `roamsim run --report` do: one HTML file that works offline.

        Args:
            out: the file; `report.html` unless given.

        Raises:
            UsageError: the file's folder does not exist.
            MissingExtra: `pip install 'roamsim[report]'` brings what is missing.
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
            what: what is drawn.
            out: the file, whose ending (.svg, .png, .pdf) chooses the format; `WHAT.svg` unless given.
            flow: of a trace, the only flow that is drawn.
            start_s: of a trace, where the time axis begins.
            end_s: of a trace, where it ends.
            against: of a metric, the one that is drawn along x.
            where: conditions on rows, as `name=download` or `link.path.delay=10ms`.
            log: the axes that are logarithmic, `""`, `"x"`, `"y"` or `"xy"`; by the values unless given.
            title: above the figure; the scenario's name unless given.
            x_label: below the axes, instead of what they show.
            y_label: beside them, instead of what they show.
            size: width and height in inches.

        Raises:
            UsageError: there are no such results, or another ending than .svg, .png and .pdf.
            MissingExtra: `pip install 'roamsim[plot]'` brings what is missing.
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
        """Writes a folder with all tables as Parquet and a manifest, which `open_results` reads again.

        It is what `roamsim run --parquet` and `roamsim sweep --out` write, so that `roamsim report`, `plot` and
        `query` take it too. Results of an earlier run in it are replaced; a sweep is added to the same sweep.

        Raises:
            UsageError: the folder holds something else, or cannot be written to.
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
                    f"there is no folder {os.fspath(stored.path)!r}, from which these results are saved. Of results "
                    "at a URL, `roamsim merge URL --out DIR` makes a folder. Save a sweep before you copy it to "
                    "another process, or give it a folder by `out`"
                )
        return target

    def _repr_html_(self) -> str:
        """What a notebook shows: what came out, in words and units; everything else is folded."""
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
        """Where what is made of the results goes."""
        path = self._stored().path
        return path if path.is_dir() else self._aside


class Result(Told, result.Result):
    """What `run` returns: the tables, how the run went, and what can be made of them.

    Attributes:
        scenario: name of the scenario.
        seed: seed of all its replications.
        replications: how many there are, numbered from 0.
        version: version of the simulator.
        events: events worked off, over all replications.
        wall_s: seconds that the runs took, added up; start-up and building of the network excluded.
    """

    @classmethod
    def of(cls, made: result.Result, scenario: Scenario, text: str, traces: Sequence[str]) -> Result:
        """The same result, with the scenario that was run, its text as it was given, and what was recorded."""
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
            raise UsageError("nothing says of which scenario this is the result; roamsim.run returns one that knows")
        from roamsim.storing import outputs

        scenario, text, traces = self._given
        return outputs.in_memory(scenario, self, None, text, [], traces)

    def _home(self) -> Path:
        return self._aside


class Results(Told, store.Results):
    """Tables of a folder, with what was varied as columns after `point`, and what can be made of them.

    Attributes:
        path: the folder; of a sweep that was given none, a temporary one that goes with these results.
        manifest: how the results came about.
        made: of a sweep, the runs that this call made; the others were there already.
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
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario.

    Args:
        scenario: a path, TOML or JSON text, a dictionary, or a `Scenario`.
        seed: selects the random streams, 0 to 2^64 - 1; the same seed gives the same tables on any machine.
        replications: independent repetitions.
        set: values to replace, by dotted path, as in `{"link.path.delay": "50ms"}`.
        allow_files_outside: whether the scenario may name files outside of its folder.
        trace: what to record beside the usual tables, such as `cwnd` (in the table `samples`) or `segments` (in one
            of the same name); `roamsim explain` lists all of them. Its rows are held in memory; those of
            `roamsim run --parquet` are written to disk as they come.
        pcap: where to write a pcapng capture; for one replication.
        pcap_at: the nodes whose packets it shows, sent and received: each end's own view. Left out: the packets at
            every interface, each once a hop.
        pcap_frames: what it shows instead of the IP packets at every interface: `all` the 802.11 frames on the air of
            Wi-Fi cells, or the name of a node whose radio sends or hears them.
        jobs: threads over which replications are spread; all processors unless said otherwise. Results do not
            depend on it.
        progress: hears how many replications are done.

    Returns:
        The tables, one polars frame each, their rows in the order of replications; and what can be made of them.

    Raises:
        ScenarioError: the scenario is not valid.
        RunFailed: a run broke a rule of the simulator, such as the conservation of packets.
        UsageError: a file that does not exist, an unknown trace, or an argument out of its range.
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
            jobs=jobs,
            progress=progress,
        )
    return Result.of(made, loaded, read.text, kinds)
