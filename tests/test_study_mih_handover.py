"""The definition of the study `mih-handover`, the law that it is held against, and single runs of its scenarios."""

import math
import statistics
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import roamsim
from roamsim import study
from roamsim.statistics import mean
from roamsim.study import Data
from roamsim.study.definition import points
from roamsim.study.judging import Finding
from roamsim.study.sequences import picture
from roamsim.theory import mih_handover
from roamsim.theory.mih_handover import Exchange
from roamsim.theory.mih_udp import Timing

FOLDER = study.available()["mih-handover"]
TRANSPORTS = ("UDP 0.1 s", "UDP 0.3 s", "TCP 0.2 s", "TCP 0.5 s", "TCP 1 s")


@pytest.fixture(scope="module")
def loaded() -> study.Study:
    return study.load("mih-handover")


def run(loaded: study.Study, *, seed: int = 1, replications: int = 1, **chosen: Any) -> list[dict[str, Any]]:
    """The measured rows of the walk with labels of the study's dimensions."""
    settings: dict[str, Any] = {}
    for dimension, label in {"start": "mobile", "transport": "UDP 0.1 s", "loss": 0, **chosen}.items():
        settings |= getattr(loaded.code, dimension)(label, chosen)
    result = roamsim.run(FOLDER / "scenarios/walk.toml", set=settings, seed=seed, replications=replications)
    rows = []
    for replication in range(replications):
        tables = {
            name: table.filter(table["replication"] == replication).to_dict(as_series=False)
            for name, table in result.tables.items()
            if name in ("mih_handovers", "mih_users", "flows")
        }
        rows.append({name: values[0] for name, values in loaded.code.handover(tables).items()})
    return rows


def test_each_case_is_run_over_each_transport_at_each_loss(loaded: study.Study) -> None:
    labels = [point.labels for point in points(loaded, loaded.experiment("handovers"), "full")]
    assert len(labels) == 3 * 5 * 11
    assert {label["transport"] for label in labels} == set(TRANSPORTS)
    assert {label["loss"] for label in labels} == set(range(0, 51, 5))
    assert loaded.experiment("handovers").full.replications == 200


def test_everything_is_named_in_the_coverage(loaded: study.Study) -> None:
    assert loaded.not_covered() == []


def test_the_link_goes_down_nine_seconds_before_the_edge(loaded: study.Study) -> None:
    # 1.5 times the power of 50 m is there at 50 / sqrt(1.5) = 40.825 m, after 15.825 s: told by the next beacon.
    for seed in range(1, 6):
        (row,) = run(loaded, seed=seed)
        assert 15.825 <= row["going_down_s"] <= 15.928


#: Of packets over 802.11 (us, clause 18): 192 + 8 (L + 36) / 11, rounded up. A message of 248 octets 399 (2272 / 11 = 206.5),
#: an acknowledgement of 69 (header 8, "mn" 5, "pos-1" 8, UDP and IPv6 48) 269 (840 / 11 = 76.4).
MESSAGE_US, ACK_US = 399, 269
#: Two wires of 10 ms, 248 octets 19.84 us each; 69 octets 5.52.
TO_POS_S = 1e-6 * MESSAGE_US + 0.02 + 2 * 19.84e-6


