"""What is compared: the parts of the validation, their cases, and the quantities that are set beside each other.

To add a variant of TCP, add its name to TCP_VARIANTS and to the programs of the peers that have it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from validation.runs import MSS_BYTES, Outcome, Run

TCP_VARIANTS = ["tahoe", "reno", "newreno", "sack", "vegas", "cubic"]
SCTP = "sctp"
#: With `fast_retransmit_in_recovery`, as ns-2's agent has it.
SCTP_EACH = "sctp-each"
SCTP_VARIANTS = [SCTP, SCTP_EACH]
VARIANTS = [*TCP_VARIANTS, *SCTP_VARIANTS]
ACKNOWLEDGED = {1: "every segment", 2: "every second"}


@dataclass(frozen=True)
class Case:
    """One line of labels, and its runs; where a quantity needs two runs for a value, they follow each other."""

    variant: str
    labels: tuple[str, ...]
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Quantity:
    """What is read off the runs of a case: one value a replication."""

    name: str
    digits: int  # behind the point
    values: Callable[[Sequence[Run], Sequence[Outcome]], list[float]]
    judged: bool = True  # whether a difference over 10 % asks for an explanation


@dataclass(frozen=True)
class Part:
    """One table. `dear` is how many of the replications a slow simulator makes; 0: it is left out."""

    name: str
    title: str
    labels: tuple[str, ...]
    cases: tuple[Case, ...]
    quantities: tuple[Quantity, ...]
    dear: int


def _goodput(runs: Sequence[Run], outcomes: Sequence[Outcome]) -> list[float]:
    return [8e-6 * o.delivered_bytes / r.duration_s for r, o in zip(runs, outcomes, strict=True)]


def _segments_a_round_trip(runs: Sequence[Run], outcomes: Sequence[Outcome]) -> list[float]:
    return [o.delivered_bytes / MSS_BYTES / r.duration_s * 2 * r.delay_s for r, o in zip(runs, outcomes, strict=True)]


def _timeouts_in_1000_s(runs: Sequence[Run], outcomes: Sequence[Outcome]) -> list[float]:
    return [1000 * o.timeouts / r.duration_s for r, o in zip(runs, outcomes, strict=True)]


def _first_new_data(runs: Sequence[Run], outcomes: Sequence[Outcome]) -> list[float]:
    """From the end of the blackout to the first delivery in order behind it."""
    return [o.first_after_s - r.after_s for r, o in zip(runs, outcomes, strict=True) if o.first_after_s >= 0]


def _recovery(_: Sequence[Run], outcomes: Sequence[Outcome]) -> list[float]:
    """How much later everything up to the last lost segment is delivered than without the losses."""
    return [
        lossy.marked_s - free.marked_s
        for lossy, free in zip(outcomes[::2], outcomes[1::2], strict=True)
        if lossy.marked_s >= 0 and free.marked_s >= 0
    ]


#: What more than one part tells. Timeouts are those of the runs with losses.
GOODPUT = Quantity("goodput, Mb/s", 3, _goodput)
TIMEOUTS_IN_1000_S = Quantity("timeouts in 1000 s", 1, _timeouts_in_1000_s, judged=False)
RECOVERY = Quantity("recovery, s", 2, _recovery)
TIMEOUTS_OF_LOSSES = Quantity("timeouts", 2, lambda _, outcomes: [float(o.timeouts) for o in outcomes[::2]])


def goodput(variants: Sequence[str], *, quick: bool) -> Part:
    """Bulk goodput over independent losses: 10 Mb/s, 20 ms one way, a queue of 100 packets."""
    cases = []
    for ack_every, acknowledged in ACKNOWLEDGED.items():
        for variant in variants:
            for loss in (0.0, 0.001, 0.005, 0.01, 0.03, 0.1):
                run = Run(variant, ack_every=ack_every, loss=loss, duration_s=30.0 if quick else 100.0)
                replications = (4 if quick else 40) if loss else 1
                cases.append(Case(variant, (acknowledged, variant, f"{loss:g}"), _seeds(run, replications)))
    return Part(
        name="goodput",
        title="Goodput of a bulk flow over independent losses",
        labels=("acknowledged", "variant", "p"),
        cases=tuple(cases),
        quantities=(GOODPUT,),
        dear=2 if quick else 10,
    )


def wide(variants: Sequence[str], *, quick: bool) -> Part:
    """The same where nothing but losses limits the window: 1 Gb/s, 30 ms one way, no queue that fills."""
    cases = []
    for variant in variants:
        for loss in (0.002, 0.005, 0.01, 0.02, 0.05):
            run = Run(
                variant,
                rate_bps=1_000_000_000,
                delay_s=0.03,
                queue_packets=100_000,
                loss=loss,
                duration_s=100.0 if quick else 1000.0,
            )
            cases.append(Case(variant, (variant, f"{loss:g}"), _seeds(run, 4 if quick else 30)))
    return Part(
        name="wide",
        title="Mean window where only losses limit it",
        labels=("variant", "p"),
        cases=tuple(cases),
        quantities=(
            Quantity("segments a round trip", 2, _segments_a_round_trip),
            TIMEOUTS_IN_1000_S,
        ),
        dear=0,
    )


def blackout(variants: Sequence[str], *, quick: bool) -> Part:
    """The link is cut once, at six (quick: two) instants of the window's cycle."""
    cases = []
    for variant in variants:
        for length_s in (0.5, 1.0, 2.0, 5.0):
            runs = []
            for i in range(2 if quick else 6):
                start_s = 15.0 + 0.53 * i
                end_s = start_s + length_s
                runs.append(
                    Run(
                        variant,
                        ssthresh=64,
                        outage_s=start_s,
                        outage_for_s=length_s,
                        duration_s=40.0,
                        after_s=end_s,
                        seed=1 + i,
                    )
                )
            cases.append(Case(variant, (variant, f"{length_s:g} s"), tuple(runs)))
    return Part(
        name="blackout",
        title="A link cut for a while",
        labels=("variant", "blackout"),
        cases=tuple(cases),
        quantities=(
            Quantity("delivered, MB", 2, lambda _, outcomes: [o.delivered_bytes / 1e6 for o in outcomes]),
            Quantity("timeouts", 2, lambda _, outcomes: [float(o.timeouts) for o in outcomes]),
            Quantity("first new data after, s", 3, _first_new_data),
        ),
        dear=2 if quick else 6,
    )


