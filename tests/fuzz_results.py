"""Damaged folders of results and made-up command lines: whatever comes, the command ends with a code and a message.

    python tests/fuzz_results.py --seconds 600 --seed 7

Each case follows from the seed and its number alone, so that `--first N` repeats one. What is wrong: a traceback, a
panic, an exit code that the command does not have, an error without a word, or no end within five minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
from small_study import FILES

SCENARIO = """
[scenario]
name = "Two flows"
duration = "2s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "pipe"
between = ["a", "b"]
rate = "1Mb/s"
delay = "5ms"
loss = { model = "bernoulli", probability = 0.02 }
[[flow]]
name = "bulk"
from = "a"
to = "b"
transport = { protocol = "tcp" }
application = { kind = "bulk", start = "0s" }
[[signalling]]
name = "mih"
kind = "indication"
from = "a"
to = "b"
transport = { protocol = "udp" }
message_size = "100B"
interval = "200ms"
start = "0s"
stop = "1s"
"""

#: Seconds after which a command has hung (chosen: the slowest takes two, on an idle machine).
HUNG_S = 300

CODES = {0, 1, 2, 3, 4, 5, 130}

LOSS = "link.pipe.loss.probability"
MADE_BY = {
    "run": ["run", "s.toml", "--trace", "cwnd,segments,transactions,messages,packets", "--parquet", "run"],
    "sweep": ["sweep", "s.toml", "--vary", f"{LOSS}=0.01,0.1", "--replications", "2", "--out", "sweep"],
    "compare": [
        "compare", "s.toml", "--vary", "flow.bulk.transport.variant=reno,sack", "--replications", "2", "--trace",
        "cwnd", "--out", "compare",
    ],
}  # fmt: skip
MADE_BY |= {
    "first": [*MADE_BY["sweep"][:-1], "first", "--shard", "1/2"],
    "second": [*MADE_BY["sweep"][:-1], "second", "--shard", "2/2"],
    "merged": ["merge", "first", "second", "--out", "merged"],
    "own": ["study", "run", "definition", "--quick", "--out", "own"],
}
STUDY = {
    "kind": "study", "study": "mih-transport", "own": False, "level": "quick", "seed": 1, "version": "0.1.0",
    "build": "0", "command": "", "made_with": {}, "layout": 2,
}  # fmt: skip
METRICS = (
    "flows.goodput_bps", "flows.mean_delay_s", "links.utilisation", "signalling.mean_delay_s", "flows.retransmissions",
)  # fmt: skip
QUESTIONS = ("select * from flows", "describe flows", "select count(*) from samples", "summarize links")
DRAWN = ("cwnd", "segments", "transactions", "messages", "occupancy", *METRICS)
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, 10**30, 1.5, -0.0, 1e999, "", "x", "\ud800", "\0", '"; --', "../..", "a.b", "1s",
    [], {}, [[]], [{}], {"": {}}, {"a": [1]}, "9" * 5000,
)  # fmt: skip


class Wrong(Exception):
    """A command did what none may do."""


def command(arguments: list[str], folder: Path) -> int:
    """Runs the command in this process, in a folder, and returns its exit code."""
    from roamsim.cli.app import app

    def hung(*_: object) -> None:
        raise Wrong(f"no end within {HUNG_S} s")

    here = Path.cwd()
    before = signal.signal(signal.SIGALRM, hung)
    with tempfile.TemporaryFile() as said, redirected(said.fileno()):
        os.chdir(folder)
        signal.alarm(HUNG_S)
        try:
            app(arguments, prog_name="roamsim")
            code: Any = 0
        except SystemExit as error:
            code = error.code or 0
        except BaseException as error:
            raise Wrong(f"{type(error).__name__}: {error}\n{traceback.format_exc()}") from error
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            os.chdir(here)
        sys.stderr.flush()
        said.seek(0)
        text = said.read().decode(errors="replace")
    if code not in CODES:
        raise Wrong(f"exit code {code}\n{text}")
    if "Traceback" in text or "panicked" in text or "a fault of the simulator" in text or "Exception ignored" in text:
        raise Wrong(text)
    if code and not text.strip():
        raise Wrong(f"exit code {code} without a word")
    return int(code)


def text_of(number: int) -> io.TextIOWrapper:
    """A stream of text, which takes file names that are no text, as those of the command do."""
    octets = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(octets, encoding="utf-8", errors="surrogateescape", write_through=True)


@contextlib.contextmanager
def redirected(target: int) -> Iterator[None]:
    """Sends what this process and its libraries write to stdout and stderr into a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    streams = sys.stdout, sys.stderr
    os.dup2(target, 1)
    os.dup2(target, 2)
    sys.stdout = text_of(1)
    sys.stderr = text_of(2)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        sys.stdout, sys.stderr = streams
        for number, stream in enumerate(kept, 1):
            os.dup2(stream, number)
            os.close(stream)


