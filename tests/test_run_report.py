"""The report of a run: what its first screen says and draws, against the tables, and what a browser makes of it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars
import pytest
import roamsim as package
from conftest import ROOT, Command, run_command
from markupsafe import escape
from roamsim.pictures import course
from roamsim.reports import outcome
from roamsim.reports.run import report
from roamsim.storing.store import Results, open_results
from roamsim.tables.values import bit_rate, octets, percent
from test_inspector import Elements
from test_live import PHONE, SERVER, WIRE, echo
from test_report import open_in_browser

EXAMPLES = ROOT / "examples"


def results_of(roamsim: Command, tmp_path: Path, name: str, *options: str) -> Results:
    """A run of an example, read from its folder."""
    roamsim("run", EXAMPLES / f"{name}.toml", "--parquet", "out", *options)
    return open_results(tmp_path / "out")


def rows(view: dict[str, Any]) -> list[dict[str, Any]]:
    """What a panel holds, without the end of its last line."""
    values: list[dict[str, Any]] = view["data"]["values"]
    return [row for row in values if row["until"] > row["t"]]


def drawn(results: Results) -> dict[str, Any]:
    """The picture of a run's course, its panels by their titles."""
    page = report(results).html()
    held = re.search(r'id="charts">(.*?)</script>', page, re.DOTALL)
    assert held is not None
    spec = json.loads(held[1])["course"]
    return {view["title"]["text"]: view for view in spec["vconcat"]} | {"": spec}


def test_the_first_screen_counts_marks_and_the_page_has_their_table(roamsim: Command, tmp_path: Path) -> None:
    results = results_of(roamsim, tmp_path, "queue-management")
    ecn = results["ecn"].to_dicts()[0]
    assert ecn["marked_packets"] > 1
    assert outcome.came_out(results)[-1] == (
        f"{ecn['marked_packets']} packets of download arrived marked; it reduced its window {ecn['reductions']} times."
    )
    page = report(results).html()
    assert ">ecn<" in page
    assert ">queues<" in page


def test_the_first_screen_has_the_packets_of_programs(tmp_path: Path) -> None:
    world = package.World(WIRE, external=["server", "phone"])
    for packet in (echo(8, SERVER, PHONE), b"malformed"):
        world.inject("server", packet)
    world.step(1_000_000_000)
    world.finish().save(tmp_path / "out")
    results = open_results(tmp_path / "out")
    assert outcome.asked(results) == "Programs at server and phone. One link, at most 20\u00a0s."
    assert outcome.came_out(results)[:2] == [
        "Programs at server sent 2 packets and received 0; 1 packet was refused.",
        "Programs at phone sent 0 packets and received 1.",
    ]


def test_one_message_is_told_in_the_singular() -> None:
    assert outcome._share(1, 1) == "its only message"
    assert outcome._share(0, 1) == "0 % of 1 message"
    assert outcome._share(2, 2) == "all 2 messages"
    assert outcome._share(0, 0) == "none of 0 messages"


def test_one_flow_may_be_the_worst_and_the_slowest(roamsim: Command, tmp_path: Path) -> None:
    said = outcome.came_out(results_of(roamsim, tmp_path, "video"))
    assert re.fullmatch(r"5 flows .* The worst was film, with .* It was also the slowest: 95 % .*", said[1])


