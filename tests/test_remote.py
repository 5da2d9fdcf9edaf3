"""Results at URLs: what is finished is put there, found there, and comes from there as it was made."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import fsspec
import pytest
import roamsim as package
from conftest import Command, begin
from roamsim import study
from roamsim.storing import remote

VARY = {"link.path.delay": "10ms,20ms"}


def octets(folder: Path) -> dict[str, bytes]:
    """The tables of a folder."""
    return {table.name: table.read_bytes() for table in folder.glob("*.parquet")}


@pytest.fixture
def url() -> str:
    """A place in an object store that lives in memory, with nothing at it."""
    files = fsspec.filesystem("memory")
    if files.exists("/campaign"):
        files.rm("/campaign", recursive=True)
    return "memory://campaign"


def there(url: str) -> set[str]:
    files, root = fsspec.core.url_to_fs(url)
    return {name.removeprefix(f"{root}/") for name in files.find(root)}


def test_a_sweep_goes_on_at_its_url_and_comes_from_there_as_it_was_made(
    scenario: Path, tmp_path: Path, url: str
) -> None:
    first = package.sweep(scenario, VARY, replications=3, out=url)
    assert first.made == 6
    again = package.sweep(scenario, VARY, replications=5, out=url)
    assert again.made == 4
    package.sweep(scenario, VARY, replications=5, out=tmp_path / "whole")
    package.merge([url], tmp_path / "here")
    assert octets(tmp_path / "here") == octets(tmp_path / "whole")
    # The tables lie there too, for other programs; what was put together is gone.
    files, root = fsspec.core.url_to_fs(url)
    assert {name: files.cat_file(f"{root}/{name}") for name in octets(tmp_path / "whole")} == octets(
        tmp_path / "whole"
    )
    assert len([name for name in there(url) if name.startswith("parts/")]) == 1
    # Nothing that a driver worked with is left on this machine.
    assert not again.path.exists()


def test_shards_may_lie_at_urls(scenario: Path, small: Path, tmp_path: Path, url: str) -> None:
    for number in (1, 2):
        package.sweep(scenario, VARY, replications=4, shard=f"{number}/2", out=f"{url}/sweep-{number}")
        study.run_shard(small, f"{number}/2", level="quick", out=f"{url}/study-{number}")
    package.sweep(scenario, VARY, replications=4, out=tmp_path / "whole")
    assert package.merge([f"{url}/sweep-1", f"{url}/sweep-2"], tmp_path / "all").missing == 0
    assert octets(tmp_path / "all") == octets(tmp_path / "whole")
    package.merge([f"{url}/study-1", f"{url}/study-2"], tmp_path / "study")
    assert study.run(small, level="quick", out=tmp_path / "study").effort.made == 0


def test_two_drivers_at_one_url_lose_no_run(scenario: Path, tmp_path: Path, url: str) -> None:
    with remote.mirrored(url) as one, remote.mirrored(url) as other:
        for folder, replications in ((one, 2), (other, 3)):
            package.sweep(scenario, VARY, replications=replications, seed=1, out=folder)
            (folder / ".lock").unlink()
    assert package.sweep(scenario, VARY, replications=3, out=url).made == 0


def test_a_driver_that_is_killed_goes_on_at_its_url(
    scenario: Path, tmp_path: Path, roamsim: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    many = ["sweep", scenario, "--vary", "link.path.delay=10ms,20ms", "--set", "scenario.duration=2000s"]
    command = [*many, "--replications", "200", "--out", store.as_uri()]
    driver = begin(*command, cwd=tmp_path)
    until = time.monotonic() + 60
    while not any((store / "parts").glob("[!.]*.zip")):
        assert driver.poll() is None, driver.communicate()[1]
        assert time.monotonic() < until
        time.sleep(0.1)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    done = roamsim(*many, "--replications", "3", "--out", store.as_uri())
    told = re.search(r"runs \((\d+) of them were there already\); next: roamsim merge", done.stderr)
    assert told, done.stderr
    assert int(told[1]) > 0


def test_what_cannot_be_kept_is_told_before_anything_is_made(
    scenario: Path, tmp_path: Path, roamsim: Command, url: str
) -> None:
    (tmp_path / "file").write_text("")
    for place, words in {
        "nowhere://x": "nowhere://x cannot keep results",
        f"{(tmp_path / 'file').as_uri()}/below": "below cannot be written to",
    }.items():
        refused = roamsim("sweep", scenario, "--vary", "link.path.delay=10ms", "--out", place, code=2)
        assert words in refused.stderr
    assert f"{url} holds no results" in roamsim("merge", url, "--out", "all", code=2).stderr
    assert "goes to a folder of this machine" in roamsim("merge", "x", "--out", url, code=2).stderr
    refused = roamsim("study", "run", "mih-transport", "--quick", "--out", url, code=2)
    assert f"--shard 1/1 --out {url}" in refused.stderr


def test_what_can_no_longer_be_put_there_stays_on_this_machine(
    scenario: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("the quota is used up")

    monkeypatch.setattr(remote, "PUT_EVERY_S", 0.05)
    files = fsspec.filesystem("memory")
    monkeypatch.setattr(type(files), "put_file", full)
    with pytest.raises(OSError, match=r"the quota is used up\. Finished runs are in") as told:
        package.sweep(scenario, VARY, replications=3, out=url)
    left = Path(str(re.search(r"runs are in (\S+);", str(told.value))[1]))  # type: ignore[index]
    assert package.merge([left], tmp_path / "all").missing == 0


def test_other_files_at_a_url_are_left_alone(scenario: Path, url: str) -> None:
    files = fsspec.filesystem("memory")
    files.pipe_file("/campaign/notes.txt", b"mine")
    files.pipe_file("/campaign/parts/../../elsewhere.zip", b"theirs")
    package.sweep(scenario, VARY, out=url)
    assert files.cat_file("/campaign/notes.txt") == b"mine"
