"""Message-sequence charts from the rows of a packet trace."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from roamsim.pictures.sequence import Mark, Packet, draw, packets_of

ROWS = [
    # packet, time, event, node, place, description
    (1, 5.000, "sent", "mn", "", "MIH indication 1"),
    (1, 5.001, "transmitted", "mn", "cell", "MIH indication 1"),
    (1, 5.020, "delivered", "pos", "", "MIH indication 1"),
    (2, 5.020, "sent", "pos", "", "MIH ACK of indication 1"),
    (2, 5.040, "delivered", "mn", "", "MIH ACK of indication 1"),
    (3, 6.000, "sent", "mn", "", "MIH indication 2"),
    (3, 6.010, "dropped", "router", "core: loss", "MIH indication 2"),
    (4, 6.100, "sent", "mn", "", "MIH indication 2"),
    (4, 6.120, "delivered", "pos", "", "MIH indication 2"),
    (5, 7.000, "sent", "mn", "", "MIH indication 3"),  # still on its way when the run ended
]


def table() -> dict[str, list[object]]:
    names = ("packet_id", "time_s", "event", "node", "reason", "description")
    return {name: [row[i] for row in ROWS] for i, name in enumerate(names)}


def test_packets_of_a_trace() -> None:
    packets = packets_of(table())
    assert [p.label for p in packets] == [
        "MIH indication 1",
        "MIH ACK of indication 1",
        "MIH indication 2",
        "MIH indication 2 (copy 2)",
    ]
    assert packets[0] == Packet("mn", "pos", "MIH indication 1", "message", 5.0, 5.02)
    assert packets[1].kind == "acknowledgement"
    assert (packets[2].received_s, packets[2].lost_s, packets[2].destination) == (None, 6.01, "pos")


def test_a_lost_packet_went_to_the_next_node_of_the_chart() -> None:
    lost = packets_of(table(), since_s=6.0, order=["mn", "router", "cn", "pos"])[0]
    assert (lost.received_s, lost.destination) == (None, "router")
    lost = packets_of(table(), since_s=6.0, order=["pos", "router", "mn"])[0]
    assert lost.destination == "router"


def test_span_of_time_and_descriptions() -> None:
    packets = packets_of(table(), since_s=6.0, until_s=6.05, describe=lambda text: (text.upper(), "transport"))
    assert [(p.label, p.kind) for p in packets] == [("MIH INDICATION 2", "transport")]
    assert packets_of(table(), describe=lambda _: None) == []


def test_a_chart_is_well_formed_and_cuts_idle_time() -> None:
    svg = draw(packets_of(table()), nodes={"mn": "MN", "pos": "PoS"}, title="Indication <1>")
    root = ET.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Indication <1>"
    assert "Indication <1>" not in texts  # the caption around the picture says it
    # Nothing is on its way from 5.040 until 6.000, and from the time the lost packet would have arrived until 6.100.
    assert "960.0 ms without a packet" in texts
    assert "80.0 ms without a packet" in texts
    # A cross for the lost packet and one in the legend.
    assert len(re.findall(r"stroke='#c4292e'", svg)) == 2
    # Time stamps count from the first packet.
    assert {"0.0", "20.0", "40.0", "1100", "1120"} <= set(texts)


def test_packets_of_one_instant_are_drawn_apart() -> None:
    same = [Packet("mn", "pos", f"p{i}", "message", 1.0, 1.02) for i in range(3)]
    root = ET.fromstring(draw(same, nodes={"mn": "MN", "pos": "PoS"}, title="t"))
    starts = [float(line.get("y1", "0")) for line in root.iter("{http://www.w3.org/2000/svg}line")]
    assert len(starts) == 3
    assert all(later - earlier >= 15 for earlier, later in pairwise(starts))


def test_a_chart_fits_a_phone() -> None:
    root = ET.fromstring(draw(packets_of(table()), nodes={"mn": "MN", "pos": "PoS"}, title="t"))
    width = float(root.get("width", "0"))
    assert root.get("viewBox", "").split()[2:] == [root.get("width"), root.get("height")]
    assert "max-width:100%" in root.get("style", "")
    # On the 370 pixels that a page of 400 has for it, no letter is smaller than 9 pixels.
    sizes = [float(text.get("font-size", "0")) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert min(sizes) * 370 / width >= 9


def test_a_label_keeps_clear_of_a_line_that_crosses_its_own() -> None:
    # The arrows cross in the middle third, where a request's copy would carry its label: it moves aside.
    packets = [
        Packet("mn", "pos", "response 1", "message", 1.0, 1.15),
        Packet("pos", "mn", "request 1 (copy 2)", "message", 1.05, 1.2),
    ]
    root = ET.fromstring(draw(packets, nodes={"mn": "MN", "pos": "PoS"}, title="t"))
    svg = "{http://www.w3.org/2000/svg}"
    lines = [{key: float(line.get(key, "0")) for key in ("x1", "y1", "x2", "y2")} for line in root.iter(f"{svg}line")]
    first, second = ((at["y2"] - at["y1"]) / (at["x2"] - at["x1"]) for at in lines)
    crossing = (lines[1]["y1"] - second * lines[1]["x1"] - lines[0]["y1"] + first * lines[0]["x1"]) / (first - second)
    for group in root.iter(f"{svg}g"):
        x = float(group.get("transform", "").removeprefix("translate(").split()[0])
        text = group.find(f"{svg}text")
        assert text is not None
        assert abs(x - crossing) > 13 * 0.5 * len(text.text or "") / 2
        assert text.get("paint-order") == "stroke"


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="no packets"):
        draw([], nodes={"mn": "MN"}, title="t")
    with pytest.raises(ValueError, match="no lifeline for the node 'pos'"):
        draw(packets_of(table()), nodes={"mn": "MN"}, title="t")


def test_times_stand_where_their_arrows_are_not() -> None:
    packets = [
        Packet("mn", "pos", "query", "message", 1.0, 1.02),
        Packet("pos", "cn", "redirect", "message", 1.3, 1.36),
    ]
    root = ET.fromstring(draw(packets, nodes={"mn": "MN", "pos": "PoS", "cn": "CN"}, title="t"))
    svg = "{http://www.w3.org/2000/svg}"
    anchors = {text.text: text.get("text-anchor") for text in root.iter(f"{svg}text")}
    # Of the line in the middle: what comes from the left on the right of it, what leaves to the right on the left.
    assert [anchors[time] for time in ("0.0", "20.0", "300.0", "360.0")] == ["end", "start", "end", "start"]


def test_marks_stand_between_the_packets_in_the_order_of_time() -> None:
    packets = packets_of(table(), since_s=6.0)
    marks = [Mark("mn", 6.1, "timeout 1"), Mark("mn", 6.2, "timeout 2: transaction fails")]
    root = ET.fromstring(draw(packets, nodes={"mn": "MN", "pos": "PoS"}, title="t", marks=marks))
    texts = {text.text: float(text.get("y", "0")) for text in root.iter("{http://www.w3.org/2000/svg}text")}
    # From the first packet at 6 s: a timeout after 100 ms, at which the copy leaves, and one after the last arrival.
    arrival = texts["120.0"]
    assert texts["timeout 1"] < arrival < texts["timeout 2: transaction fails"]
    # Its time stands where that of a packet would.
    assert abs(texts["200.0"] - texts["timeout 2: transaction fails"]) < 1
    # Without marks the chart is as it was.
    assert "timeout" not in draw(packets, nodes={"mn": "MN", "pos": "PoS"}, title="t")


def test_labels_make_room_for_marks() -> None:
    def label(marks: list[Mark]) -> float:
        sent = [Packet("pos", "mn", "MIH ACK of request 1", "acknowledgement", 0.0, 1.0)]
        root = ET.fromstring(draw(sent, nodes={"mn": "MN", "pos": "PoS"}, title="t", marks=marks))
        group = next(
            one
            for one in root.iter("{http://www.w3.org/2000/svg}g")
            if any(text.text == "MIH ACK of request 1" for text in one)
        )
        return float(group.get("transform", "").removeprefix("translate(").split()[0])

    # The words reach across the chart, above the middle of the arrow: the label goes down to where it has room.
    assert label([Mark("mn", 0.1, "timeout 3: transaction fails and more words")]) < label([]) - 50
