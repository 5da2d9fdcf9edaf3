"""The study's code: settings that are computed, and what is measured of a run."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from roamsim.study.data import Data, paired
from roamsim.study.judging import with_interval

from .findings import NAMES, VARIANTS
from .walk import Walks, by_second

__all__ = ["by_second"]

CELLS = ("bs0", "bs1")
BASE_STATIONS_APART_M = 20

#: From A3 to n3: the delays of the wires, and the transmission of 552 octets at 100 Mb/s on both.
WIRES_S = 0.030 + 0.010 + 2 * 552 * 8 / 100e6

Columns = Mapping[str, Sequence[Any]]


def _of_cells(**settings: Any) -> dict[str, Any]:
    return {f"wifi.{cell}.{key}": value for cell in CELLS for key, value in settings.items()}


def _shadowing(**drawn: Any) -> dict[str, Any]:
    return {f"wifi.{cell}.radio.shadowing": drawn for cell in CELLS}


# Settings of dimensions -------------------------------------------------------------------------------------------


def interface_queue(packets: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """The queue of every radio."""
    return {f"wifi.{cell}.queue.packets": packets for cell in CELLS}


#: The queues that are held against each other, by the names in study.toml.
QUEUES: Mapping[str, Mapping[str, Any]] = {
    **{f"{packets} packets": {"packets": packets} for packets in (25, 50, 100)},
    "CoDel": {"discipline": "codel"},
    "FQ-CoDel": {"discipline": "fq_codel"},
}


def discipline(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """How what waits at every radio is served and dropped."""
    return _of_cells(queue=dict(QUEUES[name]))


def retransmissions(count: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """How often a frame is sent again: the standard's limits count attempts in all, one more."""
    return _of_cells(short_retry_limit=count + 1, long_retry_limit=count + 1)