def test_steps_without_loss_take_what_their_messages_take(loaded: study.Study) -> None:
    result = roamsim.run(FOLDER / "scenarios/walk.toml")
    tables = {name: result.tables[name].to_dict(as_series=False) for name in ("mih_handovers", "mih_users", "flows")}
    row = {name: values[0] for name, values in loaded.code.handover(tables).items()}
    assert row["succeeded"] == 1 and row["lost_packets"] == 0
    assert row["scan_s"] == pytest.approx(0.6, abs=1e-9)
    # Without MIH ACK. To PoS1, 0.2 s, to PoS2, 0.2 s, and back: 2 x 20.439 + 400 + 40.079 ms. The MN's frame waits for the end of
    # another: SIFS, an acknowledgement of the radio's, DIFS and a back-off: 10 + 248 + 50 + 0 to 31 x 20 us.
    exchange_s = 2 * TO_POS_S + 0.4 + 0.04 + 4 * 19.84e-6
    assert exchange_s == pytest.approx(0.480957, abs=1e-6)
    for step in ("availability_s", "request_s"):
        assert exchange_s <= row[step] <= exchange_s + 928e-6
    # 40 ms of wires, and 802.16: up to a frame of 4 ms down, request and grant up.
    assert 0.04 < row["redirect_s"] < 0.06


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_failed_handover_waits_for_the_third_missed_beacon(loaded: study.Study, transport: str) -> None:
    rows = run(loaded, transport=transport, loss=100, replications=4)
    for row in rows:
        assert row["failed"] == 1
        assert 9.38 <= row["failure_s"] <= 9.53
        assert row["given_up"] == int(transport.startswith("UDP"))


def test_success_over_udp_is_that_of_the_chain(loaded: study.Study) -> None:
    # p = 0.3, 0.1 s, acked: every response is too late for `strict` (J < 0), so it counts if the request was acknowledged in time.
    # f = 0.51; a(0) = 1 - 0.3 f^2 = 0.92197, a(1) = 1 - 0.3 f = 0.847, a(2) = 0.7;
    # (1-p)^2 (a(0) + 0.3 a(1) + 0.09 a(2)) (1 + 0.3 + 0.09) = 0.49 x 1.23907 x 1.39 = 0.84393; two of them 0.71222.
    exact = 0.71222
    assert loaded.code.law("mobile", "UDP 0.1 s", 30).success == pytest.approx(exact, abs=1e-4)
    rows = run(loaded, loss=30, replications=120)
    succeeded = sum(row["succeeded"] for row in rows)
    error = math.sqrt(exact * (1 - exact) / 120)
    assert abs(succeeded / 120 - exact) < 3 * error


def test_a_chain_of_one_way_messages_and_requests() -> None:
    timing = Timing(rtt_s=0.04, timeout_s=0.1)
    one = mih_handover.chain(0.2, [Exchange("indication", timing)])
    # 1 - p^3; R/2 + T (p + 2 p^2) / (1 + p + p^2) = 0.02 + 0.1 x 0.28 / 1.24.
    assert one.success == pytest.approx(0.992)
    assert one.delay_s == pytest.approx(0.042581, abs=1e-6)
    three = mih_handover.chain(0.2, [Exchange("indication", timing), *[Exchange("request", timing)] * 2], "open")
    assert three.success == pytest.approx(0.992**5)
    with_remote = mih_handover.exchanges(
        "network",
        "remote",
        timeout_s=0.1,
        round_trip_s=0.04,
        processing_s=(0.2, 0.2, 0.2),
        between_s=0.04,
        scan_s=0.6,
    )
    assert [one.kind for one in with_remote] == ["indication", "request", "indication"]
    assert with_remote[1].timing.processing_s == pytest.approx(0.8)


def test_a_walk_is_in_time_by_the_phase_of_its_beacons() -> None:
    one_way = [Exchange("indication", Timing(rtt_s=0.04, timeout_s=0.1))]

    def in_time(loss: float, left_s: float) -> float:
        return mih_handover.in_time(loss, one_way, without_loss_s=1.5, left_s=left_s, beacons_s=0.1)

    # The beacon comes up to 0.1 s late: of 0.07 s to spare seven phases in ten are early enough.
    assert in_time(0, 1.57) == pytest.approx(0.7)
    assert in_time(0, 1.5) == 0
    assert in_time(0, 1.6) == pytest.approx(1)
    # The first copy comes with 0.8 and has 0.15 s, the second with 0.16 and 0.05 s, the third with 0.032 none.
    assert in_time(0.2, 1.65) == pytest.approx(0.8 + 0.16 / 2)
    assert in_time(0.2, 9) == pytest.approx(0.992)


