"""Executes the notebook of the documentation and keeps its outputs, so that a reader sees them without running it.

    python docs/figures/notebook.py

The page that `report()` embeds is left out: a megabyte of scripts, which sites that show notebooks do not run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebook.ipynb"

#: Folders of results that the notebook's calls make; their names differ from run to run.
TEMPORARY = re.compile(r"[^' ]*/roamsim-\w+")


def executed(env: dict[str, str] | None = None) -> Any:
    """The notebook after it was run."""
    found = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(found, timeout=300, resources={"metadata": {"path": NOTEBOOK.parent}})
    client.execute(**({} if env is None else {"env": env}))
    return found


def keep(notebook: Any) -> None:
    """Takes out of the outputs what no reader needs: instants, names of temporary folders, the embedded page."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "srcdoc=" in data.get("text/html", ""):
                del data["text/html"]
            if "text/plain" in data:
                data["text/plain"] = TEMPORARY.sub("results", data["text/plain"])
    notebook.metadata.language_info.pop("version", None)


if __name__ == "__main__":
    made = executed()
    keep(made)
    nbformat.write(made, NOTEBOOK)