def test_the_first_screen_says_what_was_asked_and_what_came_out(roamsim: Command, tmp_path: Path) -> None:
    results = results_of(roamsim, tmp_path, "mobile-ip")
    assert outcome.asked(results) == (
        "upload: bulk data over TCP sack, terminal to server. 3 links and 2 cells, 120\u00a0s."
    )
    flow, handovers = results["flows"].to_dicts()[0], results["handovers"]
    said = outcome.came_out(results)
    assert said[0] == (
        f"upload moved {octets(flow['delivered_bytes'])} at {bit_rate(flow['goodput_bps'])}. "
        f"It retransmitted {flow['retransmissions']} of {flow['segments_sent']} segments "
        f"({percent(flow['retransmissions'] / flow['segments_sent'])}): {outcome.reasons(flow)}. "
        f"It timed out {flow['timeouts']} times."
    )
    lost = handovers["lost_uplink"].sum() + handovers["lost_downlink"].sum()
    assert said[1].startswith(f"{handovers.height} handovers of terminal interrupted the uplink for ")
    assert said[1].endswith(f" and lost {lost} packets.")
    busiest = results["links"].sort("utilisation").to_dicts()[-1]
    assert said[2].startswith(f"Busiest link: {busiest['name']}, {busiest['from']} to {busiest['to']}, with ")
    assert f"{percent(busiest['utilisation'])} utilisation" in said[2]
    drops = results["drops"]
    lost = drops.filter(reason="loss")["packets"].sum()
    assert said[3].startswith(f"The network dropped {drops['packets'].sum()} packets: {lost} lost on a link, ")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dect-access", ["bearers on average. Of ", "competing calls", "were blocked and "]),
        ("wifi-contention", ["10 streams moved ", "Airtime of air: ", "% collisions"]),
        ("wimax", ["Airtime of air: ", "downlink bursts", " packets, all at a full queue."]),
        (
            "mih-handover",
            [
                "stream delivered all 60 messages. The mean delay was 20.2 ms; 95 % arrived within 20.2 ms.",
                "1 handover of terminal interrupted the downlink for 80.4 ms and lost no packet.",
                "walk: committed 1.601 s after Link_Going_Down.",
            ],
        ),
        (
            "mih-indications",
            ["of 8000 messages succeeded. They took ", "Links were nearly idle: the busiest, path, had "],
        ),
        ("link-commands", ["commands: all 3 messages succeeded."]),
        # Half of the messages arrive; the percentile is theirs.
        ("wimax-walk", ["film delivered ", "; 95 % of those delivered arrived within "]),
        ("mobile-sctp", [" interrupted the uplink for up to "]),
        # Its two cells are one medium: one sentence.
        (
            "phone",
            [
                "phone switched its interface 3 times. It was on wifi1 for ",
                " % of the time.",
                "Airtime of wifi0 and wifi1: ",
            ],
        ),
        ("short-transfers", [" completed ", " transfers. They took ", " by duplicate ACKs. It never timed out."]),
        ("video", ["frames could be decoded in time"]),
        (
            "continuity",
            [
                "7 flows delivered ",
                "The worst was still, with ",
                "The slowest was agent-heard: 95 % of those delivered arrived within ",
                "Stations without a handover: still (heard west cell and east cell).",
            ],
        ),
    ],
)
def test_every_kind_of_run_tells_its_main_figures(
    name: str, words: list[str], roamsim: Command, tmp_path: Path
) -> None:
    said = " ".join(outcome.came_out(results_of(roamsim, tmp_path, name)))
    for word in words:
        assert word in said
    assert "None" not in said


def test_what_handovers_cost_is_told_by_direction_and_by_flow(roamsim: Command, tmp_path: Path) -> None:
    # The numbers are those of docs/models/mih-handover.md; all data goes to the terminals.
    results = results_of(roamsim, tmp_path, "continuity")
    flows = {row["flow"]: row for row in results["handover_flows"].iter_rows(named=True)}
    lost = {flow: row["lost_data"] + row["lost_acknowledgements"] for flow, row in flows.items()}
    assert {flow: count for flow, count in lost.items() if count} == {
        "broken": 2, "primary-lost": 13, "agent-lost": 133,
    }  # fmt: skip
    assert {flow: row["late_messages"] for flow, row in flows.items() if row["late_messages"]} == {"primary-lost": 6}
    assert (
        "6 handovers interrupted the downlink for 16.5 ms to 2.69 s and lost 148 packets "
        "(broken 2, primary-lost 13, agent-lost 133). 6 messages came late (primary-lost 6)."
    ) in outcome.came_out(results)


def test_what_was_lost_with_a_link_that_no_other_followed_is_told(roamsim: Command, tmp_path: Path) -> None:
    # The new cell, which has no room, ends at 45 m: from the edge of the old one on, at 25 s, two packets a second are lost.
    roamsim(
        "run", EXAMPLES / "mih-handover.toml", "--set", "cell.large.coverage.radius=45m",
        "--set", 'handover.walk.to=[{ access = "large", pos = "pos-2", capacity = 0 }]', "--parquet", "out",
    )  # fmt: skip
    results = open_results(tmp_path / "out")
    said = outcome.came_out(results)
    assert "walk: redirecting." in said
    assert "10 packets were lost while a link was down and no handover followed." in said
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "handover_flows: losses of each flow" in page


def test_a_folder_of_before_a_table_is_reported_without_it(roamsim: Command, tmp_path: Path) -> None:
    roamsim("run", EXAMPLES / "mobile-ip.toml", "--parquet", "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    for table in ("handover_flows", "series", "signals"):
        del manifest["tables"][table]
        (tmp_path / "out" / f"{table}.parquet").unlink()
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest))
    results = open_results(tmp_path / "out")
    assert "handover_flows" not in results
    assert any(said.endswith(" and lost 6 packets.") for said in outcome.came_out(results))
    roamsim("report", "out")


