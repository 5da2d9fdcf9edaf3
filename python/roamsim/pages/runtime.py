"""What draws the figures of a page: Vega, Vega-Lite and Vega-Embed in one script."""

from __future__ import annotations

from contextlib import suppress
from importlib import metadata

import platformdirs

from roamsim.files import write_whole


def runtime() -> str:
    """The script, from the installed vl-convert, ready to stand in a page.

    Putting it together takes seconds, so it is kept in the user's cache, for each version of vl-convert.
    """
    kept = platformdirs.user_cache_path("roamsim") / f"vega-{metadata.version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub wants what it does not need
    script = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    # Who has no such folder waits the next time too.
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, script.encode())
    return script