def six_losses(variants: Sequence[str], *, quick: bool) -> Part:
    """Every second of eleven segments is lost, once, from a window of known size; round trip 1.2 s."""
    return Part(
        name="six losses",
        title="Six alternate losses from one window, round trip 1.2 s",
        labels=("variant", "window"),
        cases=tuple(
            _six_alternate(Run(variant, delay_s=0.6), window, range(2 if quick else 6))
            for variant in variants
            for window in (12, 16, 24, 32, 48, 64)
        ),
        quantities=(RECOVERY, TIMEOUTS_OF_LOSSES),
        dear=4 if quick else 12,
    )


def sctp_goodput(variants: Sequence[str], *, quick: bool) -> Part:
    """Bulk goodput of SCTP over the path and the losses of `goodput`; unordered, as ns-2 needs it."""
    cases = []
    for variant in variants:
        for ack_every, acknowledged in ACKNOWLEDGED.items():
            for min_rto_s, losses in ((0.2, (0.0, 0.001, 0.005, 0.01, 0.03, 0.1)), (1.0, (0.03, 0.1))):
                # Where losses are rare there is seldom one in fast recovery.
                for loss in losses if variant == SCTP else losses[-2:]:
                    run = Run(
                        variant,
                        ack_every=ack_every,
                        loss=loss,
                        min_rto_s=min_rto_s,
                        duration_s=30.0 if quick else 100.0,
                    )
                    labels = (
                        variant,
                        acknowledged.replace("segment", "packet"),
                        f"{min_rto_s:g} s",
                        f"{loss:g}",
                    )
                    cases.append(Case(variant, labels, _seeds(run, (4 if quick else 40) if loss else 1)))
    return Part(
        name="sctp",
        title="Goodput of a bulk flow over SCTP",
        labels=("variant", "acknowledged", "minimum RTO", "p"),
        cases=tuple(cases),
        quantities=(GOODPUT, TIMEOUTS_IN_1000_S),
        dear=0,
    )


def sctp_six_losses(variants: Sequence[str], *, quick: bool) -> Part:
    """The losses of `six_losses` for SCTP, on a slow link: 500 kb/s, round trip 1.2 s."""
    return Part(
        name="sctp six losses",
        title="Six alternate losses from one window over SCTP, 500 kb/s, round trip 1.2 s",
        labels=("variant", "window"),
        cases=tuple(
            # Over the whole window: which of its packets leave in one burst differs.
            _six_alternate(
                Run(variant, rate_bps=500_000, delay_s=0.6), window, range(0, window, window // (2 if quick else 6))
            )
            for variant in variants
            for window in (12, 16, 20, 24, 32, 48, 64)
        ),
        quantities=(RECOVERY, replace(TIMEOUTS_OF_LOSSES, judged=False)),
        dear=0,
    )


def parts(variants: Sequence[str], *, quick: bool) -> list[Part]:
    """All parts of these variants, in the order of the document."""
    tcp = [variant for variant in variants if variant not in SCTP_VARIANTS]
    sctp = [variant for variant in variants if variant in SCTP_VARIANTS]
    found = [make(tcp, quick=quick) for make in (goodput, wide, blackout, six_losses)] if tcp else []
    return [*found, *([make(sctp, quick=quick) for make in (sctp_goodput, sctp_six_losses)] if sctp else [])]


def _six_alternate(settings: Run, window: int, firsts: Sequence[int]) -> Case:
    """Pairs of runs with and without the losses, the first loss at several packets of the fourth window."""
    runs: list[Run] = []
    for i in firsts:
        first = 3 * window + i
        lost = tuple(range(first, first + 11, 2))
        run = replace(
            settings,
            ssthresh=window,
            drop=lost,
            mark_bytes=lost[-1] * MSS_BYTES,
            duration_s=100.0,
            seed=1 + i,
        )
        runs += [run, replace(run, drop=())]
    return Case(settings.variant, (settings.variant, str(window)), tuple(runs))


def _seeds(run: Run, replications: int) -> tuple[Run, ...]:
    return tuple(replace(run, seed=seed) for seed in range(1, replications + 1))