# Damage -----------------------------------------------------------------------------------------------------------


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a tree with each of its keys."""
    if isinstance(tree, dict | list):
        for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from places(tree[key])


def damaged_tree(chance: random.Random, folder: Path) -> None:
    """Some values of the manifest are others, gone, or elsewhere."""
    file = folder / "manifest.json"
    tree = json.loads(file.read_text())
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        container, key = chance.choice(list(places(tree)))
        what = chance.random()
        if what < 0.6:
            container[key] = chance.choice(ODD)
        elif what < 0.75:
            del container[key]
        elif what < 0.9:
            other, place = chance.choice(list(places(tree)) or [(container, key)])
            with contextlib.suppress(KeyError, IndexError):
                container[key] = json.loads(json.dumps(other[place]))
        elif isinstance(container, dict):
            container[chance.choice(("", "x", "point", "replication", "tables", "\ud800"))] = chance.choice(ODD)
    file.write_text(json.dumps(tree))


def damaged_octets(chance: random.Random, folder: Path) -> None:
    """A file has other octets, fewer, or those of another file."""
    file = chance.choice(files(folder))
    octets = bytearray(file.read_bytes())
    match chance.randrange(5):
        case 0 if octets:
            for _ in range(chance.choice((1, 3, 30))):
                octets[chance.randrange(len(octets))] = chance.randrange(256)
        case 1:
            del octets[chance.randrange(len(octets) + 1) :]
        case 2:
            octets[:] = chance.choice(files(folder)).read_bytes()
        case 3:
            octets[:] = b"[" * 200_000 if chance.random() < 0.5 else b""
        case _:
            at = chance.randrange(len(octets) + 1)
            octets[at:at] = chance.randbytes(chance.choice((1, 8, 100)))
    file.write_bytes(octets)


def damaged_place(chance: random.Random, folder: Path) -> None:
    """A file is gone, or something else stands in its place; others have odd names."""
    file = chance.choice(files(folder))
    odd = chance.choice(
        ('z" as select 1; --.parquet', "parts/x-y-z.zip", "parts/9.zip", ".new", ".tmp-1", "ru\nn.parquet")
    )
    match chance.randrange(6):
        case 0:
            file.unlink()
        case 1:
            file.unlink()
            os.mkfifo(file)
        case 2:
            file.unlink()
            file.symlink_to(chance.choice(("/dev/zero", "/dev/full", "nowhere", str(file))))
        case 3:
            file.unlink()
            file.mkdir()
        case 4:
            (folder / odd).parent.mkdir(exist_ok=True)
            shutil.copyfile(file, folder / odd)
        case _:
            shutil.copytree(folder, folder / ".new")


def damaged_table(chance: random.Random, folder: Path) -> None:
    """A table has other columns, types or values, and everything that tells damage says that it is whole."""
    parts = sorted((folder / "parts").glob("*.zip"))
    if parts:
        part = chance.choice(parts)
        with zipfile.ZipFile(part) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = chance.choice(list(members))
        members[name] = changed(chance, members[name])
        with zipfile.ZipFile(part, "w") as archive:
            for member, octets in members.items():
                archive.writestr(member, octets)
        return None
    tables = sorted(folder.glob("*.parquet"))
    if not tables:
        return damaged_tree(chance, folder)
    table = chance.choice(tables)
    table.write_bytes(changed(chance, table.read_bytes()))
    tree = json.loads((folder / "manifest.json").read_text())
    tree["tables"][table.stem] = hashlib.sha256(table.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(tree))
    return None


def changed(chance: random.Random, octets: bytes) -> bytes:
    """A Parquet file with a change."""
    frame = polars.read_parquet(io.BytesIO(octets))
    column = chance.choice(frame.columns)
    match chance.randrange(12):
        case 8 | 9 | 10 | 11:
            # Some rows of some columns have values of their type that no run leaves.
            for name in chance.sample(frame.columns, chance.choice((1, 1, min(3, frame.width)))):
                odd = chance.choice(odd_values(frame.schema[name]))
                rows = polars.int_range(polars.len()) % chance.choice((1, 2, 7)) == 0
                value = polars.lit(odd, frame.schema[name])
                frame = frame.with_columns(polars.when(rows).then(value).otherwise(polars.col(name)).alias(name))
        case 0:
            frame = frame.drop(column)
        case 1:
            frame = frame.with_columns(polars.col(column).cast(polars.String))
        case 2:
            frame = frame.with_columns(polars.lit(None).alias(column))
        case 3:
            frame = frame.rename({column: chance.choice(("x", "point ", "key2"))})
        case 4:
            frame = frame.with_columns(polars.lit(chance.choice((-1, 10**12, 0.5))).alias(column))
        case 5:
            frame = frame.clear()
        case 6:
            frame = polars.concat([frame, frame])
        case _:
            frame = frame.with_columns(polars.lit([[1]]).alias(column))
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def odd_values(dtype: polars.DataType) -> tuple[Any, ...]:
    """Values of a type that no run leaves, or hardly any."""
    if dtype == polars.Float64:
        return (None, float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, -1.0, 1e24, -1e24, 0.0, 2.0)
    if dtype == polars.UInt64:
        return (None, 0, 1, 2**32, 2**63, 2**64 - 1)
    if dtype == polars.Int64:
        return (None, 0, -1, 2**63 - 1, -(2**63), 10**15)
    if dtype == polars.Boolean:
        return (None, True, False)
    return (None, "", "x", "\x1b[2J", "\u202e", "a" * 10_000, "<script>", "1", "nan")


def files(folder: Path) -> list[Path]:
    """The files of a folder, in order."""
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.name != ".lock")


def left_spool(chance: random.Random, folder: Path) -> None:
    """A run that was killed left its spool, or somebody put there what looks like one."""
    spool = folder / ".tmp-spool-left"
    held = spool / ".held"
    match chance.randrange(4):
        case 0:
            spool.symlink_to(folder.parent)
        case 1:
            spool.mkdir()
            held.symlink_to(folder.parent / "s.toml")
        case 2:
            held.mkdir(parents=True)
        case _:
            spool.mkdir()
            held.touch()
            (spool / "samples-0000000-000000.parquet").write_bytes(chance.randbytes(100))
    if not spool.is_symlink():
        os.utime(held, (0, 0), follow_symlinks=False)


DAMAGE: tuple[Callable[[random.Random, Path], None], ...] = (
    damaged_tree, damaged_tree, damaged_octets, damaged_place, damaged_table, damaged_table, damaged_table, left_spool,
)  # fmt: skip


def uses(chance: random.Random, name: str) -> list[str]:
    """A command that reads the folder, or goes on in it."""
    kinds = ["report", "report", "query", "plot", "plot", "again"]
    if name in ("first", "second"):
        kinds = ["merge", "merge", "again", "report", "query"]
    if name == "own":
        kinds = ["query of it", "query", "plot", "compare", "run", "run", "again"]
    if name == "study":
        kinds = ["query", "query", "plot", "study", "sweep"]
    match chance.choice(kinds):
        case "report":
            return ["report", name]
        case "query":
            return ["query", name, chance.choice(QUESTIONS), *chance.choice(([], ["--json"], ["--csv"]))]
        case "plot":
            against = ["--against", chance.choice(METRICS)] if chance.random() < 0.2 else []
            return ["plot", name, "--what", chance.choice(DRAWN), *against]
        case "compare":
            return ["study", "compare", "definition", "--quick", "--out", name]
        case "run":
            return [*MADE_BY["own"][:-1], name, "--json"]
        case "merge":
            return ["merge", "first", "second", "--out", chance.choice(("merged", "new"))]
        case "query of it":
            return ["query", name, "select * from lossy", "--study", "definition"]
        case "study":
            return ["study", "compare", name]
        case "sweep":
            return [*MADE_BY["sweep"][:-1], name]
    return MADE_BY[name]


# Command lines ----------------------------------------------------------------------------------------------------

WORDS = (
    "run", "sweep", "compare", "check", "init", "schema", "explain", "query", "plot", "report", "study", "list", "show",
    "s.toml", "missing.toml", "run", "sweep", "out", "-", ".", "", "..", "/dev/null", "/dev/zero", "\udcff", "a\nb",
    "--set", "--vary", "--out", "--seed", "--replications", "--jobs", "--trace", "--json", "--csv", "--table", "--parquet",
    "--what", "--flow", "--from", "--to", "--metric", "--baseline", "--precision", "--max-replications", "--study",
    "--help", "--version", "--nonsense", "--", "-h",
    f"{LOSS}=0.1", f"{LOSS}=0,0.5", f"{LOSS}=0:0.2:0.1", "flow.bulk.transport.variant=reno,sack", "flow.9.x=1", "=", "a=",
    "scenario.duration=1s", "scenario.duration=1ms:6ms:2ms", "x=1:2:0", "link.pipe.delay=1e400ms", "flow=[]", "a=\udcff",
    "0", "1", "2", "3", "-1", "1.5", "18446744073709551616", "nan", "1e999", "5%", "0%", "flows", "flows.goodput_bps",
    "flows.bulk.goodput_bps", "flows.goodput_bps=5%", "cwnd", "rtt,queue", "packets", "transactions", "0s", "1.5s", "1 h",
    "select 1", "select * from flows", "select", "drop table flows", "select 1; select 2", "copy flows to 'x'",
    "mih-transport", "nonsense", "reno", "bulk", "mih",
)  # fmt: skip
STARTS = (
    ["run", "s.toml"], ["check", "s.toml"], ["sweep", "s.toml", "--out", "new"], ["compare", "s.toml"], ["query", "run"],
    ["plot", "run", "--what"], ["report", "sweep"], ["explain"], ["study", "show"], [], ["query", "sweep"],
)  # fmt: skip
#: They would write outside of the folder, or run a whole study.
NEVER = ({"--pcap"}, {"study", "run"})


def line(chance: random.Random) -> list[str]:
    """A command line of words that belong to it, and of others."""
    while True:
        words = [*chance.choice(STARTS), *(chance.choice(WORDS) for _ in range(chance.choice((0, 1, 2, 2, 3, 4, 6))))]
        if not any(never <= set(words) for never in NEVER):
            return words


# Driving ----------------------------------------------------------------------------------------------------------


def prepared(home: Path) -> Path:
    """A folder with a scenario and results of each kind."""
    base = home / "base"
    base.mkdir()
    (base / "s.toml").write_text(SCENARIO)
    (base / "definition").mkdir()
    for name, text in FILES.items():
        (base / "definition" / name).write_text(text)
    for arguments in MADE_BY.values():
        if command(arguments, base) != 0:
            raise Wrong(f"{arguments} failed")
    (base / "study" / "parts").mkdir(parents=True)
    (base / "study" / "manifest.json").write_text(json.dumps(STUDY))
    return base


def case(seed: int, number: int, base: Path, home: Path) -> None:
    """One damaged folder and what is done with it, or one command line."""
    chance = random.Random(f"{seed} {number}")
    at = home / "case"
    shutil.rmtree(at, ignore_errors=True)
    shutil.copytree(base, at, symlinks=True)
    if chance.random() < 0.3:
        commands = [line(chance)]
    else:
        name = chance.choice((*MADE_BY, "study"))
        chance.choice(DAMAGE)(chance, at / name)
        commands = [uses(chance, name) for _ in range(2)]
    for arguments in commands:
        try:
            command(arguments, at)
        except Wrong as error:
            raise Wrong(f"--seed {seed} --first {number}: roamsim {arguments}\n{error}") from None


def drive(seconds: float, seed: int, first: int = 0) -> int:
    """Makes cases for so long; returns how many there were.

    Raises:
        Wrong: a command did what none may do.
    """
    with tempfile.TemporaryDirectory() as home:
        base = prepared(Path(home))
        end, number = time.monotonic() + seconds, first
        while time.monotonic() < end or number == first:
            case(seed, number, base, Path(home))
            number += 1
    return number - first


def main() -> None:
    """Reads the options and drives."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0)
    asked = options.parse_args()
    print(f"{drive(asked.seconds, asked.seed, asked.first)} cases, none wrong")


if __name__ == "__main__":
    main()
