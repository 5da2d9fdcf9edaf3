"""Columns on their way from the extension module to frames: values, missing ones, texts, other processes."""

from __future__ import annotations

import gc
import math
import pickle
import subprocess
import sys
from array import array
from pathlib import Path
from types import SimpleNamespace

import polars
import pytest
import roamsim
from conftest import environment
from roamsim._roamsim import Table
from roamsim._roamsim import run as run_once

#: Texts of up to 12 octets stand in their views, longer ones beside them; "é" is two octets.
TEXTS = ["", "twelve bytes", "thirteen byte", "ééééééé", "thirteen byte", "a description of a packet, of some length"]


def some() -> Table:
    numbers = array("d", [0.5, math.nan, -math.inf, 1e300, math.nan, -0.0])
    return Table(
        {
            "number": numbers,
            "whole": array("Q", [0, 1, 2**64 - 1, 3, 4, 5]),
            "signed": array("q", [0, -1, -(2**63), 3, 4, 5]),
            "text": TEXTS,
        }
    )


def test_a_frame_has_the_values_and_null_where_there_is_no_number() -> None:
    frame = polars.DataFrame(some())
    assert frame.schema == {
        "number": polars.Float64,
        "whole": polars.UInt64,
        "signed": polars.Int64,
        "text": polars.String,
    }
    assert frame["number"].to_list() == [0.5, None, -math.inf, 1e300, None, 0.0]
    assert math.copysign(1, frame["number"][5]) == -1
    assert frame["number"].null_count() == 2
    assert frame["whole"].to_list() == [0, 1, 2**64 - 1, 3, 4, 5]
    assert frame["signed"].to_list() == [0, -1, -(2**63), 3, 4, 5]
    assert frame["text"].to_list() == TEXTS
    # What works on all of a column does so too.
    assert frame["text"].str.len_bytes().to_list() == [0, 12, 13, 14, 13, 41]
    assert frame.filter(text="thirteen byte").height == 2


@pytest.mark.parametrize("height", [0, 1, 7, 8, 9, 64, 1000])
def test_which_are_missing_is_told_at_any_height(height: int) -> None:
    values = [math.nan if row % 3 == 1 else float(row) for row in range(height)]
    frame = polars.DataFrame(Table({"x": array("d", values)}))
    assert frame["x"].to_list() == [None if row % 3 == 1 else float(row) for row in range(height)]


def test_a_frame_outlives_its_table() -> None:
    table = Table(
        {"x": array("d", map(float, range(1000))), "text": [f"the text of row {row}" for row in range(1000)]}
    )
    frame = polars.DataFrame(table)
    part = frame.slice(990)["text"]
    capsules = table.__arrow_c_array__()
    del table, frame
    gc.collect()
    assert part.to_list() == [f"the text of row {row}" for row in range(990, 1000)]
    # Capsules that nobody has read are given back.
    del capsules


def test_lists_have_nan_where_there_is_no_number() -> None:
    table = some()
    assert table.columns == ["number", "whole", "signed", "text"]
    assert table.height == 6
    assert math.isnan(table["number"][1])
    assert table["text"] == TEXTS
    with pytest.raises(KeyError, match="speed"):
        table["speed"]


def test_tables_of_runs_are_stacked_in_their_order() -> None:
    runs = Table({"key": ["a", "b", "c"], "replication": array("q", [4, 5, 6])})
    of_runs = [
        Table({"x": array("d", values), "name": ["of " + name for _ in values]})
        for name, values in (("the first run", [1.0, math.nan]), ("none", []), ("another run", [2.0]))
    ]
    assert polars.DataFrame(Table.stack(of_runs, runs)).rows() == [
        ("a", 4, 1.0, "of the first run"),
        ("a", 4, None, "of the first run"),
        ("c", 6, 2.0, "of another run"),
    ]
    one = Table({"key": ["a"]})
    assert polars.DataFrame(Table.stack(of_runs[:1], one)).columns == ["key", "x", "name"]
    for tables, of in (([], Table({})), (of_runs, one), ([of_runs[0], some()], Table({"key": ["a", "b"]}))):
        with pytest.raises(ValueError, match="table"):
            Table.stack(tables, of)
    with pytest.raises(ValueError, match="different columns"):
        Table.stack([Table({"x": array("d")}), Table({"x": array("q")})], Table({"key": ["a", "b"]}))


def test_rows_of_runs_say_which_they_are_of() -> None:
    runs = Table.of_runs("walk", 2**64 - 1, [3, 0])
    assert runs.columns == ["scenario", "point", "replication", "seed"]
    assert polars.DataFrame(Table.stack([some(), some()], runs)).select(runs.columns).unique(
        maintain_order=True
    ).rows() == [
        ("walk", 0, 3, 2**64 - 1),
        ("walk", 0, 0, 2**64 - 1),
    ]


def test_what_is_no_column_is_refused() -> None:
    with pytest.raises(ValueError, match="the columns x and y have 1 and 2 rows"):
        Table({"x": array("d", [1.0]), "y": ["a", "b"]})
    with pytest.raises(TypeError, match="an array of the type code d, q or Q, or a list of text"):
        Table({"x": [1.0]})  # type: ignore[dict-item]


def test_a_table_goes_to_another_process_and_comes_back_the_same(scenario: Path) -> None:
    for table in (some(), *run_once(roamsim.load(scenario), trace=["packets"]).tables.values()):
        sent = pickle.loads(pickle.dumps(table))
        assert polars.DataFrame(sent).equals(polars.DataFrame(table))


def test_a_frame_is_made_when_it_is_asked_for_and_stays(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Table] = []

    def make(table: Table) -> polars.DataFrame:
        made.append(table)
        return polars.DataFrame(table)

    monkeypatch.setattr("roamsim.tables.result.polars", SimpleNamespace(DataFrame=make))
    result = roamsim.run(scenario)
    tables = result.tables
    assert list(tables) == ["flows", "signalling", "links", "drops", "series"]
    assert "flows" in tables and "video" not in tables
    assert repr(result)
    assert made == []
    assert tables["flows"] is tables["flows"]
    assert [table.height for table in made] == [1]
    sent = pickle.loads(pickle.dumps(tables))
    assert all(sent[name].equals(frame) for name, frame in tables.items())
    assert repr(sent) == repr(dict(tables))


def test_a_run_gives_its_units_beside_its_columns(scenario: Path) -> None:
    flows = run_once(roamsim.load(scenario)).tables["flows"]
    assert flows.units["goodput_bps"] == "bit/s"
    assert flows.units["name"] == ""


def test_the_core_works_without_numpy(scenario: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['numpy'] = None\n"
        "import roamsim\n"
        f"result = roamsim.run({str(scenario)!r}, replications=2, trace='cwnd')\n"
        f"swept = roamsim.sweep({str(scenario)!r}, {{'link.path.delay': ['10ms', '20ms']}}, out='out')\n"
        f"roamsim.compare({str(scenario)!r}, {{'link.path.delay': ['10ms', '20ms']}}, replications=2)\n"
        "print(result.flows.height, result.samples.height > 0, swept.estimate('flows', 'goodput_bps').height)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 True 2\n"