@pytest.mark.parametrize(("mps", "of_edge"), [(5.5, 1.5), (5.73, 1.5), (6, 1.5), (9.15, 2)])
def test_walks_are_in_time_as_their_beacons_let_them(loaded: study.Study, mps: float, of_edge: float) -> None:
    # From where 1.5 (2) times the power of 50 m arrives, 9.175 m (14.645 m) are left. The signalling takes the scan and two
    # requests, 1.5619 s, and up to 4 ms for frames that wait for others: such runs may go either way.
    left_s = 50 * (1 - 1 / math.sqrt(of_edge)) / mps
    needed_s, waits_s = 0.6 + 2 * 0.480957, 0.004
    begins_m = float(loaded.code.speed(mps, {})["node.mn.position.x"].removesuffix("m"))
    rows = run(loaded, speed=mps, factor=of_edge, transport="TCP 0.2 s", replications=60)
    for row in rows:
        late_s = row["going_down_s"] - (50 / math.sqrt(of_edge) - begins_m) / mps
        assert -1e-6 < late_s < 0.1 + 1e-3
        if not needed_s < left_s - late_s < needed_s + waits_s:
            assert row["succeeded"] == int(left_s - late_s >= needed_s)
    exact = mih_handover.in_time(0, [], without_loss_s=needed_s, left_s=left_s, beacons_s=0.1)
    error = math.sqrt(exact * (1 - exact) / len(rows))
    share = sum(row["succeeded"] for row in rows) / len(rows)
    assert abs(share - exact) <= 3 * error + waits_s / 0.1


def test_entry_after_the_commitment_takes_what_is_left_of_it(loaded: study.Study) -> None:
    before, after = (run(loaded, entering=name, replications=20) for name in ("before", "after the commitment"))
    assert all(row["succeeded"] == 1 and row["lost_packets"] == 0 for row in (*before, *after))
    # Descriptors have been heard: the next ranging opportunity, up to 20 ms away, and seven frames of 4 ms; the redirection begins
    # with the frame behind that at the latest.
    later_s = [late["success_s"] - early["success_s"] for early, late in zip(before, after, strict=True)]
    assert min(later_s) > 0.028 - 0.004
    assert max(later_s) < 0.02 + 0.032 + 0.004 + 0.01


def test_link_down_comes_after_the_beacons_that_are_left() -> None:
    # From 15.825 to 25 s 91 or 92 beacons, 91.75 in the mean: the last one 90.75 periods after the first; 3.5 until Link_Down.
    assert mih_handover.link_down_after_s(0.1, 3, (15.825, 25.0)) == pytest.approx(9.425)


def test_packets_lost_by_hand() -> None:
    # 20 % of the 2 a second in 2 s, with probability 0.75; else 20 % of those in 9 s and all in 0.4 s.
    lost = mih_handover.lost_packets(0.2, 0.5, 0.75, 2.0, 9.4, 9.0)
    assert lost == pytest.approx((0.75 * 0.4 + 0.25 * (1.8 + 0.4)) / 0.5)


def test_other_walks_begin_where_no_factor_matters(loaded: study.Study) -> None:
    for mps in (0.5, 1, 4, 30):
        settings = loaded.code.speed(mps, {})
        start_m = float(settings["node.mn.position.x"].removesuffix("m"))
        # Twice the power of the edge is there at 35.36 m.
        assert abs(start_m) < 35
        assert float(settings["scenario.duration"].removesuffix("s")) > (50 - start_m) / mps + 1


def test_a_handover_over_sctp_goes_on_as_over_tcp(loaded: study.Study) -> None:
    rows = run(loaded, transport="SCTP 0.2 s", loss=30, replications=20)
    assert sum(row["succeeded"] for row in rows) >= 19
    assert all(row["given_up"] == 0 for row in rows)


