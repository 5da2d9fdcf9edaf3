"""The other simulators: where they are, and how a program is compiled against ns-3 and htsim."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
#: The wheel of ns-3, and the programs compiled against it and against htsim.
ENVIRONMENT = ROOT / ".venv-peers"
# Bound to one version: another may rename a library or change a default.
NS3_WHEEL = "ns3==3.44.post0"
NS3_MODULES = ["applications", "core", "internet", "network", "point-to-point"]
#: Beside those, for a program with Wi-Fi.
NS3_WIFI_MODULES = ["mobility", "propagation", "spectrum", "antenna", "stats", "energy", "wifi"]
#: And for one with queue disciplines.
NS3_QUEUES_MODULES = ["traffic-control"]
#: And for one with WiMAX.
NS3_WIMAX_MODULES = ["mobility", "propagation", "wimax"]
# C++20, as ns-3.44 itself; optimised as its "release" profile is.
NS3_FLAGS = ["-std=c++20", "-O3"]
#: Headers of htsim that a program of ours includes; a folder without them is none of its sources.
HTSIM_HEADERS = ["config.h", "eventlist.h", "network.h", "pipe.h", "queue.h", "route.h", "tcp.h"]
# Its own Makefile has -O2. Warnings of somebody else's sources help nobody here.
HTSIM_FLAGS = ["-std=c++17", "-O3"]
# Most of it is of other protocols. What nothing calls falls out, also where it would need what does not compile or is
# there twice.
HTSIM_PRUNING = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Wl,--allow-multiple-definition"]


class MissingError(Exception):
    """A simulator that cannot be run here, and why."""


@dataclass(frozen=True)
class Program:
    """One simulator: `build` says how it was compiled; the words of one run are appended to `command`."""

    name: str
    build: str
    command: list[str]

    def run(self, words: Sequence[str]) -> dict[str, Any]:
        """Runs it with these words; the JSON object that ends its output.

        Raises:
            SystemExit: it failed; with what it said.
        """
        done = subprocess.run([*self.command, *words], capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or not lines:
            raise SystemExit(f"{self.name} failed on {' '.join(words)}:\n{done.stderr}")
        told: dict[str, Any] = json.loads(lines[-1])
        return told


def roamsim_version() -> str:
    """The version of Roamsim that is installed for the interpreter that runs this.

    Raises:
        MissingError: it is not installed.
    """
    probe = subprocess.run(
        [sys.executable, "-c", "import roamsim._roamsim as r; print(r.version())"], capture_output=True, text=True
    )
    if probe.returncode != 0:
        raise MissingError("the package roamsim is not installed for this Python: run `make setup` first")
    return probe.stdout.strip()


def ns2(script: Path, *words: str) -> Program:
    """ns-2 as installed, with a Tcl script and its first words.

    Raises:
        MissingError: it is not installed.
    """
    path = shutil.which("ns")
    if path is None:
        raise MissingError("there is no program `ns`: install Debian's package ns2")
    version = subprocess.run(
        [path, "-"], input="puts [ns-version]\nexit\n", capture_output=True, text=True, check=False
    ).stdout.strip()
    return Program("ns-2", f"ns-2 {version or '(version unknown)'} as packaged", [path, str(script), *words])


def ns3(source: Path, modules: Sequence[str] = ()) -> Program:
    """ns-3 from its wheel, in an environment of its own, with a C++ program compiled against it.

    It needs these of its modules beside the usual ones.

    Raises:
        MissingError: the wheel cannot be installed, or there is no compiler.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        raise MissingError("there is no g++ to compile a program against ns-3")
    package = install_ns3_wheel()
    libraries = package / "lib64"
    definitions = ns3_definitions(libraries / "cmake" / "ns3" / "ns3Targets.cmake")
    binary = ENVIRONMENT / source.stem
    sources = [source, *source.parent.glob("*.h")]
    if not binary.exists() or any(binary.stat().st_mtime < part.stat().st_mtime for part in sources):
        sys.stderr.write(f"compiling {source.name} against ns-3\n")
        subprocess.run(
            [
                compiler,
                *NS3_FLAGS,
                *[f"-D{definition}" for definition in definitions],
                f"-I{package / 'include'}",
                str(source),
                "-o",
                str(binary),
                f"-L{libraries}",
                f"-Wl,-rpath,{libraries}",
                "-Wl,--allow-shlib-undefined",
                *[f"-lns3.44-{module}" for module in [*NS3_MODULES, *modules]],
            ],
            check=True,
        )
    profile = next((d for d in definitions if d.startswith("NS3_BUILD_PROFILE_")), "NS3_BUILD_PROFILE unknown")
    asserts = b"NS_ASSERT failed" in (libraries / "libns3.44-core.so").read_bytes()
    build = (
        f"{NS3_WHEEL.replace('==', ' ')} (wheel), built with {profile}; assertions "
        f"{'compiled in' if asserts else 'compiled out'}, logging "
        f"{'compiled in (off)' if 'NS3_LOG_ENABLE' in definitions else 'compiled out'}"
    )
    return Program("ns-3", build, [str(binary)])


