"""`python -m generators`: writes every generated file anew."""

from __future__ import annotations

from generators.files import FILES, text

for file in FILES:
    file.write_text(text(file), encoding="utf-8")
