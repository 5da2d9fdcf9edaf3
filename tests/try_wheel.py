"""Whether a wheel works where there is neither cargo nor anything else of the project: `make wheel`.

    python tests/try_wheel.py FOLDER

Installs the newest wheel of the folder into a fresh environment: first alone, which has to run, sweep and compare, and
do to the bit what was recorded of the examples, however it was compiled; then with all extras, which has to write
reports and reproduce a study. Says how large either is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

#: What the installation without extras may take. Measured: 223, of which polars has 190 and pydantic, which typer wants, 11.
MOST_MB = 240
#: What every fresh environment has.
OF_ENVIRONMENT = {"pip", "setuptools", "pkg_resources", "_distutils_hack"}

ROOT = Path(__file__).resolve().parent.parent
RECORDED = "crates/scenario/tests/snapshots/all__determinism__examples_give_their_recorded_fingerprints.snap"
#: Prints what was recorded of the scenarios of a folder: of a minute of each, twice, four times as long, until all that is
#: in it has begun.
FINGERPRINTS = """
import sys
from pathlib import Path
from roamsim import ScenarioError, _roamsim


def recorded(file, seconds):
    parse = lambda *settings: _roamsim.Scenario.parse(
        file.read_text(encoding="utf-8"), name=str(file), format="toml", overrides=settings
    )
    whole = parse()
    if seconds >= whole.duration_s:
        return whole
    try:
        return parse(("scenario.duration", f"{seconds}s"))
    except ScenarioError:
        return recorded(file, 2 * seconds)


for file in sorted(Path(sys.argv[1]).glob("*.toml")):
    of = _roamsim.run(recorded(file, 60), fingerprints=True).fingerprints
    print(f"{file.name}: events {of['events']} packets {of['packets']} results {of['results']}")
"""


def main(folder: Path) -> None:
    wheel = max(folder.glob("roamsim-*.whl"), key=lambda file: file.stat().st_mtime).resolve()
    with tempfile.TemporaryDirectory(prefix="roamsim-wheel-") as temporary:
        place = Path(temporary)
        venv.create(place / "venv", with_pip=True)
        programs = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        # Neither cargo nor a compiler is on this path.
        environment = {"PATH": os.fspath(programs), "HOME": temporary, "NO_COLOR": "1"}
        # Windows starts no Python without these.
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP") if name in os.environ}

        def do(*command: str) -> None:
            print("$", *command, flush=True)
            subprocess.run([os.fspath(programs / command[0]), *command[1:]], cwd=place, env=environment, check=True)

        def install(what: str) -> float:
            begun = time.monotonic()
            pip = [os.fspath(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            # Where packages come from is this machine's affair.
            subprocess.run([*pip, what], cwd=place, env={**os.environ, "PATH": environment["PATH"]}, check=True)
            megabytes = _megabytes(place / "venv")
            print(
                f"installed {what.rpartition('/')[2]} in {time.monotonic() - begun:.0f} s: {megabytes:.0f} MB",
                flush=True,
            )
            return megabytes

        core = install(os.fspath(wheel))
        do("roamsim", "init", "first.toml")
        do("roamsim", "run", "first.toml", "--set", "scenario.duration=10s", "--parquet", "one")
        vary = ("--set", "scenario.duration=10s", "--vary", "link.pipe.delay=10ms,20ms")
        do("roamsim", "sweep", "first.toml", *vary, "--out", "two")
        do("roamsim", "compare", "first.toml", *vary, "--replications", "3")
        tls = ("--set", "flow.over_quic.transport.crypto=tls", "--set", "scenario.duration=2s")
        do("roamsim", "run", os.fspath(ROOT / "examples/quic-transfer.toml"), *tls)
        told = [os.fspath(programs / "python"), "-c", FINGERPRINTS, os.fspath(ROOT / "examples")]
        found = subprocess.run(told, cwd=place, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
        differ = set(found.splitlines()) - set((ROOT / RECORDED).read_text(encoding="utf-8").splitlines())
        if differ:
            sys.exit("these examples do not do what was recorded:\n" + "\n".join(sorted(differ)))
        print(f"{len(found.splitlines())} examples do what was recorded", flush=True)
        do("roamsim", "demo", "--out", "bare")
        install(f"{wheel}[all]")
        do("roamsim", "demo", "--out", "demo")
        do("roamsim", "report", "two")
        do("roamsim", "query", "one", "select name, goodput_bps from flows", "--csv")
        do("roamsim", "sweep", "first.toml", *vary, "--out", "three", "--on", "dask", "--jobs", "2")
        do("roamsim", "study", "run", "sctp-mobile-ip", "--quick")
    if core > MOST_MB:
        sys.exit(f"without extras the installation takes {core:.0f} MB, more than {MOST_MB}")


def _megabytes(environment: Path) -> float:
    files = (file for file in environment.rglob("*") if file.is_file() and not file.is_symlink())
    return sum(file.stat().st_size for file in files if not OF_ENVIRONMENT & set(file.parts)) / 1e6


if __name__ == "__main__":
    main(Path(sys.argv[1]))
