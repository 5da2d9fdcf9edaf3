"""Folders whose digests are right and whose tables are not what a run leaves: they are refused when they are opened."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import SCENARIO
from roamsim import UsageError
from roamsim.storing.manifests import Damaged
from roamsim.storing.merging import merge
from roamsim.storing.parts import Parts

Change = Callable[[polars.DataFrame], polars.DataFrame]


def every(column: str, value: object) -> Change:
    """Has a column hold a value of its own type in each row."""
    return lambda frame: frame.with_columns(polars.lit(value, frame.schema[column]).alias(column))


#: A table, what is done to it, and what is said of it.
HOSTILE: dict[str, tuple[str, Change, str]] = {
    "infinite": ("flows", every("goodput_bps", float("inf")), r"flows\.goodput_bps has a value"),
    "no number": ("flows", every("mean_delay_s", float("nan")), r"flows\.mean_delay_s has a value"),
    "too large": ("links", every("mean_queue_packets", 1e308), r"links\.mean_queue_packets has a value"),
    "more than all": ("links", every("utilisation", 1.5), r"links\.utilisation has a value"),
    "less than nothing": ("links", every("utilisation", -0.5), r"links\.utilisation has a value"),
    "text that is missing": ("flows", every("name", None), r"flows\.name has a value"),
    "count that is missing": ("links", every("dropped_packets", None), r"links\.dropped_packets has a value"),
    "time that is missing": ("samples", every("time_s", None), r"samples\.time_s has a value"),
    "sample that is missing": ("samples", every("value", None), r"samples\.value has a value"),
    "share of fewer": ("signalling", every("successes", 10**6), r"signalling\.successes is larger than messages"),
    "negative count": ("flows", every("lost_packets", -2.0), r"flows\.lost_packets has a value"),
    "negative count of its own type": (
        "links",
        lambda frame: frame.with_columns(polars.lit(-3, polars.Int64).alias("dropped_packets")),
        r"links\.dropped_packets has a value",
    ),
    "truth for a number": (
        "flows",
        lambda frame: frame.with_columns(polars.lit(value=True).alias("goodput_bps")),
        "flows has no column 'goodput_bps' of its type",
    ),
    "instant beyond 64 bits": ("samples", every("time_s", 1e24), r"samples\.time_s has a value"),
    "instant before the run": ("samples", every("time_s", -1.0), r"samples\.time_s has a value"),
    "duration beyond 64 bits": ("flows", every("mean_delay_s", -1e20), r"flows\.mean_delay_s has a value"),
    "text for a number": (
        "flows",
        lambda frame: frame.with_columns(polars.col("goodput_bps").cast(polars.String)),
        "flows has no column 'goodput_bps' of its type",
    ),
    "list for a number": (
        "flows",
        lambda frame: frame.with_columns(polars.lit([[1.0]]).alias("goodput_bps")),
        "flows has no column 'goodput_bps' of its type",
    ),
    "number of another width": (
        "flows",
        lambda frame: frame.with_columns(polars.col("goodput_bps").cast(polars.Float32)),
        "flows has no column 'goodput_bps' of its type",
    ),
    "no value at all": (
        "flows",
        lambda frame: frame.with_columns(polars.lit(None).alias("goodput_bps")),
        "flows has no column 'goodput_bps' of its type",
    ),
    "missing column": ("links", lambda frame: frame.drop("utilisation"), "links has no column 'utilisation'"),
    "missing column of no rows": (
        "links",
        lambda frame: frame.clear().drop("utilisation"),
        "links has no column 'utilisation'",
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and a sweep."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "scenario.toml").write_text(SCENARIO)
    package.run(folder / "scenario.toml", trace=["cwnd", "segments"]).save(folder / "run")
    package.sweep(folder / "scenario.toml", {"link.path.delay": "10ms,20ms"}, out=folder / "sweep", trace=["cwnd"])
    return folder


def of_run(folder: Path, table: str, change: Change) -> None:
    """Changes a table of a run, and its digest with it."""
    file = folder / f"{table}.parquet"
    change(polars.read_parquet(file)).write_parquet(file)
    tree = json.loads((folder / "manifest.json").read_text())
    tree["tables"][table] = hashlib.sha256(file.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(tree))


def of_part(folder: Path, table: str, change: Change) -> None:
    """Changes a table of each part of a sweep; the archive says that each is whole."""
    for part in (folder / "parts").glob("*.zip"):
        with zipfile.ZipFile(part) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        if (name := f"{table}.parquet") in members:
            octets = io.BytesIO()
            change(polars.read_parquet(members[name])).write_parquet(octets)
            members[name] = octets.getvalue()
        with zipfile.ZipFile(part, "w") as archive:
            for name, whole in members.items():
                archive.writestr(name, whole)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_table_that_no_run_leaves_is_refused(made: Path, tmp_path: Path, case: str) -> None:
    table, change, complaint = HOSTILE[case]
    shutil.copytree(made / "run", tmp_path / "run")
    of_run(tmp_path / "run", table, change)
    with pytest.raises(Damaged, match=complaint):
        package.open_results(tmp_path / "run")
    shutil.copytree(made / "sweep", tmp_path / "sweep")
    of_part(tmp_path / "sweep", table, change)
    with pytest.raises(Damaged, match=complaint):
        package.open_results(tmp_path / "sweep")


@pytest.mark.parametrize("case", ["infinite", "too large", "text for a number"])
def test_merging_and_studies_refuse_it_too(made: Path, tmp_path: Path, case: str) -> None:
    table, change, complaint = HOSTILE[case]
    shutil.copytree(made / "sweep", tmp_path / "sweep")
    of_part(tmp_path / "sweep", table, change)
    with pytest.raises(Damaged, match=complaint):
        merge([tmp_path / "sweep"], tmp_path / "all")
    # As studies read their runs.
    with pytest.raises(Damaged, match=complaint):
        Parts(tmp_path / "sweep").rows(table)


def test_what_a_study_measures_is_a_text_or_a_finite_number(made: Path, tmp_path: Path) -> None:
    for number, value in enumerate((polars.lit(float("inf")), polars.lit(1e300), polars.lit([[1.0]]))):
        shutil.copytree(made / "sweep", tmp_path / f"{number}")
        of_part(tmp_path / f"{number}", "flows", lambda frame, value=value: frame.with_columns(measured=value))
        with pytest.raises(Damaged, match="measured"):
            Parts(tmp_path / f"{number}").rows("flows")


def test_parts_of_a_course_have_a_beginning_and_an_end(made: Path, tmp_path: Path) -> None:
    for column in ("begin_s", "end_s"):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        shutil.copytree(made / "run", tmp_path / "run")
        of_run(tmp_path / "run", "series", every(column, None))
        with pytest.raises(Damaged, match=rf"series\.{column} has a value"):
            package.open_results(tmp_path / "run")


def test_samples_that_were_never_set_are_no_figure(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "run")
    of_run(tmp_path / "run", "samples", every("value", 1e24))
    found = package.open_results(tmp_path / "run")
    with pytest.raises(UsageError, match="it was never set"):
        found.plot("cwnd")
    assert "samples-cwnd" not in found.report(tmp_path / "report.html").read_text()


def test_events_of_unknown_names_are_left_out_of_a_report(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "run")
    of_run(tmp_path / "run", "segments", every("event", "nonsense"))
    page = package.open_results(tmp_path / "run").report(tmp_path / "report.html").read_text()
    assert "samples-cwnd" in page
    assert "samples-segments" not in page


def test_what_a_run_leaves_is_taken(made: Path) -> None:
    for name in ("run", "sweep"):
        assert package.open_results(made / name).flows.height
