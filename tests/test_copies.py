"""What the package returns is copied and goes to other processes."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import pytest
import roamsim
from one_link import one_link
from polars.testing import assert_frame_equal
from roamsim import scenario as typed
from roamsim import study
from roamsim.errors import UsageError
from roamsim.storing import rows

SCENARIO = one_link(
    'name = "path"\nrate = "1Mb/s"\ndelay = "20ms"',
    'name = "ftp"\ntransport = { protocol = "tcp" }\napplication = { kind = "bulk" }',
    duration="2s",
)
VARIED = {"link.path.delay": ["10ms", "30ms"]}


def through_pickle(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def a_run(seed: int) -> roamsim.Result:
    """A function of a module, which a spawned process can import."""
    return roamsim.run(SCENARIO, seed=seed, trace="cwnd")


@pytest.mark.parametrize("copied", [through_pickle, copy.copy, copy.deepcopy])
def test_a_scenario_is_copied(copied: Any, scenario: Path) -> None:
    loaded = roamsim.load(scenario, set={"link.path.delay": "33ms"})
    again = copied(loaded)
    assert (again.fingerprint, again.written) == (loaded.fingerprint, loaded.written)
    assert_frame_equal(roamsim.run(again).flows, roamsim.run(loaded).flows)


def test_typed_scenarios_are_copied() -> None:
    node = typed.Node(name="a")
    assert through_pickle(node) == node == copy.deepcopy(node)


@pytest.mark.parametrize("copied", [through_pickle, copy.copy, copy.deepcopy])
def test_a_run_is_copied_with_all_that_can_be_asked_of_it(copied: Any, tmp_path: Path) -> None:
    made = a_run(3)
    made.report()  # which makes the folder that goes with the original
    again = copied(made)
    assert {name: frame.height for name, frame in again.tables.items()} == {
        name: frame.height for name, frame in made.tables.items()
    }
    flows = made.flows
    del made
    gc.collect()
    assert_frame_equal(again.flows, flows)
    assert again.report().is_file()
    again.save(tmp_path / "saved")
    assert_frame_equal(roamsim.open_results(tmp_path / "saved").flows, flows)


def test_a_run_comes_from_a_spawned_pool() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (found,) = pool.map(a_run, [3])
    assert_frame_equal(found.flows, a_run(3).flows)
    assert found.query("select count(*) as rows from samples")["rows"].item() > 1


@pytest.mark.parametrize("held", [1_000_000, 0])
def test_a_sweep_outlives_the_folder_of_its_original(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "HELD_ROWS", held)  # with 0, tables are read from the folder when they are asked for
    made = roamsim.sweep(SCENARIO, VARIED)
    again, flows = through_pickle(made), made.flows
    del made
    gc.collect()
    assert not again.path.exists()
    assert_frame_equal(again.flows, flows)
    assert again.report().is_file()
    with pytest.raises(UsageError, match="Save a sweep before you copy it"):
        again.save("elsewhere")


def test_answers_are_copied_and_have_the_tables_of_their_runs() -> None:
    answers = [
        roamsim.compare(SCENARIO, VARIED, replications=2),
        roamsim.sensitivity(SCENARIO, {"link.path.delay": "10ms:30ms"}, samples=2, replications=2),
        roamsim.optimise(
            SCENARIO,
            {"link.path.delay": "10ms:30ms"},
            maximise="flows.goodput_bps",
            trials=2,
            replications=1,
            fresh=2,
        ),
    ]
    for answer in answers:
        again = through_pickle(answer)
        assert again.to_dict() == answer.to_dict() == copy.deepcopy(answer).to_dict()
        assert_frame_equal(again.estimate("flows", "goodput_bps"), answer.results.estimate("flows", "goodput_bps"))
        assert again.to_pandas("flows").equals(answer.results.to_pandas("flows"))


def test_the_outcome_of_a_study_is_copied(small: Path, tmp_path: Path) -> None:
    outcome = study.run(small, level="quick", out=tmp_path / "out")
    again = through_pickle(outcome)
    assert again.to_dict() == outcome.to_dict()
    assert again.data.rows("lossy") == outcome.data.rows("lossy")
