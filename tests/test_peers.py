"""The comparison of speed with other simulators: htsim from a copy of its source, and who runs what."""

from __future__ import annotations

from pathlib import Path

import pytest

from benches import compare, programs
from benches.dumbbell import dumbbell
from peers import simulators
from peers.simulators import HTSIM_HEADERS, MissingError, Program

PRINTS = '#include "config.h"\n#include <cstdio>\nint main() { std::printf("{\\"answer\\": %d}\\n", answer()); }\n'


def copy_of_htsim(at: Path) -> Path:
    """What is taken for one: its headers, something that they promise, and what else such a folder holds."""
    sim = at / "sim"
    sim.mkdir(parents=True)
    for header in HTSIM_HEADERS:
        (sim / header).write_text("int answer();\n" if header == "config.h" else "")
    # What is needed lies beside what is not, which calls what does not compile, and what is there twice.
    (sim / "config.cpp").write_text(
        "int answer() { return 42; }\n"
        "int gone();\nint first();\nint second();\n"
        "int unused() { return gone() + first() + second(); }\n"
    )
    (sim / "main_a.cpp").write_text("int\nmain(int, char**) { return 1; }\n")
    (sim / "old.cpp").write_text('#include "removed.h"\nint gone() { return 1; }\n')
    (sim / "swift.cpp").write_text("int first() { return 1; }\nint both() { return 1; }\n")
    (sim / "swift_new.cpp").write_text("int second() { return 1; }\nint both() { return 1; }\n")
    return at


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(simulators, "ENVIRONMENT", tmp_path / "environment")
    source = tmp_path / "prints.cc"
    source.write_text(PRINTS)
    return source


@pytest.mark.needs("g++")
def test_a_program_is_compiled_against_a_copy_of_htsim_which_stays_as_it_is(tmp_path: Path, program: Path) -> None:
    path = copy_of_htsim(tmp_path / "csg-htsim")
    before = {file: file.read_text() for file in path.rglob("*.*")}
    built = simulators.htsim(program, path)
    assert built.run([]) == {"answer": 42}
    assert "of no known commit" in built.build
    assert {file: file.read_text() for file in path.rglob("*.*")} == before
    # The folder of the sources itself will do as well.
    assert simulators.htsim(program, path / "sim") == built


