"""What goes wrong in a command: a message on stderr, and the exit code."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from roamsim._roamsim import RunFailed, ScenarioError
from roamsim.cli import streams
from roamsim.errors import CheckFailed, Interrupted, Notice, UsageError, missing_extra

DONE, RUN_FAILED, USAGE, INVALID_SCENARIO, CHECK_FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130


class WholeSentences(TyperGroup):
    """Its help tells of each command the whole of what it is for, over as many lines as that takes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list of commands."""
        there = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        # No line is that long, so nothing is cut off.
        rows = [(name, command.get_short_help_str(limit=1000)) for name, command in there if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Commands(WholeSentences):
    """Turns what goes wrong into a message on stderr and an exit code, for every command in one place."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; whatever it raises ends it with its exit code."""
        warnings.simplefilter("always", Notice)
        warnings.showwarning = _show
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except UsageError as error:
            code, text = USAGE, str(error)
        except ModuleNotFoundError as error:
            # A study needs several of them.
            missing = missing_extra(error, "all" if ctx.invoked_subcommand == "study" else None)
            if missing is None:
                raise
            code, text = USAGE, str(missing)
        except ScenarioError as error:
            code, text = INVALID_SCENARIO, str(error).rstrip()
        except CheckFailed as error:
            code, text = CHECK_FAILED, str(error)
        except RunFailed as error:
            code, text = RUN_FAILED, str(error)
        except UnicodeError as error:
            code, text = USAGE, f"an argument is no text in UTF-8: {error}"
        except Interrupted:
            code, text = INTERRUPTED, "interrupted; what is finished is kept, and the same command goes on from there"
        except KeyboardInterrupt:
            code, text = INTERRUPTED, "interrupted"
        except BrokenPipeError:
            # The reader has seen enough (`| head`); nothing more may be written, not even at exit.
            streams.give_up_stdout()
            raise typer.Exit(DONE) from None
        except OSError as error:
            code, text = RUN_FAILED, streams.fault(error)
        except MemoryError:
            code, text = RUN_FAILED, "there is not enough memory"
        lead = "" if code == INVALID_SCENARIO and "\n" in text else "roamsim: "
        streams.say(f"{lead}{text}")
        raise typer.Exit(code)


def _show(message: Warning | str, *_: Any, **__: Any) -> None:
    streams.say(f"roamsim: {message}")
