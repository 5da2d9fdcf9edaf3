"""Folders of results: whole or as they were, damage that is named, code and files that a folder cannot reach."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import Command, run_command, simulated
from roamsim.errors import UsageError
from roamsim.pages.page import Report
from roamsim.storing.manifests import Damaged, read_manifest
from roamsim.storing.parts import FULL, TOGETHER, Parts, run_key
from roamsim.study.code import code_digest, read_code

LOSS = "link.path.loss.probability"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_a_table_that_is_no_table_of_a_run_is_not_there_for_questions(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    roamsim("run", scenario, "--parquet", "out")
    # Its name would end the statement that makes a view of it, and begin one that writes a file.
    stolen = tmp_path / "stolen"
    name = f"z\" as select 1; copy (select 1) to '{stolen}'; --".replace("/", "\u2215")
    (tmp_path / "out" / f"{name}.parquet").write_bytes((tmp_path / "out" / "flows.parquet").read_bytes())
    assert roamsim("query", "out", "select count(*) as n from flows", "--csv").stdout == "n\n1\n"
    with pytest.raises(KeyError):
        package.open_results(tmp_path / "out")[name]


def test_a_question_reaches_no_file(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--parquet", "out")
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nhidden\n")
    for question in (
        f"select * from read_csv('{secret}')",
        f"select * from read_text('{secret}')",
        f"select * from '{secret}'",
        f"select * from read_parquet('{tmp_path}/out/flows.parquet')",
    ):
        assert "hidden" not in roamsim("query", "out", question, code=2).stderr


def test_a_folder_of_results_runs_no_code_of_its_own(roamsim: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("study.toml", "figures.toml", "statements.toml"):
        (out / name).write_text("")
    (out / "study.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    (out / "statements.py").write_text("")
    (tmp_path / "studies" / "mih-transport").mkdir(parents=True)
    for file in out.iterdir():
        (tmp_path / "studies" / "mih-transport" / file.name).write_bytes(file.read_bytes())
    entries = {
        "kind": "study", "own": False, "level": "quick", "seed": 1, "version": "0", "build": "0", "command": "",
        "made_with": {}, "layout": 2,
    }  # fmt: skip
    for name in (".", "..", str(out), "out", "./out", "../out", "nonsense"):
        (out / "manifest.json").write_text(json.dumps({**entries, "study": name}))
        for command in (["report", "out"], ["query", "out", "select 1"]):
            assert "--study DIR" in roamsim(*command, code=2).stderr
    # A name of the package means that of the package, whatever lies beside.
    (out / "manifest.json").write_text(json.dumps({**entries, "study": "mih-transport"}))
    assert "holds no run of the study" in roamsim("query", "out", "select 1", code=2).stderr
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.parametrize(
    "command",
    [
        ["init", "new.toml"],
        ["run", "scenario.toml", "--parquet", "new"],
        ["sweep", "scenario.toml", "--vary", f"{LOSS}=0.1", "--out", "new"],
        ["sweep", "scenario.toml", "--vary", f"{LOSS}=0.1", "--out", "URL"],
        ["run", "scenario.toml", "--report", "new.html"],
        ["run", "scenario.toml", "--pcap", "new.pcapng"],
    ],
)
def test_every_command_ends_with_1_where_a_disk_is_full(scenario: Path, tmp_path: Path, command: list[str]) -> None:
    words = [(tmp_path / "new").as_uri() if word == "URL" else word for word in command]
    done = run_command(*words, cwd=tmp_path, largest_file_bytes=3)
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr


def test_on_a_full_disk_the_earlier_results_stay(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--parquet", "out", "--trace", "cwnd")
    roamsim("report", "out")
    before = contents(tmp_path / "out")
    size = (tmp_path / "out" / "flows.parquet").stat().st_size
    for octets in (0, 100, size // 2, size - 1):
        for command in (["run", scenario, "--seed", "2", "--parquet", "out"], ["report", "out"]):
            done = run_command(*command, cwd=tmp_path, largest_file_bytes=octets)
            assert done.returncode == 1, done
            assert "Traceback" not in done.stderr
            assert "File too large" in done.stderr
            assert contents(tmp_path / "out") == before
    done = run_command("plot", "out", "--what", "cwnd", cwd=tmp_path, largest_file_bytes=100)
    assert done.returncode == 1
    assert contents(tmp_path / "out") == before
    sweep = ("sweep", scenario, "--vary", f"{LOSS}=0.1", "--out", "swept")
    swept = run_command(*sweep, cwd=tmp_path, largest_file_bytes=2000)
    assert swept.returncode == 1
    assert "Traceback" not in swept.stderr
    roamsim(*sweep)


def test_results_that_wait_for_their_place_are_read_and_moved(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    """As after a kill between any two of the renames that follow the one that counts."""
    out = tmp_path / "out"
    roamsim("run", scenario, "--parquet", "new", "--seed", "2")
    wanted = package.open_results(tmp_path / "new")
    for moved in ([], ["flows.parquet", "drops.parquet"]):
        roamsim("run", scenario, "--parquet", "out", "--trace", "cwnd")
        (out / ".new").mkdir()
        for file in (tmp_path / "new").glob("[!.]*"):
            (out if file.name in moved else out / ".new").joinpath(file.name).write_bytes(file.read_bytes())
        found = package.open_results(out)
        assert found.manifest.seed == 2
        assert all(found[name].equals(frame) for name, frame in wanted.items())
    roamsim("run", scenario, "--parquet", "out", "--seed", "3")
    assert not (out / ".new").exists()
    assert not (out / "samples.parquet").exists()
    assert package.open_results(out).manifest.seed == 3


def test_new_results_leave_no_report_and_no_figure_of_the_earlier_ones(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    roamsim("run", scenario, "--parquet", "out", "--trace", "cwnd")
    roamsim("report", "out")
    roamsim("plot", "out", "--what", "cwnd")
    (out / "notes.txt").write_text("mine")
    done = roamsim("run", scenario, "--parquet", "out", "--seed", "2")
    assert "removed report.html, cwnd.svg" in done.stderr
    assert {file.name for file in out.glob("*.[hst]*")} == {"notes.txt"}
    sweep = ["sweep", scenario, "--out", "swept", "--vary"]
    roamsim(*sweep, f"{LOSS}=0.1")
    roamsim("report", "swept")
    assert "removed" not in roamsim(*sweep, f"{LOSS}=0.1").stderr
    assert (tmp_path / "swept" / "report.html").exists()
    assert "removed report.html" in roamsim(*sweep, f"{LOSS}=0.1,0.2").stderr
    assert not (tmp_path / "swept" / "report.html").exists()


def break_octet(file: Path) -> None:
    octets = bytearray(file.read_bytes())
    octets[len(octets) // 2] ^= 1
    file.write_bytes(octets)


@pytest.mark.parametrize(
    "damage", [break_octet, Path.unlink, lambda file: os.truncate(file, 100), lambda file: file.write_bytes(b"")]
)
def test_a_part_that_is_not_whole_is_said_set_aside_and_made_again(
    roamsim: Command, scenario: Path, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    command = ["sweep", scenario, "--vary", f"{LOSS}=0.02,0.04", "--replications", "4", "--out", "out"]
    roamsim(*command[:-3], "2", "--out", "out")
    roamsim(*command)
    before = package.open_results(tmp_path / "out").flows
    (part,) = (tmp_path / "out" / "parts").glob("*.zip")
    damage(part)
    lost = not part.exists()
    if not lost:
        for question in (
            ["report", "out"],
            ["query", "out", "select * from flows"],
            ["plot", "out", "--what", "cwnd"],
        ):
            assert f"{part.name} is damaged" in roamsim(*question, code=2).stderr
    done = roamsim(*command)
    assert (f"is set aside as {part.stem}.damaged" in done.stderr) is not lost
    assert package.open_results(tmp_path / "out").flows.equals(before)
    assert before.height == 8
    if not lost:
        # A narrower sweep makes what was lost of other points, too.
        damage(next((tmp_path / "out" / "parts").glob("*.zip")))
        roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02", "--replications", "4", "--out", "out")
        assert package.open_results(tmp_path / "out").flows.equals(before)
    roamsim("report", "out")


def test_a_damaged_table_of_a_run_is_named(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    def other_rows(file: Path) -> None:
        polars.read_parquet(file).with_columns(goodput_bps=1.0).write_parquet(file)

    empty, cut = lambda file: file.write_bytes(b""), lambda file: os.truncate(file, 999)
    roamsim("run", scenario, "--parquet", "whole")
    for number, damage in enumerate((break_octet, Path.unlink, empty, cut, other_rows)):
        out = shutil.copytree(tmp_path / "whole", tmp_path / str(number))
        damage(out / "flows.parquet")
        for ask in (
            lambda out: package.report(out),
            lambda out: package.query(out, "select 1"),
            lambda out: package.plot(out, "flows.goodput_bps"),
        ):
            with pytest.raises(UsageError, match=r"flows\.parquet is damaged"):
                ask(out)
    for command in (["report", "0"], ["query", "0", "select 1"], ["plot", "0", "--what", "flows.goodput_bps"]):
        assert "flows.parquet is damaged" in roamsim(*command, code=2).stderr


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": []}, "kind: there is no []"),
        ({"vary": []}, "vary: a table belongs there"),
        ({"vary": {"a.b": 5}}, "vary.a.b: a list belongs there"),
        ({"traces": "cwnd"}, "traces: a list belongs there"),
        ({"traces": ["nonsense"]}, "traces: there is no 'nonsense'"),
        ({"compared": {"over": 5}}, "compared"),
        ({"points": {}}, "points: a list belongs there"),
        ({"points": [{"values": {}, "shown": {}, "fingerprint": "", "replications": "2"}]}, "points[0].replications"),
        ({"points": []}, "points: there is none"),
        ({"seed": -1}, "seed: -1"),
        ({"seed": True}, "seed: a whole number belongs there"),
        ({"layout": 1}, "another version"),
        ({"colour": 1}, "colour: there is no such key"),
        ({"canonical": []}, "canonical: a table belongs there"),
        ({"canonical": {}}, "canonical: it is no scenario"),
        ({"scenario": "\ud800"}, "it is no JSON"),
        ({"tables": {"../flows": "0"}}, "there is no table '../flows'"),
    ],
)
def test_a_manifest_that_is_none_is_said_with_the_place(
    scenario: Path, tmp_path: Path, change: dict[str, object], complaint: str
) -> None:
    package.sweep(scenario, {LOSS: "0.1"}, out=tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    entries = json.loads(path.read_text()) | change
    if "tables" in change:
        entries |= {"kind": "run", "vary": {}}
        entries["points"] = [entries["points"][0] | {"values": {}, "shown": {}}]
    path.write_text(json.dumps(entries))
    with pytest.raises(Damaged) as error:
        package.open_results(tmp_path / "out")
    assert complaint in str(error.value)
    with pytest.raises(UsageError):
        package.sweep(scenario, {LOSS: "0.1"}, out=tmp_path / "out") if "tables" not in change else read_manifest(
            package.open_results(tmp_path / "out").path
        )


def test_a_tree_without_end_is_no_manifest(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    deep = '{"layout": 2, "canonical": ' + "[" * 150 + "]" * 150 + "}"
    for text, why in (("[" * 200_000, ""), ('{"a":' * 200_000, ""), (deep, "its tree is none of a manifest")):
        (tmp_path / "out" / "manifest.json").write_text(text)
        assert f"is no manifest of this version ({why}" in roamsim("report", "out", code=2).stderr


def test_what_is_no_regular_file_is_refused(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    for file in ("pipe.toml", "endless.toml", "/dev/zero"):
        for command in ("run", "check"):
            assert "is not a regular file" in roamsim(command, file, code=2).stderr
    out = tmp_path / "out"
    out.mkdir()
    for name, make in (("manifest.json", os.mkfifo), ("manifest.json", lambda path: path.symlink_to("/dev/zero"))):
        (out / name).unlink(missing_ok=True)
        make(out / name)
        assert "is not a regular file" in roamsim("report", "out", code=2).stderr
    (out / "manifest.json").unlink()
    roamsim("run", scenario, "--parquet", "out")
    (out / "flows.parquet").unlink()
    os.mkfifo(out / "flows.parquet")
    assert "is not a regular file" in roamsim("query", "out", "select 1", code=2).stderr
    # What is no file cannot be replaced: a page for a device is written to it.
    roamsim("run", scenario, "--parquet", "other")
    roamsim("report", "other", "--out", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_a_folder_without_results_is_left_alone(
    roamsim: Command, scenario: Path, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_bytes(b"mine")
    (tmp_path / "mine" / ".tmp-letter").write_bytes(b"mine")
    assert "holds other files" in roamsim("run", scenario, "--parquet", "mine", code=2).stderr
    sweep = ("sweep", scenario, "--vary", f"{LOSS}=0,0.1", "--out", "mine")
    assert "holds other files" in roamsim(*sweep, code=2).stderr
    # Parts that no manifest tells of are somebody else's, too.
    (tmp_path / "mine" / "parts").mkdir()
    (tmp_path / "mine" / "parts" / "000000.zip").write_bytes(b"mine")
    study = ("study", "run", small, "--quick", "--out")
    assert "holds other files" in roamsim(*study, "mine", code=2).stderr
    assert {"letter", ".tmp-letter", "parts/000000.zip"} <= set(contents(tmp_path / "mine"))
    roamsim("run", scenario, "--parquet", "run")
    assert "holds results of a run" in roamsim(*study, "run", code=2).stderr


def test_links_in_a_folder_lead_nothing_out_of_it(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    sweep = ("sweep", scenario, "--vary", f"{LOSS}=0,0.1", "--out", "out")
    roamsim(*sweep)
    precious = tmp_path / "precious"
    precious.mkdir()
    names = ("report.html", "flows.goodput_bps.svg", "flows.parquet", "manifest.json")
    for name in names:
        (precious / name).write_bytes(b"mine")
        if name == "manifest.json":
            (precious / name).write_bytes((tmp_path / "out" / name).read_bytes())
        (tmp_path / "out" / name).unlink(missing_ok=True)
        (tmp_path / "out" / name).symlink_to(precious / name)
    before = contents(precious)
    roamsim("report", "out")
    roamsim("plot", "out", "--what", "flows.goodput_bps")
    roamsim(*sweep, "--replications", "2")
    assert contents(precious) == before
    # Whoever names a file means what it leads to.
    (tmp_path / "mine.html").symlink_to(precious / "report.html")
    roamsim("report", "out", "--out", "mine.html")
    assert (tmp_path / "mine.html").is_symlink()
    assert (precious / "report.html").read_bytes() != b"mine"
    # What is damaged in parts is renamed, and what is left over there removed.
    shutil.rmtree(tmp_path / "out" / "parts")
    (precious / "holidays.zip").write_bytes(b"mine")
    (precious / ".tmp-mine").write_bytes(b"mine")
    (tmp_path / "out" / "parts").symlink_to(precious)
    assert "is a link" in roamsim(*sweep, code=2).stderr
    assert {"holidays.zip", ".tmp-mine"} <= set(contents(precious))


def test_names_end_no_script_and_no_comment() -> None:
    report = Report("A <!--<script> name")
    report.figure("f", {"mark": "point", "data": {"values": [{"a": "<!--<script></script>"}]}}, "c")
    report.text("<script>alert(1)</script>")
    text = report.html()
    data = text.partition('id="charts">')[2].partition("</script>")[0]
    assert "<" not in data
    assert "<!--<script>" in json.loads(data)["f"]["data"]["values"][0]["a"]
    assert "<script>alert" not in text


def test_a_folder_has_one_file_a_thousand_runs(tmp_path: Path) -> None:
    parts = Parts(tmp_path)

    def files() -> list[Path]:
        return list((tmp_path / "parts").iterdir())

    # However slowly the runs come: one by one, or some.
    for number in range(FULL + 100):
        parts.add([("k", number, {"flows": {"name": ["a"], "x": [float(number)]}})])
        assert len(files()) <= number / FULL + 3 * (TOGETHER - 1) + 1
    for number in range(FULL + 100, 3 * FULL, 100):
        several = range(number, number + 100)
        parts.add([("k", one, {"flows": {"name": ["a"], "x": [float(one)]}}) for one in several])
        assert len(files()) <= number / FULL + 3 * (TOGETHER - 1) + 1
    parts.put_together()
    assert len(files()) <= 4
    written = int(max(file.stem for file in files())) + 1
    # Each run is written three times at most.
    assert written < (FULL + 100) * 1.15
    assert sorted(Parts(tmp_path).rows("flows")["x"]) == list(range(3 * FULL))


def test_a_large_part_is_full_however_few_runs_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamsim.storing.parts.FULL_BYTES", 3000)
    parts = Parts(tmp_path)
    for number in range(30):
        parts.add([("k", number, {"flows": {"x": [float(number)]}})])
    parts.put_together()
    files = list((tmp_path / "parts").iterdir())
    assert 1 < len(files) < 15
    assert sorted(Parts(tmp_path).rows("flows")["x"]) == list(range(30))


@pytest.mark.parametrize("many", [1, 40])
def test_a_kill_at_any_moment_loses_no_run_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    class Killed(BaseException):
        """The process ends here."""

    steps = 0

    def counted(step: Callable[..., object]) -> Callable[..., object]:
        def counting(*arguments: object, **named: object) -> object:
            nonlocal steps
            steps -= 1
            if steps == 0:
                raise Killed
            return step(*arguments, **named)

        return counting

    def kept(folder: Path) -> list[float]:
        parts = Parts(folder)
        return parts.rows("flows")["x"].sort().to_list() if parts.names() else []

    monkeypatch.setattr(Path, "unlink", counted(Path.unlink))
    monkeypatch.setattr(Path, "replace", counted(Path.replace))
    # Among the first ten parts, within putting them together, and after it.
    for after in (1, 10, 11, 12, 16, 21, 22, 35):
        folder = tmp_path / f"{after}"
        folder.mkdir()
        steps, added = 0, 0
        parts = Parts(folder)
        with contextlib.suppress(Killed):
            steps = after
            for _ in range(25):
                parts.add([("k", added + one, {"flows": {"x": [float(added + one)]}}) for one in range(many)])
                added += many
            parts.put_together()
        steps = 0
        # What was added is there, once; of what was being added all or nothing.
        found = kept(folder)
        assert found in (list(range(added)), list(range(added + many)))
        Parts(folder).put_together()
        assert kept(folder) == found


def test_a_part_and_those_that_it_was_put_together_of_count_once(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    for number in (0, 1):
        parts.add([("k", number, {"flows": {"x": [float(number)]}})])
    small = contents(tmp_path)
    parts.put_together()
    for name, octets in small.items():
        (tmp_path / name).write_bytes(octets)
    again = Parts(tmp_path)
    assert sorted(again.rows("flows").select("replication", "x").rows()) == [(0, 0.0), (1, 1.0)]
    again.put_together()
    assert sorted(Parts(tmp_path).rows("flows")["x"]) == [0.0, 1.0]


def test_a_part_of_other_things_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    file = tmp_path / "parts" / "000000.zip"
    runs = polars.DataFrame({"key": ["k"], "replication": [0]})
    for wrong in (runs.with_columns(replication=polars.lit("0")), runs.select("key"), runs.with_columns(x=1)):
        wrong.write_parquet(tmp_path / "runs.parquet")
        with zipfile.ZipFile(file, "w") as archive:
            archive.write(tmp_path / "runs.parquet", "runs.parquet")
        with pytest.raises(Damaged, match="is damaged: "):
            Parts(tmp_path)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("runs.parquet", b"0" * 1000)
    with pytest.raises(Damaged, match="compressed"):
        Parts(tmp_path)


def test_results_of_another_build_are_made_again(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = package.sweep(scenario, {LOSS: "0.1"}, out=out)
    assert package.sweep(scenario, {LOSS: "0.1"}, out=out).made == 0
    (point,) = first.manifest.points
    canonical = package.load(scenario, set={LOSS: 0.1}).canonical
    assert point.fingerprint == hashlib.sha256(f"{canonical}\0{first.manifest.build}".encode()).hexdigest()
    # As an earlier build would have left it: other fingerprints, so other keys.
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["build"] = manifest["points"][0]["fingerprint"] = "0"
    (out / "manifest.json").write_text(json.dumps(manifest))
    frame = Parts(out).rows("flows").drop("key", "replication")
    shutil.rmtree(out / "parts")
    Parts(out).add([(run_key("0", 1), 0, {"flows": simulated(frame)})])
    assert package.open_results(out).flows.height == 1
    with pytest.warns(UserWarning, match="another build"):
        assert package.sweep(scenario, {LOSS: "0.1"}, out=out).made == 1


STUDY = '''
"""A module."""
import math
from .cases import FACTOR, helper
from .facade import shown
from . import more
LIMIT = 5
def unused():
    return 1
def below(x):
    """Words."""
    return x < LIMIT
def measure(tables):
    # A comment.
    from . import late
    from .later import last as end
    late.begin(shown(1), more.further.far(2), end(3))
    return {"x": [helper(v) * FACTOR + more.offset() for v in tables["a"] if below(v)]}
'''


@pytest.mark.parametrize(
    ("file", "before", "after", "changes"),
    [
        ("study.py", "* FACTOR", "+ FACTOR", True),
        ("study.py", "LIMIT = 5", "LIMIT = 6", True),
        ("study.py", "x < LIMIT", "x <= LIMIT", True),
        ("cases.py", "FACTOR = 2", "FACTOR = 3", True),
        ("cases.py", "return deep(v)", "return deep(v) + 1", True),
        ("cases.py", "return v", "return -v", True),
        ("more.py", "return 7", "return 8", True),
        ("study.py", "return 1", "return 2", False),
        ("study.py", "A comment", "Another", False),
        ("study.py", "Words", "Others", False),
        ("more.py", "return 0", "return 1", False),
        ("statements.py", "S = 1", "S = 2", False),
        # Given by a module that loads it, imported inside of a function, behind two dots.
        ("given.py", "return 4", "return 5", True),
        ("late.py", "return 6", "return 7", True),
        ("later.py", "return 8", "return 9", True),
        ("further.py", "return 10", "return 11", True),
    ],
)
def test_a_changed_measurement_has_another_digest(
    tmp_path: Path, file: str, before: str, after: str, changes: bool
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    texts = {
        "study.py": STUDY,
        "cases.py": "FACTOR = 2\ndef deep(v):\n    return v\ndef helper(v):\n    return deep(v)\n",
        "more.py": "from . import further\ndef offset():\n    return 7\ndef other():\n    return 0\n",
        "facade.py": "def __getattr__(name):\n    from . import given\n    return getattr(given, name)\n",
        "given.py": "def shown(v):\n    return 4\n",
        "late.py": "def begin(*v):\n    return 6\n",
        "later.py": "def last(v):\n    return 8\n",
        "further.py": "def far(v):\n    return 10\n",
        "statements.py": "S = 1\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    first = code_digest(read_code(folder)["study"].measure)
    assert code_digest(read_code(folder)["study"].measure) == first
    assert before in texts[file]
    (folder / file).write_text(texts[file].replace(before, after))
    os.utime(folder / file, (1, 1))  # the compiled file is told from the text by the time
    assert (code_digest(read_code(folder)["study"].measure) != first) is changes
