"""Errors of a command: a message on stderr, and the exit code."""

from __future__ import annotations

import itertools
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from roamsim._roamsim import RunFailed, ScenarioError
from roamsim.cli import streams
from roamsim.errors import CheckFailed, Interrupted, Notice, UsageError, missing_extra

DONE, RUN_FAILED, USAGE, INVALID_SCENARIO, CHECK_FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130
#: Of `roamsim live`, whose other codes are those of programs: as of `timeout` and `env`.
LATE, NO_NAMESPACES = 124, 125


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

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """As of click, which quotes arguments that it does not know."""
        with _quoted_safely():
            return super().make_context(*arguments, **named)

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; whatever it raises ends it with its exit code."""
        warnings.simplefilter("always", Notice)
        warnings.showwarning = _show
        try:
            with _quoted_safely(ctx):
                result = super().invoke(ctx)
            streams.flush()
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
            code, text = USAGE, f"an argument is not text in UTF-8: {error}"
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
        except MemoryError as error:
            code, text = RUN_FAILED, str(error) or "there is not enough memory"
        of_scenario = code == INVALID_SCENARIO and "\n" in text
        streams.say(text if of_scenario else f"roamsim: {text}", colored=of_scenario)
        raise typer.Exit(code)


#: Options whose values begin with a path of the scenario.
_WITH_PATHS = ("--set", "--vary")

#: Choices that an error lists (chosen: they fill a few lines).
MOST_CHOICES = 24


@contextmanager
def _quoted_safely(ctx: Any = None) -> Iterator[None]:
    """Makes what click says of a command line safe for a terminal: an argument may be a stranger's file name.

    What is said of a missing argument or value also says what to write there.
    """
    try:
        yield
    except Exception as error:
        # Of click, or of the copy of it that typer has.
        if isinstance(message := getattr(error, "message", None), str) and hasattr(error, "format_message"):
            said = f"{streams.safe(message)}{_cut_in_words(message)} {_takes(error, ctx)}"
            error.message = said.strip()  # type: ignore[attr-defined]
        raise


def _takes(error: Any, group: Any) -> str:
    """What the option or argument takes that has no value: its help, and its choices where these are few."""
    if group is None or type(error).__name__ not in ("MissingParameter", "BadOptionUsage"):
        return ""
    # Of an option at the end of the line the error does not know the command.
    command = group.command
    for word in sys.argv[1:]:
        command = getattr(command, "commands", {}).get(word, command)
    context = getattr(error, "ctx", None) or type(group)(command)
    asked = getattr(error, "option_name", None)
    param = getattr(error, "param", None) or next((p for p in context.command.params if asked in p.opts), None)
    if param is None or param.help is None:
        return ""
    words = param.help.removesuffix("[required]").strip()
    there = [item.value for item in param.shell_complete(context, "") if item.type == "plain" and item.value]
    listed = 0 < len(there) <= MOST_CHOICES and not all(name in words for name in there)
    return f"{words} There are {', '.join(there)}." if listed else words


def _cut_in_words(message: str) -> str:
    """What to write where a value of --set or --vary was cut at its spaces; empty for other messages."""
    if not message.startswith("Got unexpected extra argument"):
        return ""
    for option, word, *others in (sys.argv[at:] for at, word in enumerate(sys.argv[:-2]) if word in _WITH_PATHS):
        cut = list(itertools.takewhile(lambda other: not other.startswith("-") and not _is_file(other), others))
        if cut and (word.endswith((",", "=")) or "=" not in word or cut[0].startswith(",")):
            given = " ".join([word, *cut])
            text = given if "=" in given else "=".join([word, " ".join(cut)])
            return f"; a value with spaces needs quotation marks: {option} {shlex.quote(streams.safe(text))}"
    return ""


def _is_file(text: str) -> bool:
    try:
        return Path(text).exists()
    except OSError:  # longer than a name may be
        return False


def _show(message: Warning | str, *_: Any, **__: Any) -> None:
    streams.say(f"roamsim: {message}")
