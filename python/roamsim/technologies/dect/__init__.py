"""DECT: the map of its channels over time, the states of its MAC, and its section of a report."""

from roamsim.technologies.dect.channel_map import picture
from roamsim.technologies.dect.section import outcome, report

__all__ = ["PICTURES", "outcome", "report"]

PICTURES = {"occupancy": picture}
