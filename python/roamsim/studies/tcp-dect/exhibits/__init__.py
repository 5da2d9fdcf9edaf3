"""Tables and drawings of the study `tcp-dect`, one file a subject."""

from .burst import burst_delays, burst_run
from .data_units import data_units
from .delay import delay_histogram, delay_statistics
from .mac import occupancy, state_diagram, states, terminals, transitions
from .recovery import recoveries
from .sensitivity import robustness, sensitivity
from .throughput import limits, user_plane

__all__ = [
    "burst_delays",
    "burst_run",
    "data_units",
    "delay_histogram",
    "delay_statistics",
    "limits",
    "occupancy",
    "recoveries",
    "robustness",
    "sensitivity",
    "state_diagram",
    "states",
    "terminals",
    "transitions",
    "user_plane",
]