def distance(metres: int, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """n3 between the base stations, so far from BS1."""
    return {"node.n3.position.x": f"{BASE_STATIONS_APART_M - metres}m"}


def speed(kmh: float, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """How fast n3 walks."""
    return {"node.n3.motion.speed": f"{round(kmh / 3.6, 4)}m/s"}


_WINDOW = {"flow.ftp.transport.receive_window": "10240B", "flow.ftp.transport.window_scaling": False}
#: Every data frame is longer than a threshold of zero: the long limit counts its attempts, ns-2's seven those of RTS.
_RTS = _of_cells(rts_threshold="0B", short_retry_limit=7)
_DSSS = _of_cells(slot_time="long", cw_min=31)

#: The choices that are changed one at a time, by the names in study.toml.
CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "as chosen": {},
    "window of 20 segments": _WINDOW,
    "RTS and CTS before every frame": _RTS,
    "a limit of L is L attempts in all": {},
    "slots and window of DSSS": _DSSS,
    "802.11b at 11 Mb/s, long preamble": _of_cells(standard="802.11b", rate="11Mb/s"),
    "these habits of ns-2 together": {**_WINDOW, **_RTS, **_DSSS},
    "rate of 18 Mb/s": _of_cells(rate="18Mb/s"),
    "rate of 54 Mb/s": _of_cells(rate="54Mb/s"),
    "radius of 15 m": {f"wifi.{cell}.radio.radius": "15m" for cell in CELLS},
    "radius of 30 m": {f"wifi.{cell}.radio.radius": "30m" for cell in CELLS},
    "reception at the standard's sensitivity": _of_cells(
        radio={"path_loss": {"model": "log_distance", "exponent": 2.7}, "shadowing_deviation_db": 4.0}
    ),
    "both base stations on one channel": _of_cells(channel=1),
    "no shadowing": {f"wifi.{cell}.radio.shadowing_deviation_db": 0.0 for cell in CELLS},
    "shadowing per coherence time": _shadowing(redrawn="per_coherence_time", coherence_time="50ms"),
    "shadowing by distance": _shadowing(redrawn="by_distance", decorrelation_distance="8.3m"),
    "game and chat in the other cell": {
        "wifi.bs0.stations": ["n0", "n1", "n2"],
        "wifi.bs1.stations": ["n3"],
        "node.n1.position.x": "0m",
        "node.n2.position.x": "0m",
    },
    "delayed acknowledgements": {"flow.ftp.transport.delayed_ack": True},
    "least RTO of 1 s": {"flow.ftp.transport.min_rto": "1s"},
}

#: The same of the walk.
CONDITIONS_OF_WALK: Mapping[str, Mapping[str, Any]] = {
    **{name: CONDITIONS[name] for name in ("as chosen", "window of 20 segments", "RTS and CTS before every frame")},
    **{name: CONDITIONS[name] for name in ("both base stations on one channel", "radius of 15 m")},
    "advertisements every 0.2 s": {"mobile_ip.mobility.advertisement": {"period": "200ms", "lifetime": "1s"}},
    "advertisements every 3 s": {"mobile_ip.mobility.advertisement": {"period": "3s", "lifetime": "9s"}},
    "move detection by lifetime": {"mobile_ip.mobility.move_detection": "lifetime"},
    "walks 40 s after the transfer has begun": {"flow.ftp.application.start": "0s"},
    "first slow start threshold of 60 kB": {"flow.ftp.transport.initial_ssthresh": "60kB"},
    "walks 5 m beside the base stations": {"node.n3.position.y": "5m", "node.n3.motion.to.y": "5m"},
}

#: Those of them in which a limit counts attempts in all, as in ns-2.
ATTEMPTS_IN_ALL = ("a limit of L is L attempts in all", "these habits of ns-2 together")


def condition(name: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """One choice changed."""
    changed = dict(CONDITIONS[name])
    if name in ATTEMPTS_IN_ALL:
        limits = _of_cells(short_retry_limit=labels["retransmissions"], long_retry_limit=labels["retransmissions"])
        changed = {**limits, **changed}
    return changed


#: What the standard asks for at each rate of 802.11g (IEEE 802.11-2007 table 17-13), in Mb/s and dBm.
SENSITIVITIES_DBM = {6: -82, 9: -81, 12: -79, 18: -77, 24: -74, 36: -70, 48: -66, 54: -65}
#: 24 Mb/s are understood up to the radius of the study; what arrives there, by the log-distance law beyond 1 m.
RADIUS_M, EXPONENT, POWER_DBM, FREE_SPACE_1_M_DB = 20, 2.7, 20, 40.0953
#: The ways to choose a rate, by the names in study.toml.
RATES: Mapping[str, Mapping[str, Any]] = {
    "24 Mb/s": {"rate": "24Mb/s"},
    "54 Mb/s": {"rate": "54Mb/s"},
    "54 Mb/s, by signal": {"rate": "54Mb/s", "rate_control": {"algorithm": "by_signal"}},
    "54 Mb/s, ARF": {"rate": "54Mb/s", "rate_control": {"algorithm": "arf"}},
    "54 Mb/s, AARF": {"rate": "54Mb/s", "rate_control": {"algorithm": "aarf"}},
}


def rates(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """A way to choose the rate, on one and the same radio: each rate has a threshold of its own."""
    chosen = RATES[name]
    most_mbps = int(chosen["rate"].removesuffix("Mb/s"))
    at_radius_dbm = POWER_DBM - FREE_SPACE_1_M_DB - 10 * EXPONENT * math.log10(RADIUS_M)
    more_db = at_radius_dbm - SENSITIVITIES_DBM[24]
    thresholds = [
        {"rate": f"{mbps}Mb/s", "power": f"{round(dbm + more_db, 2)}dBm"}
        for mbps, dbm in SENSITIVITIES_DBM.items()
        if mbps <= most_mbps
    ]
    radio = {
        "path_loss": {"model": "log_distance", "exponent": EXPONENT},
        "shadowing_deviation_db": 4.0,
        "reception_thresholds": thresholds,
    }
    return _of_cells(radio=radio, **chosen)


def condition_of_walk(name: str, _labels: Mapping[str, Any]) -> dict[str, Any]:
    """One choice of the walk changed."""
    return dict(CONDITIONS_OF_WALK[name])


# Measurements -----------------------------------------------------------------------------------------------------

#: The flows beside the FTP flow, and what is kept of each: as columns whose names begin with its own.
OTHERS = ("movie", "game-server", "game-client", "chat-down", "chat-up")
OF_OTHERS = ("mean_delay_s", "p95_delay_s", "jitter_s", "loss_ratio")
VIDEO = ("movie", "chat-down", "chat-up")

#: What is kept of the FTP flow.
OF_FTP = ("goodput_bps", "timeouts", "fast_retransmits")


def throughput(tables: Mapping[str, Columns]) -> dict[str, list[Any]]:
    """One row: the FTP flow with its mean packet delay (as a stream of bytes it has no messages), and the others."""
    flows = tables["flows"]
    ftp = list(flows["name"]).index("ftp")
    return {
        **each_flow(tables),
        **access_point(tables),
        "packet_delay_s": [packet_delay_s(tables, flows["stop_s"][ftp])],
    }


def access_point(tables: Mapping[str, Columns]) -> dict[str, list[Any]]:
    """What the MAC of BS1 did: attempts, those that failed, packets that it sent, and those that it gave up."""
    radios, links, drops = tables["wifi_stations"], tables["links"], tables["drops"]
    own = list(radios["node"]).index("bs1")
    sent = zip(links["from"], links["to"], links["sent_packets"], strict=True)
    given_up = zip(drops["node"], drops["reason"], drops["packets"], strict=True)
    return {
        "attempts": [radios["attempts"][own]],
        "failed_attempts": [radios["failed_attempts"][own]],
        "sent_packets": [sum(packets for sender, to, packets in sent if sender == "bs1" and to != "a0")],
        "given_up": [sum(packets for node, why, packets in given_up if (node, why) == ("bs1", "retry limit"))],
    }


def each_flow(tables: Mapping[str, Columns]) -> dict[str, list[Any]]:
    """One row: the FTP flow, and the others."""
    flows = tables["flows"]
    rows = {name: row for row, name in enumerate(flows["name"])}
    measured = {column: [flows[column][rows["ftp"]]] for column in OF_FTP}
    for name in OTHERS:
        measured |= {_column(name, column): [flows[column][rows[name]]] for column in OF_OTHERS}
    video = tables["video"]
    shares = dict(zip(video["name"], video["decodable_share"], strict=True))
    return {**measured, **{_column(name, "decodable_share"): [shares[name]] for name in VIDEO}}


def _column(flow: str, column: str) -> str:
    return f"{flow.replace('-', '_')}_{column}"


def packet_delay_s(tables: Mapping[str, Columns], end_s: float) -> float | None:
    """The mean delay of packets from A3 to n3, by Little's law: how many wait, over how many leave in a second.

    The time in service at the base station is the mean of all packets that it sends.
    """
    hops = (("a3", "a0"), ("a0", "bs1"), ("bs1", "n3"))
    links = {(a, b): i for i, (a, b) in enumerate(zip(tables["links"]["from"], tables["links"]["to"], strict=True))}
    sent, waiting = tables["links"]["sent_packets"], tables["links"]["mean_queue_packets"]
    if not sent[links["bs1", "n3"]]:
        return None
    queues_s: float = sum(waiting[i] * end_s / sent[i] for i in (links[hop] for hop in hops))
    radios = tables["wifi_stations"]
    own = list(radios["node"]).index("bs1")
    served = sum(sent[i] for (sender, to), i in links.items() if sender == "bs1" and to != "a0")
    service_s: float = sum(radios[column][own] for column in ("contention_s", "data_s", "lost_s")) / served
    return WIRES_S + queues_s + service_s


# Words of the answer ----------------------------------------------------------------------------------------------


def order_of(experiment_of: str, data: Data) -> str:
    """The variants with IFQ 50 and 3 retransmissions, the best first: at so many metres, or at so many km/h.

    Between two stands > if the first is ahead in pairs of replications with its whole interval, = if that is open.
    """
    place, unit = experiment_of.split()
    where: dict[str, Any] = {"ifq": 50, "retransmissions": 3}

    def of(variant: str) -> dict[int, float]:
        if unit == "m":
            at = {**where, "variant": variant, "distance_m": int(place)}
            return data.by_replication("standing", "goodput_bps", **at)
        return Walks(data).throughputs(int(place), variant=variant, **where)

    found = {variant: of(variant) for variant in VARIANTS}
    best, *others = sorted(found, key=lambda one: -fmean(found[one].values()))
    words = NAMES[best]
    for behind in others:
        words += f" {'>' if paired(lambda a, b: a - b, found[best], found[behind]).low > 0 else '='} {NAMES[behind]}"
        best = behind
    return words


def moving_mbps(variant: str, kmh: int, data: Data) -> str:
    """The throughput on the way with IFQ 50 and 3 retransmissions, in Mb/s."""
    return with_interval(Walks(data).throughput(kmh, variant=variant, ifq=50, retransmissions=3))


# Published values -------------------------------------------------------------------------------------------------


@cache
def published_delays_ms() -> dict[tuple[str, int, int], float]:
    """Table IV by variant, distance (m) and interface queue (packets)."""
    with (Path(__file__).parent / "published-delays.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {
        (row["variant"], int(row["distance_m"]), ifq): float(row[f"ifq_{ifq}"])
        for row in rows
        for ifq in (25, 50, 100)
    }


def published_delay_s(labels: Mapping[str, Any], _column: str) -> float | None:
    """The published mean delay of a point, in seconds."""
    return published_delays_ms()[labels["variant"], labels["distance_m"], labels["ifq"]] / 1000
