"""Tables and drawings of the study `tcp-dect`, one file a subject."""

from .burst import burst_air, burst_delays, burst_run
from .data_units import data_units
from .delay import delay_histogram, delay_statistics
from .figure_5 import figure_5
from .mac import occupancy, procedures, state_diagram, states, terminals, transitions
from .network import bearers, network
from .sensitivity import robustness
from .throughput import limits

__all__ = [
    "bearers",
    "burst_air",
    "burst_delays",
    "burst_run",
    "data_units",
    "delay_histogram",
    "delay_statistics",
    "figure_5",
    "limits",
    "network",
    "occupancy",
    "procedures",
    "robustness",
    "state_diagram",
    "states",
    "terminals",
    "transitions",
]
