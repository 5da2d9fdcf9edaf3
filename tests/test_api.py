"""The Python API: ways to give a scenario, tables, notebooks, pandas."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars
import pytest
import roamsim
from conftest import ROOT, SCENARIO, environment
from polars.testing import assert_frame_equal
from roamsim.tables.metrics import metrics


def test_a_scenario_may_be_a_path_text_dictionary_or_loaded(scenario: Path) -> None:
    loaded = roamsim.load(scenario)
    assert (loaded.name, loaded.duration_s) == ("Both kinds of traffic", 10)
    first = roamsim.run(scenario)
    tree = json.loads(loaded.canonical)
    for other in (str(scenario), SCENARIO, tree, json.dumps(tree), loaded):
        assert_frame_equal(roamsim.run(other).flows, first.flows)


def test_a_name_that_is_no_table_is_told_with_what_records_it(scenario: Path) -> None:
    result = roamsim.run(scenario)
    for name, hint in (
        ("flow", "did you mean flows?"),
        ("cwnd", "trace=['cwnd'] records it, in the table samples"),
        ("xyzzy", "there are flows, signalling, links, drops, series"),
    ):
        with pytest.raises(AttributeError) as told:
            getattr(result, name)
        assert str(told.value) == f"no attribute or table {name!r}; {hint}"
        # Python would add a guess of its own.
        assert told.value.name is None
    with pytest.raises(KeyError, match=r"trace=\['segments'\] records it, in the table segments"):
        result["segments"]


def test_values_may_be_replaced_whatever_the_scenario_is(scenario: Path) -> None:
    changes = {"link.path.rate": "1Mb/s", "link.0.queue": {"packets": 5}, "flow.download.transport.nagle": False}
    first = roamsim.run(scenario, set=changes)
    assert_frame_equal(roamsim.run(roamsim.load(scenario), set=changes).flows, first.flows)
    assert first.flows["goodput_bps"][0] < 1e6
    assert roamsim.load(scenario).fingerprint != roamsim.load(scenario, set=changes).fingerprint


def test_every_row_says_which_run_it_is_of(scenario: Path) -> None:
    result = roamsim.run(scenario, seed=5, replications=2)
    for name, frame in result.tables.items():
        assert frame.columns[:4] == ["scenario", "point", "replication", "seed"], name
    assert result.flows.select("scenario", "point", "replication", "seed").rows() == [
        ("Both kinds of traffic", 0, 0, 5),
        ("Both kinds of traffic", 0, 1, 5),
    ]
    assert result.events > roamsim.run(scenario, seed=5).events


def test_every_column_is_explained_with_the_unit_of_the_run(scenario: Path) -> None:
    from roamsim import _roamsim

    traces = ["cwnd", "segments", "transactions", "packets", "messages", "occupancy", "link_events", "states"]
    found = {}
    # Some tables are there only where what they are about is.
    outside = {
        "scenario": {"name": "programs outside", "duration": "1s"},
        "node": [{"name": "server", "external": True}, {"name": "phone", "external": True}],
        "link": [{"name": "path", "between": ["server", "phone"], "rate": "1Mb/s", "delay": "1ms"}],
    }
    cut = {
        "scenario": {"name": "fragments", "duration": "1s"},
        "node": [{"name": "server"}, {"name": "phone"}],
        "link": outside["link"],
        "flow": [
            {
                "name": "large",
                "from": "server",
                "to": "phone",
                "transport": {"protocol": "udp"},
                "application": {"kind": "cbr", "packet_size": "5000B", "interval": "100ms"},
            }
        ],
    }
    radios = {"selection.phone.power": [{"access": "lte", "up_w": 0.5, "selected_w": 2, "j_per_mb": 10}]}
    examples = sorted((ROOT / "examples").glob("*.toml"))
    keys = [(one, {}) for one in (scenario, outside, cut, *examples)]
    keys.append((ROOT / "examples/phone.toml", radios))
    keys.append((ROOT / "examples/short-transfers.toml", {"flow.pages.transport.fast_open": True}))
    for one, more in keys:
        asked = roamsim.load(one, set={"scenario.percentiles": [99.9], **more})
        result = _roamsim.run(asked, trace=traces, series=True)
        for name, table in result.tables.items():
            for column, dtype in polars.DataFrame(table).schema.items():
                found[name, column] = None if dtype == polars.String else table.units[column]
    explained = {(m.table, m.column): m.unit for m in metrics() if m.table != "run"}
    assert found == explained


def test_numbers_are_numbers_and_missing_values_are_null(scenario: Path) -> None:
    result = roamsim.run(scenario)
    for metric in metrics():
        if metric.unit is not None and metric.table in result:
            assert result[metric.table].schema[metric.column].is_numeric(), metric.name
    assert result.flows["completion_time_s"].to_list() == [None]
    nan = [
        c for f in result.tables.values() for c in f.select(polars.selectors.float()).columns if f[c].is_nan().any()
    ]
    assert nan == []


def test_a_notebook_shows_the_tables(scenario: Path) -> None:
    shown = roamsim.run(scenario)._repr_html_()
    assert "<table" in shown
    assert "download" in shown
    assert "indications" in shown


def test_tables_go_to_pandas(scenario: Path) -> None:
    result = roamsim.run(scenario, replications=2)
    frame = result.to_pandas("flows")
    assert frame["name"].tolist() == ["download", "download"]
    assert frame["goodput_bps"].tolist() == result.flows["goodput_bps"].to_list()


def test_estimates_are_means_over_replications(scenario: Path) -> None:
    result = roamsim.run(scenario, replications=5)
    (row,) = result.estimate("flows", "goodput_bps").to_dicts()
    assert row["mean"] == pytest.approx(result.flows["goodput_bps"].mean())
    assert row["low"] < row["mean"] < row["high"]
    assert row["samples"] == 5
    with pytest.raises(roamsim.UsageError, match="text"):
        result.estimate("flows", "variant")


def test_a_table_that_is_not_there_is_named(scenario: Path) -> None:
    result = roamsim.run(scenario)
    with pytest.raises(AttributeError, match="flows"):
        _ = result.handovers
    with pytest.raises(KeyError, match="flows"):
        result["handovers"]


def test_check_and_schema() -> None:
    assert roamsim.check(SCENARIO) == "Both kinds of traffic: 10 s, 1 flow, 1 link, 2 nodes, 1 signalling"
    assert "properties" in roamsim.schema()
    assert roamsim.explain("flows.goodput_bps")[0].unit == "bit/s"


def test_functions_stay_functions_whatever_was_imported_before() -> None:
    # A submodule of the same name would hide a function once it is imported.
    code = "import roamsim, roamsim.cli.app, roamsim.api, roamsim.running.sweeps; print(all(map(callable, [roamsim.run, roamsim.sweep, roamsim.check, roamsim.schema, roamsim.explain, roamsim.load])))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout == "True\n"


def test_python_has_the_words_of_the_command_line(scenario: Path, tmp_path: Path) -> None:
    assert all(hasattr(roamsim, name) for name in roamsim.__all__)
    assert "mih-transport" in roamsim.study.available()
    result = roamsim.sweep(scenario, {"link.path.delay": "10ms,20ms"}, out=tmp_path / "out")
    assert result.made == 2
    assert roamsim.query(tmp_path / "out", "select count(*) as n from flows")["n"].to_list() == [2]
    with pytest.raises(roamsim.UsageError, match="the question is a text in SQL, not 5"):
        roamsim.query(tmp_path / "out", 5)  # type: ignore[arg-type]
    opened = roamsim.open_results(tmp_path / "out")
    assert opened.plot("flows.goodput_bps") == tmp_path / "out" / "flows.goodput_bps.svg"
    assert opened.report() == tmp_path / "out" / "report.html"
    assert roamsim.run(scenario, trace="cwnd,queue")["samples"].height > 0


def test_a_function_hears_how_runs_get_on(scenario: Path, tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []

    def hear(finished: int, wanted: int) -> None:
        heard.append((finished, wanted))

    roamsim.run(scenario, replications=3, progress=hear)
    assert heard == [(1, 3), (2, 3), (3, 3)]
    vary = {"flow.download.transport.variant": ["reno", "newreno"]}
    heard.clear()
    roamsim.sweep(scenario, vary, out=tmp_path / "out", progress=hear)
    assert heard == [(1, 2), (2, 2)]
    # Runs that were there already are finished.
    heard.clear()
    roamsim.sweep(scenario, vary, replications=2, out=tmp_path / "out", progress=hear)
    assert heard == [(3, 4), (4, 4)]
    with pytest.raises(
        roamsim.UsageError, match="progress: 5 is not a function of the numbers of finished and of all"
    ):
        roamsim.run(scenario, progress=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("trace", [None, 5, [5]])
def test_a_trace_that_is_no_name_is_refused(scenario: Path, trace: object) -> None:
    with pytest.raises(roamsim.UsageError, match=r"is not a list of names, such as \['cwnd', 'rtt'\]"):
        roamsim.run(scenario, trace=trace)  # type: ignore[arg-type]
