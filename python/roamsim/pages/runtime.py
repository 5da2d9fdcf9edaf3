"""Vega, Vega-Lite and Vega-Embed in one script, which every page with figures carries.

vl-convert puts it together anew in each process, with a JavaScript engine that it starts for that: some 2 s of
processor time. The script depends on its release alone, so it is kept in the user's folder for caches, and may be
removed there.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from roamsim.files import write_whole


def script() -> str:
    """The script, ready to stand in a page.

    Raises:
        ModuleNotFoundError: vl-convert is not installed.
    """
    import vl_convert

    release: str = vl_convert.__version__  # type: ignore[attr-defined]  # its stub has it not
    # What cannot be read or kept, or was cut short, is made again; a user without a home has no such folder.
    with contextlib.suppress(OSError, UnicodeError, RuntimeError):
        text = _kept(release).read_text(encoding="utf-8")
        if text.endswith(_END):
            return text
    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub wants what it does not need
    text = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--") + _END
    with contextlib.suppress(OSError, RuntimeError):
        kept = _kept(release)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, text.encode())
    return text


#: The last line of a script that is whole.
_END = "\n// the end\n"


def _kept(release: str) -> Path:
    """Where the script of a release lies: in the user's folder for what can be made again.

    It is that of the system, or of the XDG base directory specification.

    Raises:
        RuntimeError: the user has no home.
    """
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "roamsim" / f"vega-{release}.js"
