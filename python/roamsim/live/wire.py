"""`--link`: a scenario of two nodes and one wire, in a few words.

Rates, delays and traces are written as link emulators take them; the rest of the wire is reached by `--set`.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from roamsim.errors import UsageError
from roamsim.scenarios.reading import Source

#: The ends of the wire. Down is towards the client.
CLIENT, SERVER = "client", "server"

#: Chosen: longer than anybody watches.
DURATION = "24h"

#: The scenario's reader checks the number, and the unit of a rate.
_RATE = re.compile(r"[\d.]+ ?\w+/s")
_TIME = re.compile(r"[\d.]+ ?(ns|us|ms|s|min|h)")
_USAGE = "as in --link 10Mb/s,20ms,loss=1%,queue=fq_codel, or --link down=cellular.trace,up=5Mb/s,20ms"


def wire(words: str) -> Source:
    """The scenario of `--link`.

    Args:
        words: separated by commas: a rate or a file with a trace of mahimahi for both directions, or one each as
            `down=` and `up=`; a delay; `loss=`, a share or percentage; `queue=`, packets, octets or a discipline;
            `ip=`, `ipv4` or `ipv6`.

    Raises:
        UsageError: a word is none of these or there twice, or the rate is missing.
    """
    said: set[str] = set()
    rates: dict[str, Any] = {}
    scenario: dict[str, Any] = {"name": words, "duration": DURATION, "ip": "ipv4"}
    link: dict[str, Any] = {"name": "path", "between": [SERVER, CLIENT], "delay": "0s"}
    for word in words.split(","):
        key, is_named, value = word.strip().partition("=")
        kind = key if is_named else "delay" if _TIME.fullmatch(key) else "rate"
        rate = _rate(key) if kind == "rate" else {}
        if kind in said:
            raise UsageError(f"--link has {kind} twice; write it once, {_USAGE}")
        said.add(kind)
        if "rate" in said and said & {"down", "up"}:
            raise UsageError(f"--link has a rate for both directions and one for a single one; write one, {_USAGE}")
        if not is_named:
            if kind == "delay":
                link["delay"] = key
            else:
                rates |= {CLIENT: rate, SERVER: rate}
        elif key == "down":
            rates[CLIENT] = _rate(value)
        elif key == "up":
            rates[SERVER] = _rate(value)
        elif key == "loss":
            link["loss"] = {"model": "bernoulli", "probability": _share(value)}
        elif key == "queue":
            link["queue"] = _queue(value)
        elif key == "ip":
            scenario["ip"] = value
        else:
            raise UsageError(
                f"--link knows no {key!r}; it takes a rate, a delay, down, up, loss, queue and ip, {_USAGE}; "
                f"other keys of a link by --set link.path.KEY=VALUE"
            )
    missing = [name for name, node in (("down", CLIENT), ("up", SERVER)) if node not in rates]
    if missing:
        raise UsageError(f"--link needs a rate ({' and '.join(missing)}), {_USAGE}")
    # Packets from the server go down.
    link["rate"] = [{"from": SERVER, **rates[CLIENT]}, {"from": CLIENT, **rates[SERVER]}]
    nodes = [{"name": node, "external": True} for node in (SERVER, CLIENT)]
    text = json.dumps({"scenario": scenario, "node": nodes, "link": [link]}, indent=1)
    return Source(text, "--link", True, Path.cwd(), True)


def _rate(text: str) -> dict[str, str]:
    if _RATE.fullmatch(text):
        return {"constant": text}
    if Path(text).is_file():
        return {"mahimahi": text}
    raise UsageError(f"--link: {text!r} is not a rate, a delay or the file of a mahimahi trace; write it {_USAGE}")


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise UsageError(f"--link: loss={text} is not a share of packets; write loss=1% or loss=0.01")
    return share


def _queue(text: str) -> dict[str, Any]:
    if text.isdecimal():
        return {"packets": int(text)}
    return {"bytes": text} if text[:1].isdecimal() else {"discipline": text}
