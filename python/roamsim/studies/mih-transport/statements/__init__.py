"""Measurements of the published statements that need code; the others stand in statements.toml."""

from .congestion import (
    limiter_adds_delay_early,
    limiter_like_tcp,
    load_equals_throughput,
    most_dropped_at_mihf,
    only_first_requests,
    onset_without_limiter,
    request_overhead_peaks_near_token_rate,
)
from .round_trip import (
    acknowledgement_gains_nothing_when_late,
    delays_converge,
    flat_in_third_regime,
    printed_overheads,
    tcp_delivers_at_any_round_trip,
    unacknowledged_over_round_trip,
)
from .tcp import (
    load_slows,
    request_load_falls,
    response_delay_falls_again,
    segments_fall_sooner,
    segments_rise_and_fall,
    tcp_delay_steep,
    tcp_indications_always,
    tcp_requests_below,
    tends_to_four_and_a_half,
    two_segments,
)
from .udp import at_most_six, delay_steps, printed_delay_sum

__all__ = [
    "acknowledgement_gains_nothing_when_late",
    "at_most_six",
    "delay_steps",
    "delays_converge",
    "flat_in_third_regime",
    "limiter_adds_delay_early",
    "limiter_like_tcp",
    "load_equals_throughput",
    "load_slows",
    "most_dropped_at_mihf",
    "only_first_requests",
    "onset_without_limiter",
    "printed_delay_sum",
    "printed_overheads",
    "request_load_falls",
    "request_overhead_peaks_near_token_rate",
    "response_delay_falls_again",
    "segments_fall_sooner",
    "segments_rise_and_fall",
    "tcp_delay_steep",
    "tcp_delivers_at_any_round_trip",
    "tcp_indications_always",
    "tcp_requests_below",
    "tends_to_four_and_a_half",
    "two_segments",
    "unacknowledged_over_round_trip",
]