def test_steps_add_up_to_the_delay(loaded: study.Study) -> None:
    for start in loaded.code.STARTS:
        for row in run(loaded, start=start, transport="TCP 0.5 s", loss=20, replications=3):
            steps = ("notice_s", "scan_s", "availability_s", "request_s", "redirect_s")
            assert math.fsum(row[step] for step in steps) == pytest.approx(row["success_s"], abs=1e-9)


def test_loss_of_attempts_leaves_little_to_lose(loaded: study.Study) -> None:
    chosen = loaded.code.loss_of_attempts(50, {})
    result = roamsim.run(
        FOLDER / "scenarios/walk.toml", set={**loaded.code.transport("UDP 0.1 s", {}), **chosen}, replications=5
    )
    assert set(result.tables["mih_handovers"]["outcome"]) == {"committed"}


def test_entry_waits_for_descriptors_that_are_not_known(loaded: study.Study) -> None:
    def entry_s(known: bool, phase: int) -> float:
        settings = {**loaded.code.phase(phase, {}), "wimax.wimax.entry.known_descriptors": known}
        result = roamsim.run(FOLDER / "scenarios/entry.toml", set=settings, trace=["link_events"])
        (found,) = loaded.code.network_entry({"link_events": result.tables["link_events"].to_dict(as_series=False)})[
            "entry_s"
        ]
        return float(found)

    # From the first ranging opportunity on seven frames; up to 20 ms to that.
    assert all(0.024 < entry_s(True, phase) < 0.2 for phase in (0, 25))
    unknown = [entry_s(False, phase) for phase in (0, 12, 25, 37)]
    assert max(unknown) - min(unknown) > 2
    assert statistics.fmean(unknown) == pytest.approx(2.5, abs=1)


# Verdicts on rows that are made up


class MadeUp(Data):
    """Rows of `handovers` or `edge` whose values are a function of their labels, in four replications."""

    def __init__(self, values: Callable[[dict[str, Any]], dict[str, Any]], experiment: str = "handovers") -> None:
        self._read: set[str] = set()
        self._places: dict[str, str] = {}
        labels = {
            "start": ["mobile", "network, local", "network, remote"],
            "transport": list(TRANSPORTS),
            "loss": [0, 10, 20, 30, 40, 50],
        }
        at = [
            {"start": start, "transport": transport, "loss": loss, "replication": replication}
            for start in labels["start"]
            for transport in labels["transport"]
            for loss in labels["loss"]
            for replication in range(4)
        ]
        self._rows = {(experiment, "made up"): [{**row, **values(row)} for row in at]}
        self._tables, self._labels = {experiment: "made up"}, {experiment: labels}


#: Of each replication; all of its rows have it.
COMMON_S = (0.0, 0.03, 0.05, 0.08)


@pytest.fixture
def rules(loaded: study.Study) -> ModuleType:
    return sys.modules[loaded.measurement("time_left").__module__]


def common(row: dict[str, Any]) -> float:
    return COMMON_S[row["replication"]]


def interval(finding: Finding) -> tuple[float, float]:
    assert finding.interval
    return finding.interval


def test_rows_of_a_replication_are_one_sample(rules: ModuleType) -> None:
    left, failed = mean([9.09 + one for one in COMMON_S]), mean([9.44 + one for one in COMMON_S])
    assert left.half_width > 0.05
    data = MadeUp(lambda row: {"going_down_s": 25 - 9.09 - common(row), "failure_s": 9.44 + common(row)})
    found = rules.time_left(data)
    assert interval(found) == (pytest.approx(left.low), pytest.approx(left.high))
    found = rules.failed_delay(data)
    assert interval(found) == (pytest.approx(failed.low), pytest.approx(failed.high))
    # 9.48 +- 0.054 reaches beyond 9.45: as if the 360 rows were samples it would not.
    assert found.verdict == "not decidable"


