"""Closed forms of the DECT MAC: calls that are lost, bearers that are lost one by one and set up again.

They are derived in docs/models/dect-mac.md. Those of the user plane are in `roamsim.theory.dect`.
"""

import math


def erlang_b(channels: int, offered_erlang: float) -> float:
    """Share of calls that find all channels taken, in a cell without handover (Erlang's loss formula).

    By the recursion B(0) = 1, B(c) = a B(c-1) / (c + a B(c-1)).
    """
    if channels < 0 or offered_erlang < 0.0:
        raise ValueError(f"channels and traffic are not negative, got {channels} and {offered_erlang}")
    blocked = 1.0
    for channel in range(1, channels + 1):
        blocked = offered_erlang * blocked / (channel + offered_erlang * blocked)
    return blocked


def mean_bearers(target: int, threshold: int) -> float:
    """Mean number of bearers that are lost one by one, and restored to `target` at once when fewer than `threshold`.

    Bearers are lost independently, each at the same rate, so that with n bearers the time until the next loss is in
    proportion to 1/n. A cycle goes through n = target, ..., threshold: the mean is the sum of n (1/n) over the sum of
    1/n, (target - threshold + 1) / (1/threshold + ... + 1/target).
    """
    if not 1 <= threshold <= target:
        raise ValueError(f"the threshold is from 1 to the target, got {threshold} and {target}")
    return (target - threshold + 1) / math.fsum(1.0 / n for n in range(threshold, target + 1))