def test_several_replications_are_told_by_their_means(roamsim: Command, tmp_path: Path) -> None:
    results = results_of(roamsim, tmp_path, "one-tcp-flow", "--replications", "3", "--set", "scenario.duration=30s")
    said = outcome.came_out(results)
    assert bit_rate(results["flows"]["goodput_bps"].mean()) in said[0]  # type: ignore[arg-type]
    assert said[-1] == "Numbers are means over 3 replications."
    assert results["series"]["replication"].unique().to_list() == [0]


def test_both_directions_of_a_flow_are_told_apart(roamsim: Command, tmp_path: Path) -> None:
    said = outcome.came_out(results_of(roamsim, tmp_path, "both-ways"))
    assert said[0].startswith("chat (alice to bob) delivered ")
    assert said[1].startswith("chat (bob to alice) delivered ")


def test_results_stand_before_parameters(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--report", "page.html")
    text = (tmp_path / "page.html").read_text()
    places = [
        text.index(part)
        for part in (
            'class="answer outcome"',
            'id="course"',
            ">Results</h2>",
            ">What was run</h2>",
            "Parameters</summary>",
        )
    ]
    assert places == sorted(places)


def test_the_picture_holds_what_the_tables_say(roamsim: Command, tmp_path: Path) -> None:
    results = results_of(roamsim, tmp_path, "mobile-ip")
    panels = drawn(results)
    assert list(panels) == [
        "Rate of upload, Mb/s", "Congestion window of upload, kB", "Queue delay, ms", "Packets lost of upload", "",
    ]  # fmt: skip
    delivered = sum(row["v0"] * 1e6 / 8 * (row["until"] - row["t"]) for row in rows(panels["Rate of upload, Mb/s"]))
    assert delivered == pytest.approx(results["flows"]["delivered_bytes"][0], rel=1e-4)
    series = results["series"]
    lost = series.filter(kind="flow")["lost_packets"].sum()
    assert sum(row["v0"] for row in rows(panels["Packets lost of upload"])) == lost > 0
    windows = [row["v0"] for row in rows(panels["Congestion window of upload, kB"])]
    assert max(windows) == pytest.approx(series["cwnd_bytes"].max() / 1e3, rel=1e-4)  # type: ignore[operator]
    lines = panels["Queue delay, ms"]["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert lines == ["home cell", "foreign cell"]
    # A handover is a line through all panels.
    for title, view in panels.items():
        if title:
            begun = [event["t"] for event in view["layer"][1]["data"]["values"]]
            assert begun == results["handovers"]["begun_s"].to_list()


def test_a_flow_of_few_messages_is_no_comb(roamsim: Command, tmp_path: Path) -> None:
    results = results_of(roamsim, tmp_path, "mih-handover")
    values = [row["v0"] for row in rows(drawn(results)["Rate of stream, kb/s"])]
    # Sixty messages in 30 s: three in each of twenty parts.
    assert values == [3.2] * 20
    alone = results["series"].filter(kind="flow")["delivered_bytes"]
    assert alone.n_unique() > 1


def test_a_run_that_begins_late_is_shown_from_there_on(roamsim: Command, tmp_path: Path) -> None:
    results = results_of(roamsim, tmp_path, "dect-access")
    panels = drawn(results)
    first = results["series"].filter(polars.col("delivered_bytes") > 0)["begin_s"].min()
    for view in panels[""]["vconcat"]:
        assert view["layer"][0]["encoding"]["x"]["scale"]["domain"] == [first, 900.0]
    assert f"Nothing happens before {first:.4g}\u00a0s." in report(results).html()


SHORT = """
[scenario]
name = "A short transfer"
duration = "60s"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "pipe"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "20ms"
queue = { packets = 5 }
[[flow]]
name = "download"
from = "server"
to = "phone"
transport = { protocol = "tcp" }
application = { kind = "transfer", size = "100kB" }
"""


def short(roamsim: Command, folder: Path, *options: str) -> Results:
    """A run of the short transfer, read from its folder."""
    folder.mkdir()
    (folder / "short.toml").write_text(SHORT)
    roamsim("run", folder / "short.toml", "--parquet", folder / "out", *options)
    return open_results(folder / "out")


def test_a_run_that_ends_early_is_shown_until_then(roamsim: Command, tmp_path: Path) -> None:
    results = short(roamsim, tmp_path / "short")
    done_s = results["flows"]["completion_time_s"][0]
    assert done_s < 5
    panels = drawn(results)
    [first, until] = panels[""]["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    # Parts of the run are 60 s / 200 = 0.3 s long; a twentieth more is shown.
    assert first == 0
    assert done_s < until < 1.05 * (done_s + 0.3) + 1e-9
    assert panels[""]["usermeta"]["whole"] == [0.0, 60.0]
    page = report(results).html()
    said = re.search(r"Nothing happens after ([\d.]+)\u00a0(m?s); the button Whole shows the run\.", page)
    assert said is not None
    assert done_s <= float(said[1]) * {"s": 1.0, "ms": 1e-3}[said[2]] <= done_s + 0.3
    # Losses are counted.
    assert panels["Packets lost of download"]["layer"][0]["encoding"]["y"]["axis"]["tickMinStep"] == 1


def test_what_was_recorded_sample_by_sample_has_no_coarse_panel_beside_it(roamsim: Command, tmp_path: Path) -> None:
    plain, recorded = short(roamsim, tmp_path / "plain"), short(roamsim, tmp_path / "traced", "--trace", "cwnd,queue")
    window = "Congestion window of download, kB"
    assert window in drawn(plain)
    assert window not in drawn(recorded)
    assert "Queue delay of pipe, ms" in drawn(recorded)
    figures = page_figures(report(recorded).html())
    assert "samples-cwnd" in figures
    # Packets that wait are counted.
    waiting = figures["samples-queue"]["vconcat"][0]["layer"][0]["encoding"]["y"]
    assert waiting["axis"]["tickMinStep"] == 1


def page_figures(page: str) -> dict[str, Any]:
    """The specifications of a page's figures."""
    charts = re.search(r'id="charts">(.*?)</script>', page, re.DOTALL)
    assert charts is not None
    return json.loads(charts[1])  # type: ignore[no-any-return]


def test_of_many_flows_those_that_delivered_most_have_lines(roamsim: Command, tmp_path: Path) -> None:
    roamsim("run", EXAMPLES / "many-flows.toml", "--set", "node.client-{i}.count=110", "--set", "scenario.duration=3s", "--parquet", "out")  # fmt: skip
    results = open_results(tmp_path / "out")
    rate = next(view for title, view in drawn(results).items() if title.startswith("Rate"))
    lines = rate["layer"][0]["encoding"]["color"]["scale"]["domain"]
    series = results["series"]
    sizes = (
        series.filter(kind="flow").group_by("name").agg(polars.col("delivered_bytes").sum()).sort("delivered_bytes")
    )
    # The ten others, which have no rows of their own, are one line.
    assert "(others)" in lines
    assert set(lines) - {"(others)"} == set(sizes["name"].to_list()[-9:])
    assert series.filter(kind="flows")["delivered_bytes"].sum() == results["flows"]["delivered_bytes"][100:].sum()


def test_a_report_that_cannot_be_written_is_refused_before_the_run(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    assert roamsim("run", scenario, "--report", "nowhere/page.html", code=2).stderr == (
        "roamsim: the folder of 'nowhere/page.html' does not exist\n"
    )
    assert roamsim("run", scenario, "--report", ".", code=2).stderr == (
        "roamsim: '.' is a folder; name a file in it\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == [scenario.name]


def test_a_report_takes_what_was_traced(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--trace", "cwnd", "--report", "page.html")
    assert 'id="samples-cwnd"' in (tmp_path / "page.html").read_text()


def test_the_summary_tells_of_links_and_of_the_air(roamsim: Command) -> None:
    summary = roamsim("run", EXAMPLES / "wifi-contention.toml").stdout
    assert re.search(r"^air +54\.\d % +\S+ % +0 % +\S+ % +\S+ % +\S+ %$", summary, re.MULTILINE)
    links = summary.split("\nLinks")[1].split("\nDrops")[0].splitlines()
    assert len(links) == 1 + 1 + 10 + 1
    assert re.fullmatch(r"backbone +access-point +server +24\.8 % .*", links[2])
    assert links[-1].strip() == "12 more links, with less utilisation"


#: Says of the figures of a page which texts lie on each other or beyond its edges, and which cannot be read on the ground.
LOOK = """
    const box = (node) => node.getBoundingClientRect();
    const light = (colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = light(getComputedStyle(document.body).backgroundColor);
    const contrast = (fill) => { const [a, b] = [light(fill), ground].sort(); return (b + 0.05) / (a + 0.05); };
    const tell = () => {
        if (document.documentElement.dataset.drawn !== "yes") return setTimeout(tell, 100);
        const wrong = [], count = [...document.querySelectorAll("[data-chart]")].reduce((sum, place) => sum + look(place, wrong), 0);
        if (document.documentElement.scrollWidth > window.innerWidth) wrong.push("the page is too wide");
        const first = document.querySelector("[data-chart]"), line = first.querySelector("svg.marks .mark-line, svg.marks .mark-symbol");
        const dark = matchMedia("(prefers-color-scheme: dark)").matches;
        parent.postMessage({frame: window.name, width: innerWidth, dark, texts: count, wrong, top: box(first).top, first: box(line).bottom}, "*");
    };
    const look = (place, wrong) => {
        const texts = [...place.querySelectorAll("svg.marks text")].filter((text) => text.textContent.trim() && getComputedStyle(text).opacity > 0 && box(text).width > 0);
        if (box(place).width > 0 && !place.querySelector("svg.marks, canvas")?.getBoundingClientRect().width) wrong.push("empty: " + place.dataset.chart);
        texts.forEach((a, n) => {
            const one = box(a);
            if (one.left < box(place).left - 1 || one.right > box(place).right + 1) wrong.push(`beyond: ${a.textContent} in ${place.dataset.chart}`);
            if (contrast(getComputedStyle(a).fill) < 4.5) wrong.push("faint: " + a.textContent);
            for (const b of texts.slice(n + 1)) {
                const two = box(b);
                const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
                const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
                if (wide > 1 && high > 3) wrong.push(`overlap: ${a.textContent} | ${b.textContent} in ${place.dataset.chart}`);
            }
        });
        wrong.push(...texts.filter((text) => text.textContent.endsWith("…")).map((text) => `cut: ${text.textContent} in ${place.dataset.chart}`));
        return texts.length;
    };
    dispatchEvent(new Event("beforeprint"));
    tell();
"""


#: A frame of a page: how wide it is, and whether it is dark.
Frame = tuple[int, bool]

#: A wide screen and a telephone, light and dark.
FRAMES: tuple[Frame, ...] = ((1280, False), (1280, True), (390, False), (390, True))


def looked_at(page: Path, tmp_path: Path, frames: Sequence[Frame]) -> dict[Frame, dict[str, Any]]:
    """What a browser says of the figures of a page in frames, all in one window, which could not be so narrow itself."""
    head, tail = page.read_text().rsplit("</body>", 1)
    (tmp_path / "copy.html").write_text(f"{head}<script type='module'>{LOOK}</script></body>{tail}")
    # Beside each other: what is beyond the window a browser may leave undrawn.
    beside = "".join(
        f'<iframe name="{number}" src="copy.html" width="{width}" height="900" '
        f'style="color-scheme: {"dark" if dark else "light"}"></iframe>'
        for number, (width, dark) in enumerate(frames)
    )
    (tmp_path / "frames.html").write_text(
        f"<body><nobr>{beside}</nobr><pre></pre><script>const told = [];"
        "onmessage = ({data}) => { told.push(data); document.querySelector('pre').textContent = JSON.stringify(told); }</script>"
    )
    done = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={sum(width + 20 for width, _ in frames) + 60},1000",
            "--virtual-time-budget=30000", "--dump-dom", (tmp_path / "frames.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert [line for line in done.stderr.splitlines() if ":CONSOLE:" in line] == []
    said = re.search(r"<pre>(\[.*?\])</pre>", done.stdout, re.DOTALL)
    assert said is not None
    told = json.loads(said[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    found = {frames[int(each["frame"])]: each for each in told}
    assert found.keys() == set(frames)
    assert all((each["width"], each["dark"]) == frame for frame, each in found.items())
    return found


#: Chooses the first name of a legend, and says how many lines there are before and after.
SWITCH = """
    const wait = (ms) => new Promise((resume) => setTimeout(resume, ms));
    const lines = () => [...document.querySelectorAll("#course svg.marks .mark-line path")].filter((path) => path.getAttribute("d")).length;
    while (document.documentElement.dataset.drawn !== "yes") await wait(50);
    const before = lines(), label = document.querySelector("#course svg.marks .role-legend-label text");
    label.dispatchEvent(new MouseEvent("click", {bubbles: true}));
    await wait(500);
    const chosen = lines(), drawn = [];
    for (const button of ["Closer", "Wider", "Whole"]) {
        [...document.querySelectorAll("#course .tools button")].find(({textContent}) => textContent === button).click();
        await wait(1000);
        drawn.push(lines());
    }
    document.querySelector("#course").dataset.lines = [label.textContent, before, chosen, ...drawn];
"""


@pytest.mark.needs("chromium")
def test_a_name_in_the_legend_leaves_its_lines_and_those_of_other_legends(roamsim: Command, tmp_path: Path) -> None:
    roamsim("run", EXAMPLES / "wifi-contention.toml", "--report", "page.html")
    head, tail = (tmp_path / "page.html").read_text().rsplit("</body>", 1)
    (tmp_path / "copy.html").write_text(f"{head}<script type='module'>{SWITCH}</script></body>{tail}")
    dom, console = open_in_browser(tmp_path / "copy.html", tmp_path)
    assert console == []
    # Rates and windows of ten flows and queue delays of five links; then those of one flow, and of the links. They stay
    # so when less or more of the time is drawn, until all is asked for.
    assert 'data-lines="upload-0,25,7,7,7,25"' in dom


#: What is recorded of an example beside what every run has.
RECORDED = {
    "one-tcp-flow": "cwnd,rtt,queue,segments",
    "mobile-ip": "segments",
    "dect-access": "occupancy,dlc_queue",
    "wifi-edca": "queue",
    "wifi-contention": "cwnd",
}


@pytest.fixture(
    scope="module",
    params=["one-tcp-flow", "mobile-ip", "dect-access", "wifi-contention", "wifi-edca", "wimax-walk", "mih-handover"],
)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run of an example."""
    target: Path = tmp_path_factory.mktemp("page") / "page.html"
    recorded = ["--trace", RECORDED[request.param]] if request.param in RECORDED else []
    done = run_command("run", EXAMPLES / f"{request.param}.toml", *recorded, "--report", target, cwd=target.parent)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def seen(page: Path) -> dict[Frame, dict[str, Any]]:
    """What a browser says of it."""
    return looked_at(page, page.parent, FRAMES)


@pytest.mark.needs("chromium")
@pytest.mark.parametrize(("width", "dark"), FRAMES)
def test_nothing_of_a_figure_is_cut_or_hidden(seen: dict[Frame, dict[str, Any]], width: int, dark: bool) -> None:
    told = seen[width, dark]
    assert told["wrong"] == []
    assert told["texts"] > 10
    # On a wide screen the first panel is on the first screen; on a telephone it begins there.
    assert (told["first"] if width == 1280 else told["top"]) < 800


@pytest.mark.needs("chromium")
def test_names_with_markup_stay_text(roamsim: Command, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=document.title='broken'>`x`^2"
    text = (EXAMPLES / "both-ways.toml").read_text()
    names = re.findall(r'^name = "([^"]*)"', text, re.MULTILINE)
    for name in names:
        text = text.replace(f'"{name}"', json.dumps(f"{name} {hostile}"))
    (tmp_path / "hostile.toml").write_text(text)
    roamsim("run", "hostile.toml", "--report", "page.html")
    page = (tmp_path / "page.html").read_text()
    elements = Elements(page)
    assert "img" not in elements.tags
    assert elements.handlers == []
    # In the sentences as text, and in the data of the picture.
    assert str(escape(hostile)) in page
    assert hostile.replace("<", "\\u003c") in page
    [told] = looked_at(tmp_path / "page.html", tmp_path, [(1280, False)]).values()
    assert [wrong for wrong in told["wrong"] if not wrong.startswith(("cut", "overlap"))] == []


def test_lines_are_called_by_what_tells_them_apart() -> None:
    ways = [("air", "ap", "a"), ("air", "ap", "b"), ("air", "b", "ap")]
    waits = polars.DataFrame(
        [
            {
                "begin_s": 0.0, "end_s": 1.0, "kind": "link", "name": name, "from": sender, "to": receiver,
                "delivered_bytes": None, "lost_packets": 0, "queue_delay_s": delay, "cwnd_bytes": None,
            }
            for (name, sender, receiver), delay in zip(ways, (0.1, 0.2, 1e-5), strict=True)
        ],
        schema_overrides={"delivered_bytes": polars.Float64, "cwnd_bytes": polars.Float64},
    )  # fmt: skip
    [panel] = course.panels(waits, {})
    # What never waits as long as anybody notices has no line.
    assert (panel.title, panel.unit, panel.lines) == ("Queue delay of air", "ms", ["ap → a", "ap → b"])
    assert panel.frame["value"].to_list() == [100.0, 200.0]