def test_failed_handovers_are_averaged_with_replications_as_samples(rules: ModuleType) -> None:
    # The first replication has failures at 50 % alone; means of replications would not be the mean of failures.
    def failure_s(row: dict[str, Any]) -> float:
        return 9.5 + common(row) if row["replication"] or row["loss"] == 50 else math.nan

    found = rules.failed_delay(MadeUp(lambda row: {"failure_s": failure_s(row)})).decided_by
    # 15 of the first, 90 of each other one.
    assert found.mean == pytest.approx(9.5 + (15 * 0.0 + 90 * (0.03 + 0.05 + 0.08)) / 285)


def test_a_step_over_the_losses_has_the_spread_of_replications(rules: ModuleType) -> None:
    steps = mean([0.1 + one for one in COMMON_S])
    data = MadeUp(
        lambda row: {"request_s": 1.1 + common(row) + row["loss"] / 100, "availability_s": 1 + row["loss"] / 100}
    )
    found = rules.request_longer_than_check(data)
    assert interval(found) == (pytest.approx(steps.low), pytest.approx(steps.high))


@pytest.mark.parametrize("missing", [False, True])
def test_transports_are_compared_within_replications(rules: ModuleType, missing: bool) -> None:
    # Replications differ by 100 times what the transports do.
    def success_s(row: dict[str, Any]) -> float:
        if missing and row["transport"] == "UDP 0.1 s" and row["loss"] == 50 and row["replication"] == 1:
            return math.nan
        spread = 100 * common(row) * (row["loss"] < 50 or not missing)
        return 1 + spread + 0.03 * row["transport"].startswith("TCP")

    found = rules.pair_of_successes(MadeUp(lambda row: {"success_s": success_s(row)}), "UDP 0.1 s", "TCP 0.2 s")
    assert found.verdict == "agrees"
    assert interval(found) == (pytest.approx(0.03), pytest.approx(0.03))
    by_start = {"mobile": 0.5, "network, local": 0.4, "network, remote": 0.6}
    shorter = rules.case_2_shorter(MadeUp(lambda row: {"success_s": 100 * common(row) + by_start[row["start"]]}))
    assert (shorter.verdict, shorter.rests_on) == ("agrees", ("a start by the network, local alone",))


def test_a_loss_without_successes_decides_nothing(rules: ModuleType) -> None:
    # Both take the same, but over UDP the longest ones are missing: the mean of the other losses would be shorter.
    def success_s(row: dict[str, Any]) -> float:
        missing = row["loss"] == 50 and row["transport"] == "UDP 0.1 s"
        return math.nan if missing else 1 + common(row) + row["loss"]

    data = MadeUp(lambda row: {"success_s": success_s(row)})
    assert rules.pair_of_successes(data, "UDP 0.1 s", "TCP 0.2 s").verdict == "not decidable"


def test_shares_are_compared_within_replications(rules: ModuleType) -> None:
    # In two replications handovers fail at all losses from 10 % on with 0.1 s, in one of them with 0.3 s as well; over TCP in none.
    def failed(row: dict[str, Any]) -> int:
        of = {"UDP 0.1 s": (0, 1), "UDP 0.3 s": (1,)}.get(row["transport"], ())
        return int(row["loss"] > 0 and row["replication"] in of)

    counts = {"handovers": 1, "out_of_time": 0}
    data = MadeUp(lambda row: {**counts, "failed": failed(row), "given_up": failed(row)})
    # 5 losses in 2 of 4 replications, less those in 1: as 20 pairs 0.25 +- 0.21, which would agree.
    apart = rules.given_up_over_udp(data).values[-1]
    assert apart.mean == pytest.approx(0.25)
    assert apart.low < 0 < apart.high
    # None beside none is no certainty that there is no difference.
    assert rules.out_of_time_over_tcp(data).verdict == "not decidable"


