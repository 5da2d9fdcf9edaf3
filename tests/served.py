"""Commands without their start: a process that has loaded what commands load is forked for each of them.

Loading polars and what else a command needs takes half a second of a processor, many times what most commands of the
tests do, and there are a thousand. Here a server loads it once. For a command it forks a process, which gets the
command's folder, environment, streams and arguments, runs `python -m roamsim` from there as it stands, and ends as any
process ends, but for taking apart what is loaded; the server tells its exit code. What the server holds is only loaded,
nothing of it has been used. Threads that libraries begin when they are loaded (of memory, of arithmetic) are not in a
forked process; those that polars works with begin when they are needed.

What is left out is the start itself. Tests of that, of signals, and of what a process takes begin real processes
(`conftest.begin`).

    python tests/served.py SOCKET               serves until stdin ends
    python -IS tests/served.py SOCKET -- WORD... is the command `roamsim WORD...` in the folder and with the streams that it has
"""

import array
import atexit
import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import threading

#: What commands load. What only few need (DuckDB, SALib) stays with these: every fork copies the tables of this memory.
LOADED = """
altair filelock jinja2 markdown_it matplotlib.backends.backend_agg matplotlib.backends.backend_svg matplotlib.figure
matplotlib.ticker numpy platformdirs polars polars._utils.parquet rich.console rich.progress rich.table vl_convert
roamsim.api roamsim.cli.app roamsim.cli.summary roamsim.reports.plot roamsim.reports.results roamsim.running.sweeps
roamsim.storing.outputs roamsim.storing.queries
"""


class EndedError(Exception):
    """The server ended before the command did."""


def ask(
    path: str,
    words: list[str],
    folder: str,
    environment: dict[str, str],
    streams: list[int],
    largest_file_bytes: int | None = None,
) -> socket.socket:
    """Has a command begun that has these three streams; gives what `number` reads from."""
    asked = socket.socket(socket.AF_UNIX)
    asked.connect(path)
    request = json.dumps(
        {"words": words, "folder": folder, "environment": environment, "largest_file_bytes": largest_file_bytes}
    ).encode()
    asked.sendmsg([b"?"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))])
    asked.sendall(request)
    asked.shutdown(socket.SHUT_WR)
    return asked


def number(asked: socket.socket) -> int:
    """The next line of the server: first the number of the command's process, then its exit code."""
    line = b""
    while not line.endswith(b"\n"):
        octet = asked.recv(1)
        if not octet:
            raise EndedError
        line += octet
    return int(line)


def take(asked: socket.socket) -> tuple[dict[str, object], list[int]]:
    """A request and its streams."""
    size = array.array("i").itemsize
    _, ancillary, _, _ = asked.recvmsg(1, socket.CMSG_SPACE(3 * size))
    streams = array.array("i")
    for _, _, data in ancillary:
        streams.frombytes(data)
    text = b""
    while more := asked.recv(65536):
        text += more
    return json.loads(text), list(streams)


def become(request: dict[str, object], streams: list[int]) -> None:
    """Makes this process what a command's is when its program begins."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # A stream of text knows from its making whether what it writes to can be searched.
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        usual = getattr(sys, name)
        lines = name == "stderr" or os.isatty(number)
        made = open(number, mode, 1 if lines else -1, usual.encoding, usual.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if (octets := request["largest_file_bytes"]) is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (octets, octets))
    sys.argv = ["roamsim", *request["words"]]
    # As `python -m` has it.
    sys.path[0] = request["folder"]


def leave(code: str | int | None) -> None:
    """Ends as `sys.exit(code)` does, but leaves what is loaded to the system, which takes it away in one piece.

    Python would take it apart object by object, and have each piece of the server's memory copied for it: a third of
    what most commands take.
    """
    if code is None or isinstance(code, int):
        threading._shutdown()
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError, ValueError):  # Python tells what cannot be written
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit((code or 0) & 0xFF)
    sys.exit(code)


def serve(path: str) -> None:
    """Forks for each request; comes back in a command's process alone, or when stdin has ended."""
    for name in LOADED.split():
        __import__(name)
    # What is loaded here is no garbage in any command: it would be gone through, and so copied, when each ends.
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    ended, tell = socket.socketpair()
    for end in (ended, tell):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(tell.fileno())
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([0, listener, ended], [], [])
        if 0 in ready:
            sys.exit()
        if ended in ready:
            ended.recv(4096)
            while running and (done := os.waitpid(-1, os.WNOHANG))[0]:
                asked = running.pop(done[0])
                with asked, contextlib.suppress(OSError):  # who asked may be gone
                    asked.sendall(b"%d\n" % os.waitstatus_to_exitcode(done[1]))
        if listener in ready:
            asked, _ = listener.accept()
            try:
                request, streams = take(asked)
            except (OSError, ValueError):  # who asked is gone, in the middle of it
                asked.close()
                continue
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for held in (asked, listener, ended, tell, *running.values()):
                    held.close()
                become(request, streams)
                return
            for stream in streams:
                os.close(stream)
            running[process] = asked
            with contextlib.suppress(OSError):
                asked.sendall(b"%d\n" % process)


if __name__ == "__main__":
    if sys.argv[2:3] == ["--"]:
        command = ask(sys.argv[1], sys.argv[3:], os.getcwd(), dict(os.environ), [0, 1, 2])  # noqa: PTH109
        number(command)
        code = number(command)
        if code < 0:
            os.kill(os.getpid(), -code)
        sys.exit(code)
    serve(sys.argv[1])
    import runpy

    try:
        runpy.run_module("roamsim", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        leave(end.code)
