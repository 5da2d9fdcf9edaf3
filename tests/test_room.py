"""Results that would take more memory than there may be: they are refused before they are read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from threading import Event
from typing import ClassVar

import polars
import pytest
from conftest import SCENARIO, Command
from roamsim import RunFailed
from roamsim.running import foresight
from roamsim.storing import room
from roamsim.storing.room import require_room

#: Rows of a table that a small file holds.
MANY = 500_000


@pytest.fixture(scope="module")
def swollen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a run whose digests are right and whose small file of flows unpacks to many rows."""
    folder = tmp_path_factory.mktemp("swollen")
    (folder / "scenario.toml").write_text(SCENARIO)
    out = folder / "out"
    from roamsim.cli.app import app

    with pytest.raises(SystemExit):
        app(["run", str(folder / "scenario.toml"), "--parquet", str(out)], prog_name="roamsim")
    table = out / "flows.parquet"
    row = polars.read_parquet(table).head(1)
    row.select(polars.all().repeat_by(MANY).explode()).write_parquet(table)
    assert table.stat().st_size < 100_000
    tree = json.loads((out / "manifest.json").read_text())
    tree["tables"]["flows"] = hashlib.sha256(table.read_bytes()).hexdigest()
    (out / "manifest.json").write_text(json.dumps(tree))
    return out


@pytest.mark.parametrize("words", [["report"], ["plot", "--what", "flows.goodput_bps"], ["query", "select 1"]])
def test_a_small_file_that_unpacks_to_many_rows_is_refused(roamsim: Command, swollen: Path, words: list[str]) -> None:
    first, *rest = words
    done = roamsim(first, swollen, *rest, "--max-memory", "400MB", code=1)
    assert "flows in " in done.stderr
    assert "has 500,000 rows, which take " in done.stderr
    assert "memory. --max-memory allows 400 MB" in done.stderr


def test_a_question_that_takes_too_much_memory_is_told(roamsim: Command, scenario: Path) -> None:
    roamsim("run", scenario, "--parquet", "out")
    # A list of 800 MB in one value, which DuckDB cannot put aside.
    asked = ("query", "out", "select list(range) from range(100000000)")
    done = roamsim(*asked, "--max-memory", "400MB", code=1)
    assert "the question takes more memory than --max-memory allows (400 MB)" in done.stderr
    # An answer that DuckDB can put aside, and a frame cannot.
    done = roamsim("query", "out", "select range from range(60000000)", "--max-memory", "400MB", code=1)
    assert "the answer" in done.stderr
    assert "60,000,000 rows" in done.stderr


def test_what_is_needed_is_reckoned_of_rows_and_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "t.parquet"
    polars.DataFrame({"name": ["a"] * 1000, "value": [1.0] * 1000}).write_parquet(file)
    # 1000 rows of a text and a number, 16 + 8 octets, 2.5 times: 60,000 octets.
    monkeypatch.setattr(room, "memory_bytes", lambda: (1_000_000, 1_060_000))
    require_room(file, tmp_path, "t")
    monkeypatch.setattr(room, "memory_bytes", lambda: (1_000_000, 1_059_999))
    with pytest.raises(MemoryError, match=r"t in .* has 1,000 rows, which take 0\.06 MB"):
        require_room(file, tmp_path, "t")
    # Where the system does not tell how much memory there is, nothing is refused.
    monkeypatch.setattr(room, "memory_bytes", lambda: (0, 0))
    require_room(file, tmp_path, "t")


def test_the_estimate_before_a_run_heeds_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    class Large:
        """A scenario with so many links that its estimate, whose routes take memory, does not end."""

        name = "large"
        warnings: ClassVar = ()
        external_nodes: ClassVar = ()
        row_names: ClassVar = {"links": ["link"] * foresight.WATCHED_LINKS}
        ended = Event()

        def estimate(self, traces: list[str]) -> tuple[float, float, float]:
            self.ended.wait(10)
            return 0.0, 0.0, 0.0

    monkeypatch.setattr(foresight, "memory_bytes", lambda: (30_000_000, 20_000_000))
    try:
        with pytest.raises(RunFailed, match=r"the routes of its network take 30 MB, and --max-memory allows 20 MB"):
            foresight.foresee([(Large(), 1)], (), at_once=1)
    finally:
        Large.ended.set()
    # What it takes counts, and not how large it is.
    monkeypatch.setattr(foresight, "memory_bytes", lambda: (10_000_000, 20_000_000))
    foresight.foresee([(Large(), 1)], (), at_once=1)
