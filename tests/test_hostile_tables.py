"""Folders whose digests are right and whose tables are not what a run leaves: they are refused when they are opened."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import SCENARIO, Command, run_command
from roamsim import UsageError, study
from roamsim.storing.manifests import Damaged
from roamsim.storing.merging import merge
from roamsim.storing.parts import Parts
from small_study import FILES

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
    """Folders of each kind: a run, one whose traces went through a spool, a sweep, merged shards, a study."""
    folder = tmp_path_factory.mktemp("made")
    scenario = folder / "scenario.toml"
    scenario.write_text(SCENARIO)
    vary = {"link.path.delay": "10ms,20ms"}
    package.run(scenario, trace=["cwnd", "segments"]).save(folder / "run")
    run_command("run", scenario, "--trace", "cwnd,segments", "--parquet", folder / "spooled", cwd=folder)
    package.sweep(scenario, vary, out=folder / "sweep", trace=["cwnd"])
    for number in (1, 2):
        package.sweep(scenario, vary, out=folder / f"{number}", trace=["cwnd"], shard=f"{number}/2")
    package.merge([folder / "1", folder / "2"], folder / "merged")
    (folder / "definition").mkdir()
    for name, text in FILES.items():
        (folder / "definition" / name).write_text(text)
    study.run(folder / "definition", level="quick", out=folder / "study")
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


def without(folder: Path, table: str) -> None:
    """Takes a table out of each part."""
    for part in (folder / "parts").glob("*.zip"):
        with zipfile.ZipFile(part) as archive:
            members = {name: archive.read(name) for name in archive.namelist() if name != f"{table}.parquet"}
        with zipfile.ZipFile(part, "w") as archive:
            for name, whole in members.items():
                archive.writestr(name, whole)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_table_that_no_run_leaves_is_refused(made: Path, tmp_path: Path, case: str) -> None:
    table, change, complaint = HOSTILE[case]
    for kind, damage in {"run": of_run, "spooled": of_run, "sweep": of_part, "merged": of_part}.items():
        shutil.copytree(made / kind, tmp_path / kind)
        damage(tmp_path / kind, table, change)
        with pytest.raises(Damaged, match=complaint):
            package.open_results(tmp_path / kind)


#: What is done to the tables of the study, which has no flows and no samples.
OF_STUDY = {case: what for case, what in HOSTILE.items() if what[0] in ("links", "signalling")} | {
    "infinite": ("signalling", every("mean_delay_s", float("inf")), r"signalling\.mean_delay_s has a value"),
    "text for a number": (
        "signalling",
        lambda frame: frame.with_columns(polars.col("mean_delay_s").cast(polars.String)),
        "signalling has no column 'mean_delay_s' of its type",
    ),
}


@pytest.mark.parametrize("case", OF_STUDY)
def test_a_study_goes_on_with_no_such_table(made: Path, tmp_path: Path, case: str) -> None:
    table, change, complaint = OF_STUDY[case]
    shutil.copytree(made / "study", tmp_path / "study")
    of_part(tmp_path / "study", table, change)
    with pytest.raises(Damaged, match=complaint):
        study.run(made / "definition", level="quick", out=tmp_path / "study")
    with pytest.raises(Damaged, match=complaint):
        package.query(tmp_path / "study", f"select * from {table}", study=made / "definition")

    def merged_and_gone_on_with() -> None:
        # A column that another build did not have is missed by who asks for it, and not before.
        merge([tmp_path / "study"], tmp_path / "all")
        study.run(made / "definition", level="quick", out=tmp_path / "all")

    with pytest.raises(Damaged, match=complaint):
        merged_and_gone_on_with()


@pytest.mark.parametrize("table", ["links", "signalling"])
def test_a_study_goes_on_with_no_part_that_lacks_a_table(made: Path, tmp_path: Path, table: str) -> None:
    shutil.copytree(made / "study", tmp_path / "study")
    without(tmp_path / "study", table)
    with pytest.raises(Damaged, match=f"it has no table '{table}'"):
        study.run(made / "definition", level="quick", out=tmp_path / "study")
    with pytest.raises(Damaged, match=f"it has no table '{table}'"):
        package.query(tmp_path / "study", "select 1", study=made / "definition")


def older(folder: Path, table: str, column: str) -> None:
    """Makes the parts of a folder those of a build that had no such column, whose runs have other keys."""
    of_part(folder, table, lambda frame: frame.drop(column).with_columns(key="old " + polars.col("key")))
    for name in {"links", "signalling", "flows", "runs"} - {table}:
        of_part(folder, name, lambda frame: frame.with_columns(key="old " + polars.col("key")))


def test_parts_of_a_build_without_a_column_stay_unused(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "study", tmp_path / "study")
    older(tmp_path / "study", "links", "sent_packets")
    again = study.run(made / "definition", level="quick", out=tmp_path / "study")
    assert (again.effort.kept, again.effort.made) == (0, 8)
    # They were not put together with the others, whose counts would be missing there.
    assert study.run(made / "definition", level="quick", out=tmp_path / "study").effort.kept == 8
    assert package.query(tmp_path / "study", "select * from links", study=made / "definition").height
    # Nor do they keep another folder from taking all of them.
    (tmp_path / "taken").mkdir()
    assert Parts(tmp_path / "taken").take(Parts(tmp_path / "study")) == 16


def test_a_sweep_reads_no_part_that_lacks_a_column_beside_others(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "merged", tmp_path / "merged")
    shutil.copytree(made / "sweep", tmp_path / "sweep")
    of_part(tmp_path / "sweep", "flows", lambda frame: frame.drop("goodput_bps"))
    # Its runs come first, and count.
    for number, part in enumerate((tmp_path / "sweep" / "parts").glob("*.zip")):
        shutil.copy(part, tmp_path / "merged" / "parts" / f"-{number}.zip")
    with pytest.raises(Damaged, match="flows has no column 'goodput_bps'"):
        package.open_results(tmp_path / "merged")


def left_alone(folder: Path) -> None:
    """A spool that is a link to another folder."""
    (folder / ".tmp-spool-left").symlink_to(folder.parent / "other")


def held_elsewhere(folder: Path) -> None:
    """A spool that is held by a link to a file of another folder."""
    (folder / ".tmp-spool-left").mkdir()
    (folder / ".tmp-spool-left" / ".held").symlink_to(folder.parent / "other" / "kept.txt")


def held_by_a_folder(folder: Path) -> None:
    """A spool whose lock is a folder."""
    held = folder / ".tmp-spool-left" / ".held"
    held.mkdir(parents=True)
    os.utime(held, (0, 0))


@pytest.mark.parametrize("left", [left_alone, held_elsewhere, held_by_a_folder])
def test_a_spool_that_no_run_left_leads_nowhere(
    made: Path, tmp_path: Path, roamsim: Command, left: Callable[[Path], None]
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "kept.txt").write_text("kept")
    (tmp_path / "other" / ".held").touch()
    for file in (tmp_path / "other").iterdir():
        os.utime(file, (0, 0))
    shutil.copytree(made / "spooled", tmp_path / "run")
    left(tmp_path / "run")
    roamsim("run", made / "scenario.toml", "--trace", "cwnd", "--parquet", tmp_path / "run")
    assert package.open_results(tmp_path / "run").samples.height
    assert (tmp_path / "other" / "kept.txt").read_text() == "kept"


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
    for name in ("run", "spooled", "sweep", "merged"):
        assert package.open_results(made / name).flows.height
