"""What a reader of means is told: messages that never came, connections that failed, replications that are alike."""

import json
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import ROOT, Command
from one_link import one_link
from roamsim.errors import UsageError
from roamsim.estimates.curves import curves
from roamsim.storing.store import Manifest, PointEntry, Results
from roamsim.tables import caveats
from roamsim.tables.metrics import Target, numeric

TCP = 'protocol = "tcp", mss = "1000B"'
SCTP = 'protocol = "sctp"'
DEAD = 'outages = [{ start = "5s", duration = "4995s" }]'
BULK = 'kind = "bulk"'
ASKING = 'kind = "request_response", request_size = "100B", response_size = "100B", think_time = "100ms"'

#: One question and its answer in the first second; the next question would come after the end.
IDLE = ASKING.replace("100ms", "1000s")
KEEP_ALIVE = 'keep_alive = true, keep_alive_time = "10s", keep_alive_interval = "2s", keep_alive_probes = 3'


def scenario(application: str, transport: str = TCP, link: str = "", duration: str = "60s") -> str:
    return one_link(
        f'name = "path"\nrate = "1Mb/s"\ndelay = "50ms"\nqueue = {{ packets = 100 }}\n{link}',
        f'name = "f"\ntransport = {{ {transport} }}\napplication = {{ {application} }}',
        duration=duration,
        ip="ipv4",
    )


def lossy(share: float) -> str:
    return f'loss = {{ from = "a", model = "bernoulli", probability = {share} }}'


def rows(**columns: list[float]) -> polars.DataFrame:
    return polars.DataFrame(columns)


def test_a_mean_over_what_arrived_is_without_a_share_of_the_messages() -> None:
    metric = numeric("flows", "mean_delay_s")
    # 90 of 100 and 80 of 100 arrived: 30 of 200 did not.
    found = rows(delivered_packets=[90, 80], sent_packets=[100, 100], lost_packets=[10, 20])
    assert caveats.missing(metric, found) == pytest.approx(0.15)
    # Nothing was lost; one of 200 is on its way at the end. Of a queue that grows, many are.
    assert caveats.missing(metric, rows(delivered_packets=[199], sent_packets=[200], lost_packets=[0])) == 0
    waiting = rows(delivered_packets=[100], sent_packets=[200], lost_packets=[0])
    assert caveats.missing(metric, waiting) == 0.5
    assert caveats.missing(numeric("flows", "goodput_bps"), found) == 0
    assert [caveats.percent(share) for share in (0.15, 0.00031, 0.9996, 1.0)] == [
        "15 %",
        "0.031 %",
        "99.96 %",
        "100 %",
    ]


def test_connections_are_told_by_how_they_ended() -> None:
    assert caveats.connections(["completed", "completed"]) == "completed"
    assert caveats.connections(["completed", "timed out", "completed"]) == "2 completed, 1 timed out"
    assert caveats.connections(["", ""]) == ""
    assert caveats.failed(["completed", "still open", "stopped"]) == ""
    assert caveats.failed(["completed", "timed out", "reset"]) == "2 of 3 (1 timed out, 1 reset)"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (scenario(BULK), "still open"),
        (scenario('kind = "bulk", stop = "10s"'), "stopped"),
        (scenario('kind = "transfer", size = "100kB"'), "completed"),
        (scenario('kind = "transfer", size = "100kB"', SCTP), "completed"),
        (scenario(BULK, SCTP), "still open"),
        (scenario(f"{BULK} }}\nreader = {{ stop = '10s'"), "reset"),
        # Nothing passes from 5 s on: the senders give up long before 5000 s.
        (scenario(BULK, f"{TCP}, max_retransmissions = 5", DEAD, "5000s"), "timed out"),
        (scenario(BULK, SCTP, DEAD, "5000s"), "timed out"),
        (scenario(BULK, f"{TCP}, user_timeout = '30s'", DEAD), "user timeout"),
        (scenario(IDLE, f"{TCP}, {KEEP_ALIVE}", DEAD), "keep-alive unanswered"),
        (scenario(IDLE, f"{TCP}, {KEEP_ALIVE}"), "still open"),
        (scenario(BULK, link='outages = [{ start = "0s", duration = "60s" }]'), "never established"),
        (scenario(BULK, SCTP, 'outages = [{ start = "0s", duration = "60s" }]'), "never established"),
        (scenario('kind = "cbr", packet_size = "100B", interval = "1s"', 'protocol = "udp"'), ""),
    ],
)
def test_a_row_says_how_its_connection_ended(text: str, end: str) -> None:
    assert package.run(text).flows["connection"].to_list() == [end]


