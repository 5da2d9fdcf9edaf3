"""Python values in TOML's notation."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from roamsim.errors import UsageError


def toml_value(value: Any) -> str:
    """A Python value in TOML's notation.

    Raises:
        UsageError: TOML has no such value.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if hasattr(value, "item"):  # a numpy number
        return toml_value(value.item())
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        entries = (f"{json.dumps(str(key))} = {toml_value(entry)}" for key, entry in value.items())
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml_value(entry) for entry in value) + "]"
    raise UsageError(f"{value!r} is not a value that a scenario can hold")
