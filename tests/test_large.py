"""Tables of campaigns that no memory holds: written and read some rows at a time, and the same to the reader."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import ROOT, environment
from roamsim.storing.manifests import Manifest, read_manifest
from roamsim.storing.parts import Parts, run_key
from roamsim.storing.store import open_results, write_tables

VARY = {"link.path.delay": "10ms:40ms:10ms", "flow.download.transport.variant": ["reno", "newreno"]}


@pytest.fixture
def in_lots(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Tables of more than 20 rows are not held, and read some 15 at a time."""
    for module in ("storing.rows", "storing.store", "tables.caveats"):
        monkeypatch.setattr(f"roamsim.{module}.HELD_ROWS", 20)
    monkeypatch.setattr("roamsim.storing.rows.LOT_ROWS", 15)
    return monkeypatch


def told(folder: Path) -> dict[str, object]:
    """All that a reader gets of a folder."""
    results = package.open_results(folder)
    counts = results.query("select count(*) as n, sum(goodput_bps) as sum from flows").rows()
    estimates = [
        results.estimate(table, column) for table, column in (("flows", "goodput_bps"), ("links", "sent_packets"))
    ]
    return {
        "frames": {name: results[name] for name in results},
        "schemas": {name: results.schema(name) for name in results},
        "report": results.report().read_text(),
        "query": counts,
        "estimates": estimates,
        "csv": [frame.write_csv() for frame in estimates],
    }


def same(one: dict[str, object], other: dict[str, object]) -> None:
    frames, others = one.pop("frames"), other.pop("frames")
    assert isinstance(frames, dict)
    assert isinstance(others, dict)
    assert frames.keys() == others.keys()
    for name, frame in frames.items():
        assert frame.equals(others[name]), name
    assert one.pop("csv") == other.pop("csv")
    one.pop("estimates"), other.pop("estimates")
    assert one == other


def test_a_large_table_is_what_a_held_one_is(scenario: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    # Shorter, so that its queue has some hundred samples.
    scenario.write_text(scenario.read_text().replace('duration = "10s"', 'duration = "1500ms"'))
    package.sweep(scenario, VARY, replications=4, trace="queue", out=tmp_path / "out")
    # What was added later belongs between what was there.
    package.sweep(scenario, VARY, replications=6, trace="queue", out=tmp_path / "out")
    held = told(tmp_path / "out")
    files = {file.name: polars.read_parquet(file) for file in (tmp_path / "out").glob("*.parquet")}
    request.getfixturevalue("in_lots")
    results = open_results(tmp_path / "out")
    assert len(list(results.lots("flows"))) > 3
    same(held, told(tmp_path / "out"))
    write_tables(tmp_path / "out", results.tables)
    assert files.keys() == {file.name for file in (tmp_path / "out").glob("*.parquet")}
    for name, frame in files.items():
        assert polars.read_parquet(tmp_path / "out" / name).equals(frame), name


def test_a_large_comparison_is_what_a_held_one_is(
    scenario: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def compared() -> str:
        delays = {"link.path.delay": "10ms,20ms"}
        return package.compare(scenario, delays, replications=30, out=tmp_path / "out").to_json()

    held = compared()
    request.getfixturevalue("in_lots")
    assert compared() == held


@pytest.mark.usefixtures("in_lots")
def test_replications_that_are_alike_are_told_of_large_tables_too(scenario: Path, tmp_path: Path) -> None:
    calm = {"link.path.loss.probability": [0.0, 0.1]}
    package.sweep(scenario, calm, replications=30, out=tmp_path / "out")
    assert (
        "At 1 of 2 points all replications are identical"
        in package.open_results(tmp_path / "out").report().read_text()
    )


@pytest.mark.usefixtures("in_lots")
def test_the_file_of_a_large_table_does_not_hang_on_its_parts(scenario: Path, tmp_path: Path) -> None:
    package.sweep(scenario, VARY, replications=6, out=tmp_path / "whole")
    for number in (1, 2, 3):
        package.sweep(scenario, VARY, replications=6, out=tmp_path / f"{number}", shard=f"{number}/3")
    package.merge([tmp_path / f"{number}" for number in (3, 1, 2)], tmp_path / "merged")
    for name in ("flows", "links", "signalling"):
        files = [tmp_path / folder / f"{name}.parquet" for folder in ("whole", "merged")]
        assert files[0].read_bytes() == files[1].read_bytes()
    assert not list((tmp_path / "whole").glob(".tmp-*"))


def grown(scenario: Path, folder: Path, runs: int, rows: int) -> None:
    """A sweep of two points as if it had so many runs with so many flows each."""
    package.sweep(scenario, {"link.path.delay": ["10ms", "20ms"]}, out=folder)
    manifest = read_manifest(folder)
    assert isinstance(manifest, Manifest)
    flows = Parts(folder).rows("flows")
    for number, point in enumerate(manifest.points):
        point.replications = runs // 2
        key = run_key(point.fingerprint, manifest.seed)
        one = flows.filter(key=key).drop("key", "replication", "name", "goodput_bps")
        for first in range(1, runs // 2, 1000):
            replications = polars.DataFrame({"replication": range(first, min(first + 1000, runs // 2))})
            of_runs = replications.select(key=polars.lit(key), replication="replication")
            names = polars.DataFrame({"name": [f"flow-{one}" for one in range(rows)]})
            each = of_runs.join(names, how="cross")
            numbers = each.hash_rows(seed=number) / 2**64
            table = each.join(one, how="cross").with_columns(goodput_bps=1e6 * (number + 1) + numbers)
            with zipfile.ZipFile(folder / "parts" / f"{number + 1}{first:08}.zip", "w") as archive:
                for name, frame in (("runs", of_runs), ("flows", table)):
                    octets = io.BytesIO()
                    frame.write_parquet(octets)
                    archive.writestr(f"{name}.parquet", octets.getbuffer())
    manifest.write(folder)


def peak_mb(work: str, folder: Path) -> float:
    """The most memory that a program of this Python has at a time which works on results of a folder."""
    code = (
        "from roamsim.storing.store import open_results, write_tables\n"
        "from roamsim.reports.results import report\n"
        f"results = open_results({str(folder)!r})\n"
        f"{work}\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    # What is free goes back to the system, so that what is told is about what was needed.
    freed = {"_RJEM_MALLOC_CONF": "dirty_decay_ms:100,muzzy_decay_ms:0", "POLARS_MAX_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment() | freed, check=True, capture_output=True, text=True
    )
    return int(done.stdout) / 1000


def test_tables_and_reports_of_many_rows_take_little_memory(scenario: Path, tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("how much memory a program takes, Linux alone tells")
    grown(scenario, tmp_path / "out", 12_000, 100)
    # Held at once, its table takes 920 MB to write, and 1370 to report of; in lots 320 and 480.
    assert peak_mb("write_tables(results.path, results.tables)", tmp_path / "out") < 600
    assert peak_mb("report(results.path)", tmp_path / "out") < 800
