"""The finished runs of a study's folder as tables, for questions in SQL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars

from roamsim.errors import UsageError
from roamsim.storing.manifests import StudyManifest
from roamsim.storing.parts import Parts
from roamsim.study.definition import of_folder
from roamsim.study.runs import plan


def tables(
    held: StudyManifest, folder: str | os.PathLike[str], definition: str | os.PathLike[str] | None = None
) -> dict[str, polars.DataFrame]:
    """Each result table that experiments kept, with `experiment` and the labels of its point as first columns.

    A run that belongs to several experiments has a row for each.

    Args:
        held: the folder's manifest.
        folder: of the study's results.
        definition: the folder of the study's definition, where it is no study of the package.

    Raises:
        UsageError: the study's definition is not there any more, or the folder holds no run of it.
    """
    runs = Parts(Path(folder))
    parts: dict[str, list[polars.DataFrame]] = {}
    points: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in plan(of_folder(held, folder, definition), "quick" if held.level == "quick" else "full", held.seed):
        point = {"experiment": one.experiment.id, **one.point.labels, "key": one.key, "runs": one.replications}
        for table in (one.experiment.table, *one.experiment.tables):
            points.setdefault((table, one.experiment.id), []).append(point)
    for (table, _), rows in points.items():
        found = runs.rows_of_each(table, {row["key"] for row in rows})
        if found.height:
            labels = polars.DataFrame(rows, infer_schema_length=None, strict=False)
            # A dimension may have the name of a column; the label is what the study calls the run.
            own = [name for name in found.columns if name == "key" or name not in labels.columns]
            joined = labels.join(found.select(own), on="key", how="inner", maintain_order="left_right")
            parts.setdefault(table, []).append(
                joined.filter(polars.col("replication") < polars.col("runs")).drop("key", "runs")
            )
    found_tables = {name: polars.concat(frames, how="diagonal_relaxed") for name, frames in parts.items()}
    if not any(frame.height for frame in found_tables.values()):
        raise UsageError(
            f"{os.fspath(folder)!r} holds no run of the study {held.study!r} as this version defines it; "
            "`roamsim study run` makes them"
        )
    return found_tables
