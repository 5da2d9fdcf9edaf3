"""The 802.16 cell of the benches: stations with a flow by UDP each way, that fill it or send a packet every frame."""

PAYLOAD_BYTES = 1472
#: More than 48 symbols of 108 octets each way in 5 ms.
OFFERED_BPS = 10_000_000


def cell(stations: int, duration_s: float, *, saturated: bool) -> dict[str, object]:
    """The scenario as a tree: a flow each way for each station."""
    names = [f"station-{i}" for i in range(stations)]
    interval_ns = 8_000_000_000 * PAYLOAD_BYTES * stations // OFFERED_BPS if saturated else 5_000_000
    payload_bytes = PAYLOAD_BYTES if saturated else max(1, min(PAYLOAD_BYTES, 2000 // stations))
    flows = []
    for i, name in enumerate(names):
        for way, ends in (("up", [name, "base-station"]), ("down", ["base-station", name])):
            application = {
                "kind": "cbr",
                "packet_size": f"{payload_bytes}B",
                "interval": f"{interval_ns}ns",
                "start": f"{i * interval_ns // stations}ns",
            }
            flow = {"name": f"{way}-{i}", "from": ends[0], "to": ends[1], "transport": {"protocol": "udp"}}
            flows.append(flow | {"application": application})
    return {
        "scenario": {
            "name": f"Bench: 802.16 cell of {stations} stations",
            "duration": f"{duration_s:g}s",
            "ip": "ipv4",
        },
        "node": [{"name": name} for name in ["base-station", *names]],
        "wimax": [{"name": "air", "base_station": "base-station", "stations": names, "queue": {"packets": 100}}],
        "flow": flows,
    }
