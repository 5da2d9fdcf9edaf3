"""The cell of the benches: stations of 802.11g that always have something to send, by UDP, to their access point."""

PAYLOAD_BYTES = 1472
#: Some fifth more than a cell of one station carries.
OFFERED_BPS = 36_000_000


def cell(stations: int, duration_s: int) -> dict[str, object]:
    """The scenario as a tree; the stations share what is offered, and begin one after the other."""
    names = [f"station-{i}" for i in range(stations)]
    interval_ns = 8_000_000_000 * PAYLOAD_BYTES * stations // OFFERED_BPS
    flows = [
        {
            "name": f"flow-{i}",
            "from": name,
            "to": "access-point",
            "transport": {"protocol": "udp"},
            "application": {
                "kind": "cbr",
                "packet_size": f"{PAYLOAD_BYTES}B",
                "interval": f"{interval_ns}ns",
                "start": f"{i * interval_ns // stations}ns",
            },
        }
        for i, name in enumerate(names)
    ]
    return {
        "scenario": {"name": f"Bench: cell of {stations} stations", "duration": f"{duration_s}s", "ip": "ipv4"},
        "node": [{"name": name} for name in ["access-point", *names]],
        "wifi": [
            {
                "name": "air",
                "access_point": "access-point",
                "stations": names,
                "standard": "802.11g",
                "queue": {"packets": 100},
            }
        ],
        "flow": flows,
    }
