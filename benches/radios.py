"""Shows what the radios of phones cost: a hundred phones with three radios each beside a hundred with one.

    python -m benches.radios [--phones N] [--duration TIME]

The phones are those of `benches/growth.py`: each walks through a Wi-Fi cell and an abstract cell of ten phones, has
an LTE link, and gets a call; a `[[selection]]` prefers Wi-Fi. Callgrind counts the instructions of the runs. Ten
times those of Wi-Fi alone, or of LTE alone, are an error. So are more than 1 % more where one node more has five
interfaces and no traffic.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benches.counts import COUNTED, FailedError, callgrind, left_out, missing_programs
from benches.growth import Tree, phones, wire

#: Of the instructions for one radio.
MOST_FOR_THREE = 10.0
#: Of the instructions without the node that has five interfaces.
MOST_FOR_FIVE = 1.01


def with_five_interfaces(tree: Tree) -> Tree:
    """The same, and one node more with five links and nothing to send."""
    nodes, links = tree["node"], tree["link"]
    assert isinstance(nodes, list)
    assert isinstance(links, list)
    more = [wire(f"own-{i}", "server", "beside") for i in range(5)]
    return tree | {"node": [*nodes, {"name": "beside", "multihomed": True}], "link": [*links, *more]}


def instructions(tree: Tree, duration: str) -> int:
    """Of the run alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.json"
        path.write_text(json.dumps(tree))
        return callgrind([str(path), f"scenario.duration={duration}"], f"--toggle-collect={COUNTED}")[0]


def main(words: list[str] | None = None) -> int:
    """Counts and judges; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=100, help="in tens (default: 100)")
    parser.add_argument("--duration", default="600s", help="of each run (default: 600s)")
    arguments = parser.parse_args(words)
    if missing := missing_programs():
        return left_out(f"instructions are not counted without {', '.join(missing)}")
    three_radios = phones(arguments.phones)
    trees = {
        "Wi-Fi alone": phones(arguments.phones, ("wifi",)),
        "LTE alone, a wire": phones(arguments.phones, ("link",)),
        "three radios": three_radios,
        "three radios, and a node with five interfaces": with_five_interfaces(three_radios),
    }
    try:
        counts = {name: instructions(tree, arguments.duration) for name, tree in trees.items()}
    except FailedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    *_, three, five = counts.values()
    alone = {name: count for name, count in counts.items() if "alone" in name}
    for name, count in counts.items():
        sys.stdout.write(f"{name}: {count:,} instructions\n")
    complaints = []
    for name, one in alone.items():
        sys.stdout.write(f"three radios cost {three / one:.2f} times as much as {name}\n")
        if three > MOST_FOR_THREE * one:
            complaints.append(f"three radios cost more than {MOST_FOR_THREE:g} times as much as {name}")
    if five > MOST_FOR_FIVE * three:
        complaints.append(f"five idle interfaces cost the others {100 * (five / three - 1):.1f} %, above 1 %")
    sys.stderr.writelines(f"{complaint}\n" for complaint in complaints)
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