def install_ns3_wheel() -> Path:
    """Installs the wheel when it is not there yet; returns its folder. Its Python bindings are not needed."""
    python = ENVIRONMENT / "bin" / "python"
    found = sorted(ENVIRONMENT.glob("lib/python*/site-packages/ns3/lib64"))
    if not found:
        sys.stderr.write(f"installing {NS3_WHEEL} in {ENVIRONMENT.name}\n")
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", NS3_WHEEL]
        if subprocess.run(pip, check=False).returncode != 0:
            raise MissingError(f"pip could not install {NS3_WHEEL} (it is built for Linux on x86-64)")
        found = sorted(ENVIRONMENT.glob("lib/python*/site-packages/ns3/lib64"))
    if not found:
        raise MissingError(f"{NS3_WHEEL} holds no libraries")
    return found[0].parent


def ns3_definitions(targets: Path) -> list[str]:
    """The definitions that the wheel's libraries were compiled with, from the CMake targets it exports."""
    text = targets.read_text()
    core = re.search(r'set_target_properties\(ns3::core .*?INTERFACE_COMPILE_DEFINITIONS "(.*?)"\n', text, re.DOTALL)
    words = core[1].split(";") if core else []
    return [word for word in words if word.startswith("NS3_")]


def htsim(source: Path, path: Path) -> Program:
    """Broadcom's htsim, of whose source `path` is a copy, compiled as it is with a C++ program of ours.

    Nothing is written to that copy: what is built lies in the environment of the peers, and is built anew when a
    source has changed.

    Raises:
        MissingError: there is no htsim at the path, or no compiler.
        SystemExit: it cannot be compiled; with what the compiler said.
    """
    folder = htsim_sources(path)
    compiler, archiver = shutil.which("g++"), shutil.which("ar")
    if compiler is None or archiver is None:
        raise MissingError("there is no g++, or no ar, to compile htsim")
    build = ENVIRONMENT / "htsim"
    binary, stamp = build / source.stem, build / "sources.sha256"
    digest = _digest([source, *sorted([*folder.glob("*.cpp"), *folder.glob("*.h")])])
    if not binary.exists() or not stamp.exists() or stamp.read_text() != digest:
        sys.stderr.write(f"compiling {folder} and {source.name} (some minutes the first time)\n")
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir(parents=True)
        _compile_htsim(
            [compiler, *HTSIM_FLAGS, *HTSIM_PRUNING, "-w", f"-I{folder}"], archiver, folder, source, binary
        )
        stamp.write_text(digest)
    flags = " ".join(HTSIM_FLAGS)
    return Program("htsim", f"htsim, {_revision(folder)}, built with {flags}; assertions compiled in", [str(binary)])


def htsim_sources(path: Path) -> Path:
    """The folder of htsim's sources: `sim` of its repository, or the path itself.

    Raises:
        MissingError: neither holds the headers that are needed.
    """
    for folder in (path / "sim", path):
        if all((folder / header).is_file() for header in HTSIM_HEADERS):
            return folder.resolve()
    headers = ", ".join(HTSIM_HEADERS)
    raise MissingError(
        f"neither {path} nor {path / 'sim'} holds the sources of htsim (Broadcom/csg-htsim): looked for {headers}"
    )


def _compile_htsim(command: list[str], archiver: str, folder: Path, source: Path, binary: Path) -> None:
    """Compiles all of it into a library, of which our program takes what it needs: no other program, for one."""

    def compiled(part: Path) -> tuple[Path, str]:
        made = binary.parent / f"{part.stem}.o"
        done = subprocess.run(
            [*command, "-c", str(part), "-o", str(made)], capture_output=True, text=True, check=False
        )
        return made, done.stderr if done.returncode else ""

    parts = sorted(folder.glob("*.cpp"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compiled, parts))
    library = binary.parent / "libhtsim.a"
    subprocess.run([archiver, "rcs", str(library), *[str(made) for made, said in results if not said]], check=True)
    done = subprocess.run(
        [*command, str(source), str(library), "-o", str(binary)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        # A source that does not compile matters only where it is needed, and then nothing can be linked.
        said = "".join(said for _, said in results)
        raise SystemExit(f"{source.name} cannot be compiled against {folder}:\n{said}{done.stderr}")


def _digest(files: Sequence[Path]) -> str:
    """Names and contents of these files, and how they are compiled."""
    digest = hashlib.sha256(" ".join([*HTSIM_FLAGS, *HTSIM_PRUNING]).encode())
    for file in files:
        digest.update(f"{file}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def _revision(folder: Path) -> str:
    """The commit that `sim` of a repository is of, if git knows it."""

    def asked(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    # Any other folder may lie in a repository of somebody else.
    known = shutil.which("git") is not None and asked("rev-parse", "--show-prefix") == "sim/"
    return f"commit {asked('describe', '--always', '--dirty')}" if known else "of no known commit"
