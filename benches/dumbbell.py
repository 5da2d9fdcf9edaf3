"""The dumbbell of the benches: n bulk flows, each between a source and a sink of its own, through one bottleneck."""

BOTTLENECK = {"rate": "100Mb/s", "delay": "10ms"}
ACCESS = {"rate": "1Gb/s", "delay": "1ms"}
# The product of bandwidth and round-trip time: 100 Mb/s x 24 ms = 300 kB.
QUEUE_PACKETS = 300
DURATION_S = 60
WIDE_DURATION_S = 6


def dumbbell(flows: int, *, wide: bool = False, control: dict[str, object] | None = None) -> dict[str, object]:
    """The scenario as a tree; starts are spread over the first second. Congestion control is NewReno, or as told.

    A wide one has 1 Mb/s and 3 packets of queue for each flow at its bottleneck, as the other has for a hundred.
    """

    def link(name: str, ends: list[str], kind: dict[str, str], queue: int = QUEUE_PACKETS) -> dict[str, object]:
        return {"name": name, "between": ends, "queue": {"packets": queue}, **kind}

    transport = {
        "protocol": "tcp",
        **(control or {"variant": "newreno"}),
        "mss": "1000B",
        "min_rto": "200ms",
        "delayed_ack": False,
    }
    nodes = ["left", "right"]
    if wide:
        links = [link("bottleneck", ["left", "right"], {**BOTTLENECK, "rate": f"{flows}Mb/s"}, 3 * flows)]
    else:
        links = [link("bottleneck", ["left", "right"], BOTTLENECK)]
    flow_entries = []
    for i in range(flows):
        source, sink = f"source-{i}", f"sink-{i}"
        nodes += [source, sink]
        links.append(link(f"up-{i}", [source, "left"], ACCESS))
        links.append(link(f"down-{i}", ["right", sink], ACCESS))
        flow_entries.append(
            {
                "name": f"flow-{i}",
                "from": source,
                "to": sink,
                "transport": transport,
                "application": {"kind": "bulk", "start": f"{1_000_000 * i // flows}us"},
            }
        )
    return {
        "scenario": {
            "name": f"Bench: dumbbell of {flows} flows",
            "duration": f"{WIDE_DURATION_S if wide else DURATION_S}s",
            "ip": "ipv4",
        },
        "node": [{"name": name} for name in nodes],
        "link": links,
        "flow": flow_entries,
    }
