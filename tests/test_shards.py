"""Shards of campaigns: each run is in one of them, and merged they are what one machine would have made."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import roamsim as package
from conftest import ROOT, Command, environment
from roamsim import study
from roamsim.errors import UsageError
from roamsim.running.shards import Shard
from roamsim.storing.manifests import Damaged
from roamsim.storing.parts import run_key

VARY = {"link.path.delay": "10ms:40ms:10ms"}
SETTINGS = {"scenario.duration": "10s"}


def swept(scenario: Path, out: Path, *, shard: str | None = None, seed: int = 1, replications: int = 3) -> None:
    package.sweep(
        scenario, VARY, set=SETTINGS, replications=replications, seed=seed, trace="queue", out=out, shard=shard
    )


def octets(folder: Path) -> dict[str, bytes]:
    """The tables of a folder."""
    return {table.name: table.read_bytes() for table in folder.glob("*.parquet")}


def test_each_run_is_in_one_shard_and_replications_are_spread() -> None:
    shards = [Shard(number, 4) for number in range(1, 5)]
    for seed in range(20):
        key = run_key("a point", seed)
        owners = [[shard.number for shard in shards if shard.holds(key, replication)] for replication in range(8)]
        assert all(len(owner) == 1 for owner in owners)
        assert sorted(owner for [owner] in owners) == [1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize(
    "text", ["3", "0/3", "4/3", "1/0", "-1/3", "1/3/5", "one/two", "1/999999999999", "1/100001", ""]
)
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="shard"):
        Shard.parse(text)


def test_shards_of_a_sweep_merged_are_the_sweep(scenario: Path, tmp_path: Path) -> None:
    folders = [tmp_path / f"{number}" for number in range(1, 4)]
    for number, folder in enumerate(folders, 1):
        swept(scenario, folder, shard=f"{number}/3")
    swept(scenario, tmp_path / "whole")

    # One of three is missing: 12 runs and 4 traces in all.
    first = package.merge(folders[:2], tmp_path / "all")
    assert first.taken + first.missing == 12 + 4
    assert first.missing > 0
    second = package.merge(folders, tmp_path / "all")
    assert (second.taken, second.missing) == (first.missing, 0)
    assert octets(tmp_path / "all") == octets(tmp_path / "whole")
    again = package.merge(folders, tmp_path / "all")
    assert (again.taken, again.missing) == (0, 0)
    assert octets(tmp_path / "all") == octets(tmp_path / "whole")
    # What is merged may be swept on: nothing is made twice.
    swept(scenario, tmp_path / "all", replications=4)
    assert package.open_results(tmp_path / "all").flows.height == 4 * 4 * len(
        package.load(scenario).row_names["flows"]
    )


def test_what_no_folder_has_a_sweep_makes(scenario: Path, tmp_path: Path) -> None:
    swept(scenario, tmp_path / "1", shard="1/2")
    assert package.merge([tmp_path / "1"], tmp_path / "all").missing > 0
    swept(scenario, tmp_path / "all")
    swept(scenario, tmp_path / "whole")
    assert octets(tmp_path / "all") == octets(tmp_path / "whole")


def test_of_shards_with_other_numbers_of_replications_the_most_count(scenario: Path, tmp_path: Path) -> None:
    swept(scenario, tmp_path / "1", shard="1/2", replications=2)
    swept(scenario, tmp_path / "2", shard="2/2", replications=4)
    merged = package.merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    # The first shard lacks its half of four points' two more replications.
    assert merged.missing == 4
    assert [point.replications for point in package.open_results(tmp_path / "all").manifest.points] == [4] * 4


def test_folders_of_another_campaign_are_refused(scenario: Path, tmp_path: Path) -> None:
    swept(scenario, tmp_path / "1", shard="1/2")
    swept(scenario, tmp_path / "seed", shard="2/2", seed=2)
    package.sweep(scenario, {"link.path.delay": "10ms,20ms"}, set=SETTINGS, trace="queue", out=tmp_path / "values")
    package.sweep(scenario, VARY, set=SETTINGS, out=tmp_path / "traces")
    package.sweep(scenario, VARY, set={"scenario.duration": "11s"}, trace="queue", out=tmp_path / "settings")
    for name, words in {
        "seed": "another seed",
        "values": "other values",
        "traces": "other traces",
        "settings": "another scenario or other settings",
    }.items():
        with pytest.raises(UsageError, match=f"{name}' is not a shard of the campaign of .*1': it holds {words}"):
            package.merge([tmp_path / "1", tmp_path / name], tmp_path / "all")
    assert not (tmp_path / "all").exists()
    with pytest.raises(UsageError, match="there is no folder"):
        package.merge([tmp_path / "nowhere"], tmp_path / "all")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no results"):
        package.merge([tmp_path / "empty"], tmp_path / "all")
    # A folder that holds another campaign stays as it is.
    before = octets(tmp_path / "seed")
    with pytest.raises(UsageError, match="it holds another seed"):
        package.merge([tmp_path / "1"], tmp_path / "seed")
    assert octets(tmp_path / "seed") == before


def test_a_folder_of_another_build_is_refused(scenario: Path, tmp_path: Path) -> None:
    swept(scenario, tmp_path / "1", shard="1/2")
    manifest = tmp_path / "1" / "manifest.json"
    tree = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**tree, "build": "another"}))
    with pytest.raises(UsageError, match=r"another build of Roamsim made .*1"):
        package.merge([tmp_path / "1"], tmp_path / "all")


def test_a_damaged_part_is_named_and_nothing_is_written(scenario: Path, tmp_path: Path) -> None:
    swept(scenario, tmp_path / "1", shard="1/2")
    part = next((tmp_path / "1" / "parts").glob("*.zip"))
    torn = bytearray(part.read_bytes())
    torn[len(torn) // 2] ^= 255
    part.write_bytes(torn)
    with pytest.raises(Damaged, match=part.name):
        package.merge([tmp_path / "1"], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_the_command_line_says_what_is_next(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    sweep = ["sweep", scenario, "--vary", "link.path.delay=10ms,20ms", "--replications", "4", "--out"]
    done = roamsim(*sweep, "1", "--shard", "1/2")
    assert "roamsim merge DIR... --out OUT" in done.stderr
    done = roamsim("merge", "1", "--out", "all")
    assert "4 runs in none of the folders" in done.stderr
    assert "4 new runs; next: roamsim report all" in done.stderr
    assert done.stdout == "all\n"
    # How to get all of it again is the command without its shard.
    assert "--shard" not in json.loads((tmp_path / "all" / "manifest.json").read_text())["command"]
    roamsim("report", "all")
    refused = roamsim(*sweep, "2", "--shard", "3/2", code=2)
    assert "shards of 2 are numbered from 1/2 to 2/2" in refused.stderr
    refused = roamsim(*sweep, "2", "--shard", "", code=2)
    assert "a shard is NUMBER/TOTAL, as in 3/16" in refused.stderr
    precise = ["sweep", scenario, "--vary", "link.path.delay=10ms,20ms", "--precision", "flows.goodput_bps=5%"]
    refused = roamsim(*precise, "--out", "3", "--shard", "1/2", code=2)
    assert "a precision is judged over all replications" in refused.stderr


def test_shards_of_a_comparison_merged_are_the_comparison(roamsim: Command, scenario: Path) -> None:
    compare = ["compare", scenario, "--vary", "link.path.delay=10ms,20ms", "--replications", "6", "--out"]
    whole = roamsim(*compare, "whole")
    for number in (1, 2):
        done = roamsim(*compare, f"{number}", "--shard", f"{number}/2")
        assert f"shard {number}/2 of 2 points, 12 runs: 6 made now" in done.stderr
        assert done.stdout == f"{number}\n"
    roamsim("merge", "1", "2", "--out", "all")
    assert roamsim(*compare, "all").stdout == whole.stdout
    refused = roamsim(*compare[:-1], "--shard", "1/2", code=2)
    assert "it needs --out DIR" in refused.stderr
    refused = roamsim(*compare, "3", "--shard", "1/2", "--json", code=2)
    assert "prints neither --json nor --csv" in refused.stderr


def test_shards_of_a_sensitivity_merged_are_the_sensitivity(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    vary = ["--vary", "link.path.delay=10ms:40ms", "--vary", "link.path.loss.probability=0:0.1"]
    ask = ["sensitivity", scenario, *vary, "--samples", "4", "--replications", "3", "--out"]
    whole = roamsim(*ask, "whole")
    made = 0
    for number in (1, 2, 3):
        done = roamsim(*ask, f"{number}", "--shard", f"{number}/3")
        told = re.search(rf"shard {number}/3 of 16 points, 48 runs: (\d+) made now", done.stderr)
        assert told
        made += int(told[1])
        assert done.stdout == f"{number}\n"
    assert made == 48
    assert "the sensitivity is not finished" in roamsim("report", "1", code=2).stderr
    roamsim("merge", "1", "2", "3", "--out", "all")
    done = roamsim(*ask, "all")
    assert done.stdout == whole.stdout
    assert "48 runs (48 of them were there already)" in done.stderr
    assert octets(tmp_path / "all") == octets(tmp_path / "whole")
    assert "--json nor --csv" in roamsim(*ask, "4", "--shard", "1/3", "--json", code=2).stderr
    roamsim(*ask[:-2], "2", "--out", "fewer", "--shard", "1/3")
    refused = roamsim("merge", "1", "fewer", "--out", "mixed", code=2)
    assert "it holds samples of another sensitivity" in refused.stderr


def test_a_search_has_no_shards_and_says_why(roamsim: Command, scenario: Path) -> None:
    ask = ["optimise", scenario, "--vary", "link.path.delay=10ms:40ms", "--maximise", "flows.goodput_bps"]
    done = roamsim(*ask, "--out", "out", "--shard", "1/3", code=2)
    assert "each trial depends on those before" in done.stderr
    assert "--shard" not in roamsim("optimise", "--help").stdout


def test_the_array_of_jobs_of_the_documentation_makes_shards(roamsim: Command, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "many-machines.md").read_text()
    script = re.search(r"```bash shards.sh\n(.*?)```", page, re.DOTALL)
    assert script
    (tmp_path / "shards.sh").write_text(script[1])
    last = re.search(r"^#SBATCH --array=1-(\d+)$", script[1], re.MULTILINE)
    assert last
    assert f'"$SLURM_ARRAY_TASK_ID/{last[1]}"' in script[1]
    roamsim("init", "first.toml")
    for number in (1, int(last[1])):
        done = subprocess.run(
            ["bash", "shards.sh"],
            cwd=tmp_path,
            env=environment() | {"SLURM_ARRAY_TASK_ID": f"{number}"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert f"shard {number}/{last[1]} of 4 points, 16 runs" in done.stderr
        assert done.stdout == f"shard-{number}\n"


def test_shards_of_a_study_merged_are_the_study(small: Path, tmp_path: Path) -> None:
    def found(outcome: study.Outcome) -> dict[str, object]:
        told: dict[str, object] = json.loads(outcome.to_json())
        return {name: value for name, value in told.items() if name not in ("made_with", "report")}

    whole = study.run(small, level="quick", out=tmp_path / "whole")
    made = [
        study.run_shard(small, f"{number}/2", level="quick", out=tmp_path / f"{number}")[1].made for number in (1, 2)
    ]
    assert all(made)
    assert sum(made) == whole.effort.made
    package.merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    outcome = study.run(small, level="quick", out=tmp_path / "all")
    assert (outcome.effort.made, outcome.effort.kept) == (0, whole.effort.made)
    assert found(outcome) == found(whole)
    study.run_shard(small, "1/50", level="full", out=tmp_path / "full")
    with pytest.raises(UsageError, match="it holds another level"):
        package.merge([tmp_path / "1", tmp_path / "full"], tmp_path / "both")
    assert not (tmp_path / "both").exists()
