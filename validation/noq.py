"""BBR version 3 of `noq-proto`, a QUIC stack, beside ours over TCP, on the same paths in virtual time, as Markdown.

    python -m validation.noq [--update docs/validation.md]

`validation/programs/noq` is a program in Rust that holds both and the bottleneck between them. cargo builds it.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from peers import document

PROGRAM = Path(__file__).parent / "programs" / "noq" / "Cargo.toml"


def main() -> None:
    """Builds, runs, prints, and writes the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", type=Path, help="also replace the measured part of this document")
    arguments = parser.parse_args()
    command = ["cargo", "run", "--quiet", "--locked", "--target-dir", "target/noq", "--manifest-path", str(PROGRAM)]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    sys.stdout.write(text)
    if arguments.update:
        document.replace(arguments.update, "noq", text)


if __name__ == "__main__":
    main()
