"""A run in Roamsim."""

import roamsim

from validation.parts import SCTP_EACH, SCTP_VARIANTS
from validation.runs import MSS_BYTES, SCTP_HEADER_BYTES, Outcome, Run


def scenario(run: Run) -> dict[str, object]:
    """The run as a scenario; what is set here beside the run's own settings is what the peers have or are given."""
    link: dict[str, object] = {
        "name": "path",
        "between": ["source", "sink"],
        "rate": f"{run.rate_bps}b/s",
        "delay": _duration(run.delay_s),
        "queue": {"packets": run.queue_packets},
    }
    if run.drop:
        link["loss"] = {"from": "source", "model": "list", "segments": list(run.drop)}
    elif run.loss:
        link["loss"] = {"from": "source", "model": "bernoulli", "probability": run.loss}
    if run.outage_for_s:
        link["outages"] = [{"start": _duration(run.outage_s), "duration": _duration(run.outage_for_s)}]
    return {
        "scenario": {"name": "Validation", "duration": _duration(run.duration_s), "ip": "ipv4"},
        "node": [{"name": "source"}, {"name": "sink"}],
        "link": [link],
        "flow": [
            {
                "name": "bulk",
                "from": "source",
                "to": "sink",
                "transport": _sctp(run) if run.variant in SCTP_VARIANTS else tcp(run),
                "application": {"kind": "bulk"},
            }
        ],
    }


def tcp(run: Run) -> dict[str, object]:
    """The transport of a run over TCP, as a scenario has it."""
    transport: dict[str, object] = {
        "protocol": "tcp",
        "variant": run.variant,
        "mss": f"{MSS_BYTES}B",
        "initial_window": 10,
        "receive_window": "6291000B",
        "min_rto": _duration(run.min_rto_s),
        "max_rto": "60s",
        "initial_rto": "3s",
        "clock_granularity": "1ms",
        "delayed_ack": run.ack_every == 2,
        "timestamps": False,
        "limited_transmit": run.variant != "tahoe",
    }
    if run.ack_every == 2:
        transport["delayed_ack_timeout"] = "100ms"
    if run.ssthresh:
        transport["initial_ssthresh"] = f"{run.ssthresh * MSS_BYTES}B"
    if run.variant == "vegas":
        transport["vegas"] = {"alpha": 2, "beta": 4, "gamma": 1}
    if run.variant == "cubic":
        transport["fast_convergence"] = True
    return transport


def _sctp(run: Run) -> dict[str, object]:
    delay = {"sack_delay": "100ms"} if run.ack_every > 1 else {}
    return {
        "protocol": "sctp",
        "fast_retransmit_in_recovery": run.variant == SCTP_EACH,
        "mtu": f"{MSS_BYTES + SCTP_HEADER_BYTES}B",
        # What a run watches for is delivered in order; long runs are unordered, as ns-2 needs it.
        "ordered": run.mark_bytes >= 0,
        "initial_window": 2,
        # Also the threshold at the start.
        "receive_window": f"{run.ssthresh * MSS_BYTES or 6_291_000}B",
        "rto_initial": "3s",
        "rto_min": _duration(run.min_rto_s),
        "rto_max": "60s",
        "sack_frequency": run.ack_every,
        **delay,
        "clock_granularity": "1ms",
    }


def run(settings: Run) -> Outcome:
    """Runs it in this process."""
    watches = settings.after_s >= 0 or settings.mark_bytes >= 0
    result = roamsim.run(scenario(settings), seed=settings.seed, jobs=1, trace="throughput" if watches else ())
    flow = result.flows.row(0, named=True)
    first_after_s, marked_s = -1.0, -1.0
    if watches:
        times = result.samples["time_s"].to_list()
        delivered = result.samples["value"].to_list()
        later = [t for t in times if 0 <= settings.after_s <= t]
        marked = [t for t, b in zip(times, delivered, strict=True) if 0 <= settings.mark_bytes <= b]
        first_after_s, marked_s = (min(found, default=-1.0) for found in (later, marked))
    return Outcome(
        delivered_bytes=flow["delivered_bytes"],
        timeouts=flow["timeouts"],
        retransmissions=flow["retransmissions"],
        first_after_s=first_after_s,
        marked_s=marked_s,
    )


def _duration(seconds: float) -> str:
    return f"{round(seconds * 1e9)}ns"
