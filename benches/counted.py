"""Runs a scenario once, with seed 1: what `benches/counts.py` counts the instructions of.

    python -IS benches/counted.py FILE [PATH=VALUE]...

Prints its events and the octets delivered. A FILE that ends in .json is JSON, any other TOML. The extension module is
loaded alone, without the package around it: under callgrind that takes two seconds instead of four. Without a FILE
that is all.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "python" / "roamsim"))

import _roamsim


def main(words: list[str]) -> None:
    """Runs what the words say."""
    if not words:
        return
    path, *settings = words
    overrides = [(where, value) for where, _, value in (setting.partition("=") for setting in settings)]
    kind = "json" if path.endswith(".json") else "toml"
    scenario = _roamsim.Scenario.parse(Path(path).read_text(), name=path, format=kind, overrides=overrides)
    # As `roamsim run` makes it.
    result = _roamsim.run(scenario, series=True)
    flows = result.tables.get("flows")
    delivered_bytes = sum(flows["delivered_bytes"]) if flows else 0
    sys.stdout.write(f"{json.dumps({'events': result.events, 'delivered_bytes': delivered_bytes})}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
