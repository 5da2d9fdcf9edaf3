"""The command `roamsim`, which is also `python -m roamsim`."""

from roamsim.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