@pytest.mark.needs("g++")
def test_it_is_compiled_anew_when_a_source_has_changed_and_only_then(
    tmp_path: Path, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy_of_htsim(tmp_path / "csg-htsim")
    for answer, compiled in ((42, 1), (42, 0), (43, 1)):
        (path / "sim" / "config.cpp").write_text(f"int answer() {{ return {answer}; }}\n")
        assert simulators.htsim(program, path).run([]) == {"answer": answer}
        assert capsys.readouterr().err.count("compiling") == compiled


@pytest.mark.needs("g++")
def test_what_the_compiler_said_is_told(tmp_path: Path, program: Path) -> None:
    path = copy_of_htsim(tmp_path / "csg-htsim")
    (path / "sim" / "config.cpp").write_text("int answer() { return forty_two; }\n")
    for _ in range(2):  # what could not be built is not taken for built the second time
        with pytest.raises(SystemExit, match="forty_two") as told:
            simulators.htsim(program, path)
        assert "prints.cc cannot be compiled against" in str(told.value)


@pytest.mark.parametrize("inside", ["nowhere", "empty", "other"])
def test_a_wrong_path_is_an_error_that_says_what_was_looked_for(
    tmp_path: Path, inside: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / inside
    if inside == "empty":
        path.mkdir()
    if inside == "other":
        (copy_of_htsim(path) / "sim" / "tcp.h").unlink()
    monkeypatch.setattr("sys.argv", ["compare", "--only", "bulk", "--htsim", str(path)])
    with pytest.raises(SystemExit) as told:
        compare.main()
    assert told.value.code == 2
    said = capsys.readouterr().err
    assert f"neither {path} nor {path / 'sim'} holds the sources of htsim" in said
    assert "tcp.h" in said


def test_without_a_path_htsim_is_left_out_with_the_way_to_give_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object) -> Program:
        raise MissingError("not here")

    for name in ("ours", "ns2", "ns3"):
        monkeypatch.setattr(programs, name, missing)
    assert compare.available(None) == []
    left_out = [line for line in capsys.readouterr().err.splitlines() if "htsim" in line]
    assert len(left_out) == 1
    assert left_out[0].startswith("LEFT OUT: htsim")
    assert "--htsim PATH" in left_out[0]
    assert "make bench HTSIM=PATH" in left_out[0]


def test_who_is_not_wanted_runs_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = [Program(name, "", []) for name in ("roamsim", "ns-3", "ns-2")]
    monkeypatch.setattr(compare, "available", lambda _: found)
    monkeypatch.setattr(Program, "run", lambda *_: {"cpu_s": 1.0, "delivered_units": 10, "goodput_bps": 8e6})
    monkeypatch.setattr(
        compare, "report", lambda _benches, programs, *_: " ".join(program.name for program in programs)
    )
    monkeypatch.setattr("sys.argv", ["compare", "--only", "bulk", "--rounds", "1", "--without", "ns-3"])
    compare.main()
    assert capsys.readouterr().out == "roamsim ns-2"


def test_only_who_can_run_a_scenario_does_and_htsim_has_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    """htsim has neither signalling nor cells; 2.5 times the CPU meets the goal at 1000 flows, not that at ten."""
    cpu_s = {"roamsim": 1.0, "ns-2": 4.0, "htsim": 2.5}

    def run(program: Program, _: list[str]) -> dict[str, float]:
        return {"cpu_s": cpu_s[program.name], "delivered_units": 10 if program.name == "htsim" else 20}

    monkeypatch.setattr(Program, "run", run)
    found = [Program(name, "", []) for name in cpu_s]
    runs = compare.measure(compare.BENCHES, found, 1)
    assert {name for name, by in runs.items() if "htsim" in by} == {
        "bulk",
        "dumbbell-10",
        "dumbbell-100",
        "dumbbell-1000",
        "wide-10000",
    }
    assert [name for name, by in runs.items() if "ns-2" not in by] == [
        "dumbbell-cubic-10",
        "dumbbell-bbr-10",
        "wide-10000",
        "wimax-1",
        "wimax-10",
    ]
    assert all("roamsim" in by for by in runs.values())
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in compare.ratio_table(compare.BENCHES, runs).splitlines()
    ]
    goals = {row[0]: row[2:] for row in rows if row[1] == "htsim"}
    assert goals["dumbbell-10"] == ["2.5", "5", "3: missed"]
    assert goals["dumbbell-1000"] == ["2.5", "5", "2.5: met"]
    assert goals["bulk"] == ["2.5", "5", ""]


def test_the_page_has_a_row_a_scenario_with_how_much_longer_each_peer_takes() -> None:
    """2 s for 4 million segments and 8 million events: 500 ns a segment, 4 million events a second."""
    mine = [{"cpu_s": 2.0, "delivered_units": 4e6, "events": 8e6, "max_rss_bytes": 19e6}] * 2
    runs = {"bulk": {"roamsim": mine, "htsim": [{"cpu_s": 4.0}, {"cpu_s": 8.0}]}, "cell-1": {"roamsim": mine}}
    benches = [bench for bench in compare.BENCHES if bench.name in runs]
    found = [Program("roamsim", "1", []), Program("htsim", "2", [])]
    rows = compare.report(benches, found, runs, 2, {}, brief=True).split("\n\n")[-1].splitlines()
    assert rows[0] == "| scenario | CPU, s | ns a unit | million events/s | peak MB | htsim / ours |"
    assert rows[2:] == [
        "| bulk | 2 | 500 a segment | 4 | 19 | 3 (2 to 4) |",
        "| cell-1 | 2 | 500 a frame | 4 | 19 |  |",
    ]


def test_a_wide_dumbbell_gives_each_flow_what_one_of_a_hundred_has() -> None:
    """A hundred at 100 Mb/s and 300 packets: 1 Mb/s and 3 packets each; ten thousand share 10 Gb/s and 30,000 packets."""
    usual, hundred, many = dumbbell(100), dumbbell(100, wide=True), dumbbell(10_000, wide=True)
    assert hundred["link"] == usual["link"]
    assert hundred["flow"] == usual["flow"]
    links = many["link"]
    assert isinstance(links, list)
    assert (links[0]["rate"], links[0]["queue"], links[0]["delay"]) == ("10000Mb/s", {"packets": 30_000}, "10ms")
    assert links[1]["queue"] == {"packets": 300}
