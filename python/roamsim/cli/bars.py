"""A progress bar on stderr. Its library is imported only if stderr is a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from roamsim import _roamsim
from roamsim.cli.streams import is_watched, say
from roamsim.running import foresight
from roamsim.running.work import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """A bar on stderr with rate and time left, once it takes a while; nothing where stderr is no terminal."""
    shown = _Bar(_drawn() if is_watched() else None, what)
    try:
        yield shown
    finally:
        shown.stop()


def _drawn() -> RichProgress:
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    from roamsim.cli.console import on_stderr

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.3g}/s" if task.speed else "", style="progress.data.speed")

    return RichProgress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        Rate(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=on_stderr(),
        transient=True,
    )


class _Bar:
    #: Before this time there is nothing to wait for (chosen).
    DELAY_S = 0.5
    #: At these times a single run is looked at, and by the second one its pace tells what it will take (chosen).
    LOOK_S, FORESEE_S = 1.0, 2.0

    def __init__(self, bar: RichProgress | None, what: str) -> None:
        self._bar = bar
        self._what = what
        self._task = bar.add_task(what, total=None) if bar else None
        self._done = self._kept = self._failed = 0
        self._begun = time.monotonic()
        self._started = False
        self._total = 0
        self._foreseen = False
        self._earlier: tuple[float, int] | None = None

    def plan(self, runs: int, kept: int) -> None:
        self._done, self._kept, self._total = kept, kept, runs
        self._show(0.0, total=runs, description=self._description())

    def failed(self, runs: int) -> None:
        self._failed += runs
        self._done += runs
        self._show(0.0, description=self._description())

    def done(self, runs: int) -> None:
        self._done += runs
        self._show(0.0)

    def under_way(self, runs: float) -> None:
        self._show(runs)
        elapsed_s = time.monotonic() - self._begun
        if self._total != 1 or runs <= 0 or self._foreseen:
            return
        if self._earlier is None:
            if elapsed_s > self.LOOK_S:
                self._earlier = (runs, _roamsim.memory_bytes()[0])
        elif elapsed_s > self.FORESEE_S:
            self._foreseen = True
            # In words too, for those who see no bar.
            for sentence in foresight.pace(runs, elapsed_s, self._earlier):
                if self._bar:
                    self._bar.console.print(f"roamsim: {sentence}", soft_wrap=True, highlight=False)
                else:
                    say(f"roamsim: {sentence}")

    def _description(self) -> str:
        counts = ((self._kept, "kept"), (self._failed, "failed"))
        notes = ", ".join(f"{count} {what}" for count, what in counts if count)
        return f"{self._what} ({notes})" if notes else self._what

    def _show(self, under_way: float, **changes: Any) -> None:
        if self._bar is None or self._task is None:
            return
        self._bar.update(self._task, completed=self._done + under_way, **changes)
        if not self._started and time.monotonic() - self._begun > self.DELAY_S:
            self._started = True
            self._bar.start()

    def stop(self) -> None:
        if self._bar is not None and self._started:
            self._bar.stop()
