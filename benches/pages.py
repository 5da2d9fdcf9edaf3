"""How soon a report can be read, in headless Chromium on a screen of 1280 points and on one of 390.

    python -m benches.pages [FILE.html ...] [--rounds 5]

Without files, reports of a sweep of a hundred series and of a run with a million samples are made and opened. Times
are medians, in ms from the navigation on. A figure is there with the first frame that shows one; none is where none
is near the window, as above the tables of a study. All that is near is there when the page says so. Then the page is
scrolled to its end, half a window each frame: the longest wait between two frames is how long a reader's hand is not
answered, and at the end all that is near is drawn again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import roamsim

ROOT = Path(__file__).parent.parent

#: Widths and heights of screens, in points: a wide one, and a telephone's.
SCREENS = ((1280, 900), (390, 844))

#: The columns of what is printed, by the keys of what the page says.
COLUMNS = {
    "first": "first figure",
    "near": "all near the window",
    "wait": "longest wait while scrolled",
    "end": "after the last step",
}

#: Notes the frame that shows a figure first, and the one with which all that is near is drawn.
NOTE = """
const told = window.told = {};
const look = () => {
  if (document.querySelector("[data-chart] svg.marks path, [data-chart] canvas")) told.first ??= performance.now();
  if (document.documentElement?.dataset.drawn === "yes") told.near ??= performance.now();
  if (!told.near) requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""

#: Scrolls to the end, and says how long frames were waited for.
SCROLL = """
(async () => {
  const root = document.documentElement, frame = () => new Promise(requestAnimationFrame);
  while (!told.near) await frame();
  root.style.scrollBehavior = "auto";
  told.wait = 0;
  const step = async () => {
    const begun = performance.now();
    await frame();
    told.wait = Math.max(told.wait, performance.now() - begun);
  };
  while (scrollY + innerHeight < root.scrollHeight - 1) { scrollBy(0, innerHeight / 2); await step(); }
  const last = performance.now();
  do await step(); while (root.dataset.drawn !== "yes");
  told.end = performance.now() - last;
  return JSON.stringify({...told, figures: document.querySelectorAll("[data-chart]").length});
})()
"""


class Browser:
    """A headless Chromium, spoken to over two pipes in its DevTools protocol."""

    def __init__(self, profile: Path) -> None:
        program = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
        if program is None:
            sys.exit("Chromium is needed, as `chromium` or `google-chrome`")
        (to_read, self._to), (self._from, to_write) = os.pipe(), os.pipe()
        # The browser reads its file 3 and writes to its file 4.
        command = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--hide-scrollbars", "--disable-background-networking", "--disable-component-update",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", *command],
            pass_fds=(to_read, to_write),
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._numbers, self._left, self._session = itertools.count(1), b"", ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command of the protocol."""
        number = next(self._numbers)
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": number, "method": method, "params": parameters} | session
        sent = json.dumps(message).encode() + b"\0"
        while sent:
            sent = sent[os.write(self._to, sent) :]
        while True:
            answer = self._message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                found: dict[str, Any] = answer["result"]
                return found

    def said(self, script: str) -> Any:
        """What a script of the page says, when it has come to its end."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def open(self, page: Path, screen: tuple[int, int], place: str = "") -> None:
        """Opens a page, at a place of it, on a screen of this width and height in points, and runs its scripts."""
        width, height = screen
        shape = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **shape)
        self.call("Page.navigate", url=f"{page.resolve().as_uri()}{place}")
        self.said("new Promise((go) => document.readyState === 'complete' ? go() : addEventListener('load', go))")

    def close(self) -> None:
        """Ends it."""
        self._session = ""
        # It may end before it has answered.
        with suppress(RuntimeError):
            self.call("Browser.close")
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            read = os.read(self._from, 1 << 16)
            if not read:
                raise RuntimeError("the browser has ended")
            self._left += read
        first, self._left = self._left.split(b"\0", 1)
        found: dict[str, Any] = json.loads(first)
        return found


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        opened = Browser(Path(profile))
        try:
            yield opened
        finally:
            opened.close()


def opened(page: Path, screen: tuple[int, int]) -> dict[str, float]:
    """What a page says of itself in a browser that has never seen it."""
    with browser() as own:
        own.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE)
        own.open(page, screen)
        found: dict[str, float] = json.loads(own.said(SCROLL))
        return found


def made(folder: Path) -> list[Path]:
    """Reports of a hundred series, and of a million samples."""
    bulk = ROOT / "benches" / "scenarios" / "bulk.toml"
    swept = roamsim.sweep(
        bulk,
        {"link.pipe.loss.probability": "0.02,0.05,0.1,0.2", "link.pipe.delay": "1ms:100ms:1ms"},
        set={"scenario.duration": "9s"},
        out=folder / "series",
    )
    series = swept.report(folder / "a hundred series.html")
    # The queue's length whenever it changes: the page holds a million samples, all of the way there.
    run = roamsim.run(bulk, trace=["queue"], set={"scenario.duration": "1060s", "link.pipe.loss.probability": 0.001})
    return [Path(series), Path(run.report(folder / "a million samples.html"))]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", metavar="FILE.html", type=Path, nargs="*", help="reports; two are made unless given")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the median counts")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pages = asked.pages or made(Path(folder))
        heads = ["page", "MB", "figures", "points", *(f"{words}, ms" for words in COLUMNS.values())]
        sys.stdout.write(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}\n")
        for page in pages:
            for screen in SCREENS:
                rounds = [opened(page, screen) for _ in range(asked.rounds)]
                times = [
                    f"{statistics.median(one[key] for one in rounds):.0f}" if key in rounds[0] else "none"
                    for key in COLUMNS
                ]
                size = f"{page.stat().st_size / 1e6:.1f}"
                cells = [page.stem, size, f"{rounds[0]['figures']:.0f}", str(screen[0]), *times]
                sys.stdout.write(f"| {' | '.join(cells)} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
