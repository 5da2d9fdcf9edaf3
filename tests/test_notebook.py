"""The notebook of the documentation runs from its first cell to its last, and shows what its text promises."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT, environment

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


@pytest.fixture(scope="module")
def notebook() -> Any:
    """The notebook after it was run."""
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    found = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(found, timeout=300, resources={"metadata": {"path": NOTEBOOK.parent}})
    client.execute(env=environment())
    return found


def shown(notebook: Any, source: str, kind: str) -> str:
    """What the cell that ends in a line shows."""
    (cell,) = (cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.endswith(source))
    return next("".join(output["data"][kind]) for output in cell.outputs if kind in output.get("data", {}))


def test_its_cells_show_results_figures_and_the_page(notebook: Any) -> None:
    assert "<h4>Flows</h4>" in shown(notebook, "result", "text/html")
    assert shown(notebook, 'result.plot("cwnd", end_s=20.0)', "image/svg+xml").startswith("<?xml")
    assert "Goodput" in shown(notebook, "points", "text/html")
    assert "svg" in shown(notebook, 'log="x")', "image/svg+xml")
    assert "cubic" in shown(notebook, "variants", "text/html")
    assert shown(notebook, "variants.report()", "text/html").startswith("<iframe srcdoc=")
    said = [
        output for cell in notebook.cells for output in cell.get("outputs", ()) if output["output_type"] == "stream"
    ]
    assert said == []


def test_it_is_kept_without_what_its_cells_show() -> None:
    nbformat = pytest.importorskip("nbformat")
    kept = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(kept)
    assert all(not cell.outputs and cell.execution_count is None for cell in kept.cells if cell.cell_type == "code")
