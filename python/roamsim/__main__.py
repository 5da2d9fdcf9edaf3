"""`python -m roamsim` is the command `roamsim`."""

from roamsim.cli import main

main()
