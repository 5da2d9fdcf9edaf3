"""The documentation's site: `make docs` builds it from the Markdown pages, without network.

The source folder is the project's root, so that a link between two pages is the same on the site and in a checkout.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

project = "Roamsim"
author = "the Roamsim authors"
copyright = author  # noqa: A001 - Sphinx's name
version = release = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]

extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "docs/**/*.md",
    "python/roamsim/studies/README.md",
    "python/roamsim/studies/*/README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]

# A link is checked as it stands: to a page, to a heading of one, or to a file of the project.
myst_heading_anchors = 5
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]
highlight_language = "none"
nitpicky = True

# A prompt is not part of a command.
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = "Roamsim"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#6cb0f5", "color-brand-content": "#6cb0f5"},
}
html_static_path = ["site/static"]
html_css_files = ["roamsim.css"]
html_extra_path = ["site/extra", "gallery/reports"]
html_search_scorer = str(ROOT / "docs/site/scorer.js")

# `make docs` runs the examples and fills the gallery; without it the site has this page.
GALLERY = ROOT / "docs/gallery"
if not (GALLERY / "index.md").exists():
    (GALLERY / "reports").mkdir(parents=True, exist_ok=True)
    (GALLERY / "index.md").write_text("# Gallery\n\n`make docs` runs every example and shows it here.\n")
html_copy_source = False
html_show_sourcelink = False
