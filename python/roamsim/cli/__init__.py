"""The command line: `roamsim` and `python -m roamsim` start `main`."""

import signal
import sys


def main() -> None:
    """Puts the streams in order and does what the arguments ask for; Ctrl-C ends it at any time, with 130."""
    try:
        from roamsim.cli import late, streams

        streams.put_in_order()
        late.load_late()
        from roamsim.cli.app import app

        try:
            app(prog_name="roamsim")
        except OSError as error:  # of --help and --version; commands tell theirs
            streams.say(f"roamsim: {streams.fault(error)}")
            sys.exit(1)
    except KeyboardInterrupt:
        # Not by streams, which may be what was being loaded.
        print("roamsim: interrupted", file=sys.stderr)  # noqa: T201, TID251
        sys.exit(130)
    finally:
        # From here on there is nothing to tidy up.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