def test_redirections_are_compared_within_replications(rules: ModuleType) -> None:
    # Replications lie 80 ms apart, far beyond the frame of 4 ms that is allowed between losses.
    data = MadeUp(lambda row: {"redirect_s": 0.05 + common(row) + 1e-5 * row["loss"]})
    assert rules.redirection_stays(data).verdict == "agrees"
    assert rules.redirection_stays(MadeUp(lambda row: {"redirect_s": 0.05 + 1e-4 * row["loss"]})).verdict == "differs"


def test_losses_behind_the_edge_have_the_spread_of_replications(rules: ModuleType) -> None:
    # 100 packets of 10 ms in a second, and up to 8 more.
    shares = mean([1 + one for one in COMMON_S])
    rows = {"failed": 1, "redirected_s": 26.0}
    data = MadeUp(lambda row: {**rows, "lost_packets": round(100 * (1 + common(row)))}, "edge")
    # Two packets of 0.5 s in the same second.
    published = MadeUp(lambda _row: {**rows, "lost_packets": 2}, "edge-published")
    data._rows |= published._rows
    data._tables |= published._tables
    data._labels |= published._labels
    found = rules.all_lost_behind_the_edge(data)
    assert interval(found) == (pytest.approx(shares.low), pytest.approx(shares.high))
    assert found.verdict == "not decidable"


def test_losses_of_the_published_stream_count_as_well(rules: ModuleType) -> None:
    rows = {"failed": 1, "redirected_s": 26.0}
    data = MadeUp(lambda _row: {**rows, "lost_packets": 100}, "edge")
    for lost, verdict in ((2, "agrees"), (1, "differs")):
        published = MadeUp(lambda _row, lost=lost: {**rows, "lost_packets": lost}, "edge-published")
        data._rows |= published._rows
        data._tables |= published._tables
        data._labels |= published._labels
        assert rules.all_lost_behind_the_edge(data).verdict == verdict


def test_packets_lost_are_held_against_the_loss_of_frames(rules: ModuleType) -> None:
    # A success of 2 s has 4 packets of the stream; failed handovers lose more, and do not count.
    def lost(share: float) -> Finding:
        def values(row: dict[str, Any]) -> dict[str, Any]:
            succeeded = row["loss"] < 50
            packets = 4 * share * row["loss"] / 100 * (1 + common(row)) if succeeded else 20
            return {"succeeded": int(succeeded), "success_s": 2 if succeeded else math.nan, "lost_packets": packets}

        return rules.lost_as_the_frame_loss_says(MadeUp(values))

    expected = mean([1 + one for one in COMMON_S])
    assert lost(0.96).verdict == "agrees"
    assert lost(0.96).decided_by.mean == pytest.approx(0.96 * expected.mean)
    assert [lost(share).verdict for share in (0.5, 1.3)] == ["differs", "differs"]


def test_one_way_agents_count_packets_of_one_message(loaded: study.Study) -> None:
    one, packets = (
        loaded.code.one_way_packets({"transport": name, "start": "mobile", "loss": 0})
        for name in ("UDP 0.1 s", "TCP 0.2 s")
    )
    assert one == {}
    assert packets["handover.walk.transport.mss"] == "200B"
    # A message that meets an unacknowledged one waits for its ACK; a window of octets lets it go at once.
    labels = {"start": "mobile", "transport": "TCP 1 s", "loss": 40}
    apart = []
    for agents in (loaded.code.one_way, loaded.code.one_way_packets):
        settings: dict[str, Any] = {}
        for dimension, label in labels.items():
            settings |= getattr(loaded.code, dimension)(label, labels)
        settings |= agents(labels)
        result = roamsim.run(FOLDER / "scenarios/walk.toml", set=settings, seed=1, replications=60)
        table = result.tables["mih_handovers"].filter(result.tables["mih_handovers"]["outcome"] == "committed")
        apart.append((table["redirect_begun_s"] - table["commit_asked_s"]).mean())
    assert apart[1] > 1.2 * apart[0]


