"""The notebook of the documentation runs from its first cell to its last, and shows what its text promises."""

from __future__ import annotations

import copy
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT, environment, module_of

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    """The program that keeps the notebook's outputs."""
    for needed in ("ipykernel", "nbclient", "nbformat"):
        pytest.importorskip(needed)
    return module_of(ROOT / "docs/figures/notebook.py")


@pytest.fixture(scope="module")
def notebook(maker: ModuleType) -> Any:
    """The notebook after it was run."""
    return maker.executed(environment())


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


def test_it_is_kept_with_what_its_cells_show(maker: ModuleType, notebook: Any) -> None:
    """Otherwise run `python docs/figures/notebook.py`."""
    import nbformat

    kept, made = nbformat.read(NOTEBOOK, as_version=4), copy.deepcopy(notebook)
    nbformat.validate(kept)
    maker.keep(made)

    def texts(of: Any) -> list[str]:
        outputs = (output for cell in of.cells for output in cell.get("outputs", ()))
        return [output["data"]["text/plain"] for output in outputs]

    assert texts(kept) == texts(made)
    assert NOTEBOOK.stat().st_size < 200_000
