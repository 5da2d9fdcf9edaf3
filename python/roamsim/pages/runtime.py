"""Vega, Vega-Lite and Vega-Embed in one script, which every page with figures carries.

vl-convert puts it together anew in each process, with a JavaScript engine that it starts for that: some 2 s of
processor time. The script depends on its release alone, so it is kept in the user's folder for caches, and may be
removed there.
"""

from __future__ import annotations

import contextlib

import platformdirs

from roamsim.files import write_whole

#: The last line of a script that is whole.
_END = "\n// the end\n"


def script() -> str:
    """The script, ready to stand in a page.

    Raises:
        ModuleNotFoundError: vl-convert is not installed.
    """
    import vl_convert

    release: str = vl_convert.__version__  # type: ignore[attr-defined]  # its stub has it not
    kept = platformdirs.user_cache_path("roamsim", appauthor=False) / f"vega-{release}.js"
    # What cannot be read or kept, or was cut short, is made again.
    with contextlib.suppress(OSError, UnicodeError):
        text = kept.read_text(encoding="utf-8")
        if text.endswith(_END):
            return text
    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub wants what it does not need
    text = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--") + _END
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, text.encode())
    return text