def test_late_acknowledgements_are_compared_between_the_timeouts(rules: ModuleType) -> None:
    late = {"UDP 0.1 s": 2, "UDP 0.3 s": 1}
    finding = rules.late_invalidated(MadeUp(lambda row: {"late": late.get(row["transport"], 0)}))
    assert finding.verdict == "agrees"
    assert finding.decided_by.mean == pytest.approx(1)
    assert rules.late_invalidated(MadeUp(lambda _row: {"late": 1})).verdict == "differs"


def test_an_answer_to_a_request_that_was_given_up_is_late(loaded: study.Study) -> None:
    # With 0.1 s a request is given up after 0.3 s, and its answer comes after 0.48 s.
    strict = {**loaded.code.transport("UDP 0.1 s", {}), "handover.walk.acknowledgement.validity": "strict"}
    tables = roamsim.run(FOLDER / "scenarios/walk.toml", set=strict).tables
    columns = {name: tables[name].to_dict(as_series=False) for name in ("mih_handovers", "mih_users", "flows")}
    assert loaded.code.handover(columns)["late"] >= [1]


def test_flows_show_what_happens_without_a_message(loaded: study.Study) -> None:
    shown = {chart.id: picture(loaded, chart, 1) for chart in loaded.sequences}
    for chart, words in (
        ("flow-mobile-1", ("Link_Going_Down; scan begins", "scan ends")),
        ("flow-mobile-2", ("MIH_MN_HO_Commit.confirm",)),
        ("flow-network-1", ("Link_Going_Down (local)", "scan begins", "scan ends")),
        ("flow-remote-1", ("Link_Going_Down", "scan begins")),
        ("flow-mobile-failed", ("Link_Down",)),
    ):
        for text in words:
            assert text in shown[chart], (chart, text)
    assert "Link_Down" not in shown["flow-mobile-3"]


def test_two_that_are_not_decidable_are_not_the_same(rules: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def trends(**verdicts: str) -> Finding:
        rule = {name: (lambda _data, _start, is_=is_: Finding(is_, "")) for name, is_ in verdicts.items()}
        monkeypatch.setattr(rules, "TRENDS", rule)
        found: Finding = rules.same_trends(None)
        return found

    both = trends(a="agrees", b="not decidable")
    assert both.verdict == "not decidable"
    assert both.measured.startswith("2 of 4 verdicts as in case 1; b network, local: not decidable")
    assert trends(a="agrees", b="differs").verdict == "agrees"
    # As many replications as the clause that needs most of them.
    opens = {
        name: (lambda _data, _start, n=n: Finding("not decidable", "", replications=9, needed=n))
        for name, n in (("a", 20), ("b", 70))
    }
    monkeypatch.setattr(rules, "TRENDS", opens)
    found = rules.same_trends(None)
    assert (found.needed, found.replications) == (70, 9)


def test_one_way_agents_send_acknowledgements_alone_and_only_over_tcp(loaded: study.Study) -> None:
    def segments(one_way: bool) -> int:
        labels = {"start": "mobile", "transport": "TCP 1 s", "loss": 0}
        settings = {
            key: value for name, at in labels.items() for key, value in getattr(loaded.code, name)(at, {}).items()
        }
        settings |= loaded.code.one_way(labels) if one_way else {}
        result = roamsim.run(FOLDER / "scenarios/walk.toml", set=settings, trace=["packets"])
        sent = result.packets
        assert sent is not None
        return len(sent.filter((sent["event"] == "sent") & (sent["protocol"] == "tcp")))

    # A response carries the ACK of its request; of two one-way connections each has ACKs of its own.
    assert segments(one_way=True) > segments(one_way=False)
    assert loaded.code.one_way({"transport": "UDP 0.1 s"}) == {}
