"""The scenario of one point of a sweep: the manifest's scenario with the point's values."""

from __future__ import annotations

import json
from typing import Any

from roamsim._roamsim import Scenario, ScenarioError, build
from roamsim.scenarios.reading import Source, parse_source
from roamsim.storing.manifests import Manifest, PointEntry


def scenario_of(manifest: Manifest, point: PointEntry) -> tuple[dict[str, Any], bool]:
    """The scenario that was run, and whether all of it is known.

    It is read again with the point's values, and taken where it is proven to be the same: by its fingerprint; or, of
    another build, by that the text gives the manifest's tree. What cannot be proven is left out: values that were
    varied at the time of running stand in no tree, and where a path leads hangs on all else that was replaced.
    """
    if not point.values:
        return manifest.canonical, True
    text, tree = manifest.text, json.dumps(manifest.canonical)
    for source in (Source(text, "text", text.lstrip().startswith("{")), Source(tree, "tree", True)):
        read = _read(source, point)
        if read is not None and (read.fingerprint == point.fingerprint or _of_text(manifest, source)):
            return json.loads(read.canonical), True
    varied = {path.partition(".")[0] for path in point.values}
    kept = {"scenario"} - varied if varied - {"scenario"} else set(manifest.canonical) - varied
    return {key: entry for key, entry in manifest.canonical.items() if key in kept}, False


def _read(source: Source, point: PointEntry | None) -> Scenario | None:
    try:
        return parse_source(source, list(point.values.items()) if point else [])
    except ScenarioError:
        return None


def _of_text(manifest: Manifest, source: Source) -> bool:
    """Whether another build's scenario is its text as it stands, without replaced values."""
    if manifest.build == build() or source.text != manifest.text:
        return False
    whole = _read(source, None)
    return whole is not None and json.loads(whole.canonical) == manifest.canonical