def test_goodput_of_a_finished_transfer_is_by_its_completion() -> None:
    (row,) = package.run(scenario('kind = "transfer", size = "100kB"')).flows.to_dicts()
    assert row["goodput_bps"] == pytest.approx(8 * 100_000 / row["completion_time_s"])
    # At 1 Mb/s 100 segments of 1040 octets take 0.83 s, and the window opens over a few round trips of 0.1 s.
    assert 0.9 < row["completion_time_s"] < 2
    (row,) = package.run(scenario('kind = "transfer", size = "100MB"')).flows.to_dicts()
    assert row["goodput_bps"] == pytest.approx(8 * row["delivered_bytes"] / 60)


def test_a_censored_mean_is_marked_in_the_summary_and_by_compare(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(scenario(ASKING, 'protocol = "udp"', lossy(0.2)))
    said = roamsim("run", "s.toml").stdout
    assert "% missing]" in said
    assert "[missing]: share of messages" in said
    assert "had not arrived at the end" in said
    vary = ["--vary", "link.path.loss.probability=0.05,0.2", "--replications", "3"]
    answer = json.loads(roamsim("compare", "s.toml", *vary, "--metric", "flows.mean_delay_s", "--json").stdout)
    low, high = (mean["missing"] for mean in answer["means"])
    # A request that is lost is given up: about 5 and 20 %.
    assert 0.02 < low < 0.1 < high < 0.3
    (sentence,) = answer["sentences"]
    assert "only messages that arrived" in sentence
    assert f"{caveats.percent(high)} with loss probability 0.2" in sentence


def test_a_setting_that_has_no_effect_beside_another_is_said(roamsim: Command) -> None:
    def told(kind: str, validity: str) -> str:
        changes = {
            "scenario.duration": "10s",
            "signalling.indications.stop": "9s",
            "signalling.indications.kind": kind,
        }
        changes["signalling.indications.acknowledgement.validity"] = validity
        sets = [word for path, value in changes.items() for word in ("--set", f"{path}={value}")]
        return roamsim("run", ROOT / "examples" / "mih-indications.toml", *sets).stdout

    said = 'indications: acknowledgement.validity = "strict" has no effect'
    assert said in " ".join(told("indication", "strict").split())
    assert "has no effect" not in told("indication", "acked")
    assert "has no effect" not in told("request", "strict")


def test_replications_without_randomness_are_said_to_be_identical(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        scenario('kind = "cbr", packet_size = "100B", interval = "1s"', 'protocol = "udp"')
    )
    identical = "All replications are identical"
    assert identical in roamsim("run", "s.toml", "--replications", "3", "--parquet", "one").stdout
    assert identical not in roamsim("run", "s.toml").stdout
    vary = ["--vary", "link.path.delay=10ms,20ms", "--out"]
    assert identical in roamsim("sweep", "s.toml", "--precision", "flows.mean_delay_s=1%", *vary, "two").stderr
    roamsim("plot", "two", "--what", "flows.mean_delay_s", "--out", "p.svg")
    assert identical in (tmp_path / "p.svg").read_text()
    roamsim("report", "two")
    assert identical in (tmp_path / "two" / "report.html").read_text()
    assert identical in roamsim("compare", "s.toml", "--replications", "2", *vary, "three").stdout
    (tmp_path / "s.toml").write_text(scenario(BULK, link=lossy(0.01)))
    assert identical not in roamsim("run", "s.toml", "--replications", "2").stdout


def test_an_answer_shows_numbers_as_they_are(roamsim: Command, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(scenario(BULK))
    roamsim("run", "s.toml", "--parquet", "one")
    said = roamsim("query", "one", "select 1234567.891 as x, 1234567 as n, 0.1 + 0.2::double as y").stdout
    assert "1234567.891" in said
    assert " 1234567 " in said


def test_what_tells_rows_apart_makes_series() -> None:
    frame = polars.DataFrame(
        {
            "point": [0, 0, 1, 1],
            "replication": [0] * 4,
            "name": ["air"] * 4,
            "type": ["P32", "User"] * 2,
            "mean_bearers": [8.0, 5.0, 9.0, 4.0],
            "p": [1.0, 1.0, 2.0, 2.0],
        }
    )
    entries = [PointEntry({"p": v}, {"p": float(v)}, v, 1) for v in ("1", "2")]
    manifest = Manifest("sweep", "s", "", {}, "0", 1, [], vary={"p": ["1", "2"]}, points=entries)
    results = Results(Path(), manifest, {"dect_terminals": frame, "messages": frame})
    drawn = curves(results, Target.parse("dect_terminals.mean_bearers")).frame
    assert drawn.filter(row="air User").select("x", "mean").rows() == [(1.0, 5.0), (2.0, 4.0)]
    assert drawn["row"].n_unique() == 2
    # Beside a second path that was varied, too.
    twice = [frame.with_columns(q=polars.lit("a")), frame.with_columns(polars.col("point") + 2, q=polars.lit("b"))]
    entries = [PointEntry({"p": p, "q": q}, {"p": float(p), "q": q}, p + q, 1) for q in "ab" for p in ("1", "2")]
    manifest = Manifest("sweep", "s", "", {}, "0", 1, [], vary={"p": ["1", "2"], "q": ["a", "b"]}, points=entries)
    two = Results(Path(), manifest, {"dect_terminals": polars.concat(twice)})
    both = curves(two, Target.parse("dect_terminals.mean_bearers"))
    assert (both.rows, both.groups, both.in_panels) == (["air P32", "air User"], ["a", "b"], True)
    with pytest.raises(UsageError, match="many values a run"):
        curves(results, Target.parse("messages.delay_s"))


def test_handovers_that_never_began_and_nodes_that_never_registered_are_told_with_their_reason() -> None:
    tables = {
        "mih_users": polars.DataFrame(
            {
                "name": ["walk", "walk", "ride", "ride"],
                "node": ["w", "w", "r", "r"],
                "role": ["mobile node"] * 4,
                "replication": [0, 1, 0, 1],
            },
        ),
        "signals": polars.DataFrame({"node": ["r"] * 2, "link": ["a"] * 2, "event": ["link_detected", "link_up"]}),
        "mih_handovers": polars.DataFrame({"name": ["walk", "walk", "ride"], "replication": [0, 0, 1]}),
        "mobile_ip": polars.DataFrame(
            {
                "node": ["agent", "still", "lost", "unheard", "home", "abroad"],
                "role": ["home agent", *["mobile node"] * 5],
                "advertisements": [9, 0, 5, 5, 5, 5],
                "requests": [0, 0, 3, 3, 0, 1],
                "refused": [0, 0, 0, 2, 0, 0],
                "accepted": [0, 0, 0, 0, 0, 1],
            }
        ),
    }
    found = caveats.failures(tables)
    assert found["mih_handovers"] == (
        "Handovers that never began: walk in 1 of 2 runs, ride in 1 of 2 runs. No link event that begins one came to its "
        "station (r heard a alone); record link_events to see those that did."
    )
    assert found["mobile_ip"] == (
        "Mobile nodes that never registered: still (it heard no agent), lost (no reply came), "
        "unheard (every reply was a refusal), home (it never heard a foreign agent that it should register with)."
    )


def test_the_summary_and_the_report_tell_of_a_handover_that_never_began(roamsim: Command, tmp_path: Path) -> None:
    stays = ["--set", "node.terminal.motion.to.x=26m"]
    said = roamsim("run", ROOT / "examples" / "mih-handover.toml", *stays, "--report", tmp_path / "r.html").stdout
    assert "Handovers that never began: walk." in said
    assert "came to its station (terminal stayed in reach of small and large); record" in said
    assert "Handovers that never began: walk." in (tmp_path / "r.html").read_text()
    assert "never began" not in roamsim("run", ROOT / "examples" / "mih-handover.toml").stdout


def test_stations_that_never_changed_their_cell_are_told_with_their_reason(roamsim: Command) -> None:
    tables = {
        "signals": polars.DataFrame(
            {
                "node": ["s", "s", "s", "t"],
                "link": ["west", "east", "east", "west"],
                "event": ["link_up", "link_detected", "link_lost", "link_up"],
            }
        ),
    }
    assert caveats.failures(tables) == {"handovers": "Stations without a handover: s (heard west and east)."}
    assert not caveats.failures(tables | {"handovers": polars.DataFrame({"node": ["s"]})})
    # Where the cells overlap and the first is the nearer, mobile SCTP stays with it.
    stays = ["--set", "node.terminal.position.x=135m", "--set", "node.terminal.motion.to.x=145m"]
    said = roamsim("run", ROOT / "examples" / "mobile-sctp.toml", *stays).stdout
    assert "Stations without a handover: terminal (heard west cell and east cell)." in said
    assert "without a handover" not in roamsim("run", ROOT / "examples" / "mobile-sctp.toml").stdout
