"""The comparison with other simulators: its arithmetic and tables, our side of it, and a peer where one is installed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from roamsim.statistics import mean

from validation import coexistence, compare, ours, queues, wifi, wimax
from validation.explanations import Explanation
from validation.parts import VARIANTS, Case, Part, Quantity, parts
from validation.runs import Outcome, Run
from validation.tables import WHY, folded, made_with, part_ratios, part_table, ratio, shared, update_parts


def outcome(delivered_bytes: int) -> Outcome:
    return Outcome(delivered_bytes, 0, 0, -1.0, -1.0)


def one_case(variant: str = "reno") -> Part:
    quantity = Quantity("delivered, B", 0, lambda _, outcomes: [float(o.delivered_bytes) for o in outcomes])
    return Part("goodput", "Title", ("variant",), (Case(variant, (variant,), (Run(variant),)),), (quantity,), 1)


def test_a_ratio_of_means_has_the_interval_of_both() -> None:
    """Relative errors of 3 % and 4 % make one of 5 %, at 11 - 1 degrees of freedom t = 2.228."""
    nine = [94.0, 106.0] * 5 + [100.0]
    sixteen = [9.2, 10.8] * 5 + [10.0]
    first, second = mean(nine), mean(sixteen)
    relative = [math.sqrt(sum((v - m) ** 2 for v in vs) / 10 / 11) / m for vs, m in ((nine, 100), (sixteen, 10))]
    found = ratio(first, second)
    assert found is not None
    assert math.isclose(found.value, 10.0)
    assert math.isclose(math.log(found.high / 10), 2.228 * math.hypot(*relative), rel_tol=1e-3)
    assert math.isclose(found.low * found.high, 100.0)


def test_nothing_over_nothing_is_no_ratio() -> None:
    assert ratio(mean([0.0, 0.0]), mean([0.0])) is None
    assert ratio(mean([]), mean([1.0])) is None


@pytest.mark.parametrize(("theirs", "marked"), [(91, False), (110, False), (111.2, True), (90, True)])
def test_a_difference_over_ten_per_cent_is_marked(theirs: float, marked: bool) -> None:
    part = one_case()
    outcomes = {("goodput", ("reno",)): {"roamsim": [(Run("reno"), outcome(10000))]}}
    outcomes["goodput", ("reno",)]["ns-2"] = [(Run("reno"), outcome(round(100 * theirs)))]
    text, letters, unexplained = part_table(part, ["ns-2"], outcomes)
    assert ("not explained" in text, unexplained, letters) == (marked, int(marked), set())


def test_an_explained_difference_bears_its_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Explanation("z", ("ns-2",), ("goodput",), ("reno",), (), (), because="it is so")
    monkeypatch.setattr("validation.explanations.EXPLANATIONS", [known])
    for variant, expected in (("reno", ({"z"}, 0)), ("tahoe", (set(), 1))):
        pairs = {"roamsim": [(Run(variant), outcome(1000))], "ns-2": [(Run(variant), outcome(2000))]}
        text, letters, unexplained = part_table(one_case(variant), ["ns-2"], {("goodput", (variant,)): pairs})
        assert (letters, unexplained) == expected
        assert "0.500" in text


def test_a_variant_that_a_peer_does_not_have_leaves_its_cells_empty() -> None:
    outcomes = {("goodput", ("reno",)): {"roamsim": [(Run("reno"), outcome(1000))]}}
    text, _, unexplained = part_table(one_case(), ["ns-3"], outcomes)
    assert text.splitlines()[-1] == "| reno | 1000 |  |  |"
    assert part_ratios(one_case(), ["ns-3"], outcomes).splitlines()[-1] == "| ours | 1000 |"
    assert unexplained == 0


def test_a_peer_that_agrees_has_no_row_in_brief() -> None:
    mine, near, far = ([(Run("reno"), outcome(octets))] for octets in (1000, 1010, 2000))
    for peer, expected in (
        (mine, ["| ours | 1000 |"]),
        (near, ["| ours (ns-2 0.990) | 1000 |"]),
        (far, ["| ours | 1000 |", "| / ns-2 | **0.500** not explained |"]),
    ):
        outcomes = {("goodput", ("reno",)): {"roamsim": mine, "ns-2": peer}}
        assert part_ratios(one_case(), ["ns-2"], outcomes).splitlines()[2:] == expected


def test_the_range_of_peers_that_agree_stands_behind_the_labels() -> None:
    rows = [
        ["reno: MB", "5", "6"],
        ["/ ns-3", "**1.2** a", "0.990"],
        ["/ ns-2", "1.010", "0.950"],
        ["sack: MB", "5", "6"],
        ["/ ns-3", "1.020", ""],
        ["/ ns-2", "1.010", "0.999"],
    ]
    assert folded(rows) == [
        ["reno: MB (ns-2 0.950 to 1.010)", "5", "6"],
        ["/ ns-3", "**1.2** a", "0.990"],
        ["sack: MB (ns-3 1.020; ns-2 0.999 to 1.010)", "5", "6"],
    ]


def test_variants_with_equal_rows_share_them() -> None:
    rows = [
        ["reno: MB", "5", "6"],
        ["/ ns-2", "1.1", "1.2"],
        ["reno: timeouts", "2", "3"],
        ["sack: MB", "5", "6"],
        ["/ ns-3", "1.1", "1.2"],
        ["sack: timeouts", "2", "3"],
        ["vegas: MB", "5", "6"],
        ["/ ns-2", "1.1", "1.2"],
    ]
    assert shared(rows) == [
        ["reno, vegas: MB", "5", "6"],
        ["/ ns-2", "1.1", "1.2"],
        ["reno, sack: timeouts", "2", "3"],
        ["sack: MB", "5", "6"],
        ["/ ns-3", "1.1", "1.2"],
    ]


def test_the_ratios_of_a_quantity_follow_its_row_in_brief() -> None:
    """Two windows across: 1000 and 2000 octets, beside 1050 and 2000. The ratios of the second quantity are all 1."""
    quantities = (
        Quantity("delivered, B", 0, lambda _, outcomes: [float(o.delivered_bytes) for o in outcomes]),
        Quantity("timeouts", 1, lambda _, outcomes: [float(len(outcomes)) for _ in outcomes]),
    )
    cases = tuple(Case("reno", ("reno", window), (Run("reno"),)) for window in ("8", "16"))
    part = Part("goodput", "Title", ("variant", "window"), cases, quantities, 1)
    outcomes = {
        ("goodput", ("reno", window)): {
            "roamsim": [(Run("reno"), outcome(mine))],
            "ns-2": [(Run("reno"), outcome(theirs))],
        }
        for window, mine, theirs in (("8", 1000, 1050), ("16", 2000, 2000))
    }
    assert part_ratios(part, ["ns-2"], outcomes).splitlines() == [
        "| variant | window 8 | window 16 |",
        "| --- | --- | --- |",
        "| reno: delivered, B (ns-2 0.952 to 1.000) | 1000 | 2000 |",
        "| reno: timeouts | 1.0 | 1.0 |",
    ]


def test_the_tables_of_some_parts_are_replaced_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = [
        Explanation(letter, ("ns-2",), ("goodput",), (), (), (), because=f"because {letter}") for letter in "xyz"
    ]
    monkeypatch.setattr("validation.explanations.EXPLANATIONS", [replace(known[2], variants=("reno",)), *known[:2]])
    part = one_case()
    pairs = {"roamsim": [(Run("reno"), outcome(1000))], "ns-2": [(Run("reno"), outcome(2000))]}
    outcomes = {("goodput", ("reno",)): pairs}
    builds = {"roamsim": "Roamsim 1", "ns-2": "ns-2 2.35"}
    file = tmp_path / "page.md"
    others = ["### Other", "| 7 | **0.5** x |", "### Title", "| 8 | **0.5** y |", f"{WHY}\n\n- x: old\n- y: old"]
    file.write_text(
        "before\n<!-- validation:start -->\n"
        + "\n\n".join([*made_with({**builds, "ns-3": "3"}), *others])
        + "\n<!-- validation:end -->\nafter\n"
    )
    update_parts(file, [part], builds, outcomes)
    text = file.read_text()
    assert text.startswith("before\n<!-- validation:start -->\nMeasured with:\n\n- roamsim: ")
    assert text.endswith("- x: because x\n<!-- validation:end -->\nafter\n".replace("- x", "- z: because z\n- x"))
    assert "| 7 | **0.5** x |" in text
    assert "| 8 |" not in text
    assert "| delivered, B | variant reno |" in text
    assert "| ours | 1000 |\n| / ns-2 | **0.500** z |" in text
    with pytest.raises(SystemExit, match="measure all parts again"):
        update_parts(file, [part], {**builds, "ns-2": "ns-2 2.36"}, outcomes)


def test_simulators_without_a_variant_of_the_plan_are_not_set_up() -> None:
    sctp = [part for part in parts(VARIANTS, quick=True) if part.name.startswith("sctp")]
    assert compare.wanted(sctp) == ["roamsim", "ns-2"]
    assert compare.wanted(parts(VARIANTS, quick=True)) == ["roamsim", "ns-3", "ns-2"]


def test_simulators_that_are_missing_are_said_to_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [simulator.name for simulator in compare.available()] == ["roamsim"]
    said = capsys.readouterr().err
    assert "LEFT OUT: ns-2" in said
    assert "LEFT OUT: ns-3" in said


def test_every_case_is_a_valid_scenario_here() -> None:
    for part in parts(VARIANTS, quick=True):
        for case in part.cases:
            run = case.runs[0]
            # Short, but not so short that what it has in store never begins.
            duration_s = run.duration_s if run.outage_for_s else 0.1
            short = Run(**{**run.__dict__, "duration_s": duration_s})
            assert ours.run(short).delivered_bytes >= 0


def test_a_listed_segment_is_lost_once() -> None:
    """One loss, one retransmission, nothing else."""
    found = ours.run(Run("newreno", ssthresh=20, drop=(30,), duration_s=5, mark_bytes=30_000))
    assert (found.retransmissions, found.timeouts) == (1, 0)
    free = ours.run(Run("newreno", ssthresh=20, duration_s=5, mark_bytes=30_000))
    assert free.retransmissions == 0
    # It goes again with the third duplicate: a round trip later, or two where it was among the last of a burst.
    assert 0.040 < found.marked_s - free.marked_s < 0.090


def test_after_a_blackout_the_first_delivery_is_told() -> None:
    found = ours.run(Run("sack", ssthresh=20, outage_s=2, outage_for_s=1, duration_s=6, after_s=3.0))
    assert found.timeouts >= 2
    assert 3.02 <= found.first_after_s < 4.0


@pytest.mark.needs("ns")
def test_ns2_delivers_when_we_do_where_nothing_is_lost() -> None:
    """A megabyte in slow start up to 64 segments and one more a round trip, which the line and its queue hold."""
    run = Run("sack", ssthresh=64, duration_s=5.0, mark_bytes=1_000_000)
    assert math.isclose(ours.run(run).marked_s, compare.ns2().run(run).marked_s, rel_tol=0.01)


@pytest.mark.needs("ns")
@pytest.mark.parametrize(
    ("variant", "after_s", "segments"), [("reno", 1.9, 10), ("vegas", 3.1, 11), ("cubic", 0.7, 9)]
)
def test_ns2_tells_the_octets_of_the_stream(variant: str, after_s: float, segments: int) -> None:
    """The initial window, 600 ms one way: after a round trip for the SYN; for Vegas also one for its first segment;
    for the Linux agent with the SYN, as one of the ten. Headers, and a SYN as long as a segment, do not count.
    """
    found = compare.ns2().run(Run(variant, delay_s=0.6, duration_s=after_s))
    assert found.delivered_bytes == 1000 * segments


def test_the_thresholds_of_vegas_are_those_that_the_peers_are_given() -> None:
    flow = ours.scenario(Run("vegas"))["flow"]
    assert isinstance(flow, list)
    assert flow[0]["transport"]["vegas"] == {"alpha": 2, "beta": 4, "gamma": 1}
    script = (compare.PROGRAMS / "ns2.tcl").read_text()
    program = (compare.PROGRAMS / "ns3_tcp.h").read_text()
    for name, value in (("alpha", 2), ("beta", 4), ("gamma", 1)):
        assert f"Agent/TCP/Vegas set v_{name}_ {value}\n" in script
        assert f'"ns3::TcpVegas::{name.capitalize()}", UintegerValue({value})' in program


@pytest.mark.needs("ns")
@pytest.mark.parametrize("ack_every", [1, 2])
def test_ns2_and_we_deliver_the_same_over_sctp_where_only_the_queue_loses(ack_every: int) -> None:
    run = Run("sctp", ack_every=ack_every, duration_s=20.0)
    mine, theirs = ours.run(run), compare.ns2().run(run)
    assert math.isclose(mine.delivered_bytes, theirs.delivered_bytes, rel_tol=0.01)


@pytest.mark.needs("ns")
def test_ns2_refuses_what_is_no_setting() -> None:
    program = compare.ns2()
    with pytest.raises(SystemExit, match="there is no variant nothing"):
        program.run(Run("nothing"))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    run = Run("reno", drop=(3, 5))
    outcomes = {("goodput", ("reno",)): {"roamsim": [(run, outcome(1000))]}}
    compare.write(tmp_path / "runs.json", [compare.roamsim()], outcomes)
    builds, found = compare.read(tmp_path / "runs.json")
    assert found == outcomes
    assert builds["roamsim"].startswith("Roamsim ")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A document with the part that the comparison writes."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- validation:start -->\nold\n<!-- validation:end -->\nbehind\n")
    return page


@pytest.mark.parametrize("narrowed", [["--quick"], ["--only", "sctp", "--quick"], ["--variant", "reno"]])
def test_the_document_gets_whole_tables_or_none(
    page: Path, narrowed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["compare", "--update", str(page), *narrowed])
    with pytest.raises(SystemExit) as ended:
        compare.main()
    assert ended.value.code == 2
    assert "\nold\n" in page.read_text()


def test_the_document_stays_as_it_is_when_a_simulator_or_a_part_is_missing(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    builds = [compare.Simulator(name, f"build of {name}", lambda _: outcome(1)) for name in compare.SIMULATORS]
    all_parts = {
        (part.name, case.labels): {name: [(run, outcome(1)) for run in case.runs[:2]] for name in compare.SIMULATORS}
        for part in parts(VARIANTS, quick=False)
        for case in part.cases
    }
    without_sctp = {key: pairs for key, pairs in all_parts.items() if key[0] != "sctp"}
    for there, outcomes, left in (
        (builds, all_parts, False),
        (builds[:2], all_parts, True),
        (builds, without_sctp, True),
    ):
        compare.write(tmp_path / "runs.json", there, outcomes)
        page.write_text("<!-- validation:start -->\nold\n<!-- validation:end -->\n")
        monkeypatch.setattr("sys.argv", ["compare", "--from", str(tmp_path / "runs.json"), "--update", str(page)])
        compare.main()
        assert ("\nold\n" in page.read_text()) == left
        assert ("is left as it was: it is about all parts in roamsim, ns-3, ns-2" in capsys.readouterr().err) == left


def test_our_side_of_every_kind_of_cell_runs_and_one_station_has_what_an_exchange_takes() -> None:
    """Of 802.11b: DIFS 50, 15.5 slots of 20 us, preamble 192, 1536 octets at 11 Mb/s, SIFS 10, ACK 248 us: 1927.1 us."""
    by_kind = {run.kind: run for run in wifi.runs(quick=True) if run.standard == "g"}
    assert by_kind.keys() == wifi.KINDS.keys()
    assert all(wifi.ours(replace(run, duration_s=0.2)) > 5 for run in by_kind.values())
    exchange_us = 50 + 15.5 * 20 + 192 + 8 * 1536 / 11 + 10 + 248
    assert math.isclose(wifi.ours(wifi.Run("b", "up", duration_s=5)), 8 * 1472 / exchange_us, rel_tol=0.01)


def test_cells_that_differ_by_more_than_five_percent_are_counted() -> None:
    near, far = wifi.Run("b", "up"), wifi.Run("b", "down")
    text, brief, too_large = wifi.report(
        [near, far], {near: ([1.04] * 2, [1.0] * 2), far: ([0.94] * 2, [1.0] * 2)}, "ns-3 of some day"
    )
    assert too_large == 1
    # Not on which machine, nor with which interpreter: results do not depend on them.
    assert text.startswith("Measured with: ns-3 of some day.\n\n| ")
    for table in (text, brief):
        assert [line.endswith("(!) |") for line in table.splitlines() if line.startswith("| 802.11b")] == [
            False,
            True,
        ]


def test_every_word_of_a_cell_is_one_that_its_program_knows() -> None:
    source = wifi.PROGRAM.read_text()
    for word in wifi.Run("b", "up").words():
        assert f'AddValue("{word[2:].split("=")[0]}"' in source
    assert all(f'"{kind}"' in source or kind in ("up", "tcp-up") for kind in wifi.KINDS)


def test_our_side_of_an_802_16_cell_waits_half_a_frame_and_its_symbols() -> None:
    """Of 10 MHz: symbols of 256 * 1.25 / 11.52 MHz = 27.78 us; a preamble and ten for 1038 octets of 108 a symbol."""
    told = wimax.ours(wimax.Run("up"))
    assert math.isclose(told.delay_s, 0.005 + 11 * 27.78e-6, rel_tol=0.03)
    # 763 or 764 datagrams in 20 s; the second DCD comes at 3 s.
    assert math.isclose(told.goodput_mbps, 8e-6 * 1000 / 0.02618034, rel_tol=0.002)
    assert 3.0 < told.entered_s < 3.5
    assert {run.kind for run in wimax.runs(quick=True)} == wimax.KINDS.keys()


def test_cells_of_802_16_that_differ_by_more_than_five_percent_are_counted() -> None:
    """One is explained: that of the downlink with many stations, of which the maps are long."""
    plan = [wimax.Run("up", 10), wimax.Run("down", 2), wimax.Run("down", 10)]
    sides = (wimax.Told(1.0, 1.06, 3.0), wimax.Told(1.0, 1.0, 0.4))
    text, brief, too_large = wimax.report(plan, dict.fromkeys(plan, sides), "ns-3 of a day")
    assert too_large == 2
    for each in (text, brief):
        assert (each.count("1.060 (!)"), each.count("1.060 (n)")) == (2, 1)
        assert "\n- n: **ns-3 sends more before the data.**" in each
    assert "delay" in brief
    assert "goodput" not in brief


def test_every_word_of_an_802_16_cell_is_one_that_its_program_knows() -> None:
    source = wimax.PROGRAM.read_text()
    for word in wimax.Run("up").words():
        assert f'AddValue("{word[2:].split("=")[0]}"' in source
    assert all(kind == "up" or f'kind == "{kind}"' in source for kind in wimax.KINDS)


def test_our_polled_stations_wait_half_a_frame_for_the_poll_and_one_for_the_grant() -> None:
    """Behind those a preamble and ten symbols of 27.78 us, as of unsolicited grants."""
    told = wimax.ours(wimax.Run("polled"))
    assert math.isclose(told.delay_s, 0.015 + 11 * 27.78e-6, rel_tol=0.02)


def test_our_side_of_every_discipline_and_load_runs() -> None:
    for load in queues.LOADS:
        for discipline in queues.QUEUES:
            told = queues.ours(queues.Run(discipline, load, duration_s=4))
            assert told.delivered_bytes > 0
            # Of the way alone, and no more than a whole queue of 1000 full packets.
            assert queues.UNQUEUED_S <= told.mean_delay_s <= queues.UNQUEUED_S + 1000 * 8 * 1040 / queues.RATE_BPS


def test_a_full_queue_of_constant_rates_is_waited_for() -> None:
    """100 packets of 1028 octets at 5 Mb/s, and what is left of the one in service: 164.5 to 166.1 ms, less for the call's own."""
    told = queues.ours(queues.Run("drop_tail", queues.LOADS[0], duration_s=20))
    longest_s = 101 * 8 * 1028 / queues.RATE_BPS
    assert 0.9 * longest_s < told.p95_delay_s - queues.UNQUEUED_S < longest_s
    assert told.drops > 1000


def test_both_sides_of_a_queue_begin_at_the_same_instants() -> None:
    source = queues.PROGRAM.read_text()
    for load in queues.LOADS:
        run = queues.Run("pie", load, seed=3)
        words = dict(word[2:].split("=") for word in run.words())
        assert all(f'AddValue("{word}"' in source for word in words)
        flows = queues.scenario(run)["flow"]
        assert isinstance(flows, list)
        begins = [flow["application"]["start"] for flow in flows]
        told = words.get("starts", "").split(",") if load.variant else words["streams"].split(",")[::2]
        assert begins == [f"{instant}ns" for instant in [words["thin_start"], *told]]
        assert begins != [flow["application"]["start"] for flow in queues.scenario(replace(run, seed=4))["flow"]]
    assert all(f'name == "{discipline}"' in source for discipline in queues.QUEUES)
    assert all(f'"{queue["packets"]}p"' in source for queue in queues.QUEUES.values())


def test_queues_that_differ_by_more_than_five_percent_are_counted_unless_it_is_known_why() -> None:
    """What RED does to TCP is known; under constant rates nothing may differ."""
    plan = [queues.Run("red", load, seed=seed) for load in queues.LOADS[:2] for seed in (1, 2)]
    sides = queues.Told(1_000_000, 104, 0.03, 0.04), queues.Told(1_060_000, 100, 0.03, 0.04)
    text, brief, unexplained = queues.report(plan, [sides] * 4, "ns-3 of a day")
    marked = [line for line in text.splitlines() if "**0.943**" in line]
    assert unexplained == 1
    assert [line.split("** ")[1] for line in marked] == ["not explained |", "o |"]
    assert text.count("1.040 |") == 2
    assert "| 1 SACK | red | **0.943** o | 1.000 | 1.000 | 1.040 |" in brief
    assert all("\n- o: **RED in ns-3 spares a queue of at most one packet**" in each for each in (text, brief))


def test_bbr_and_cubic_share_a_queue_of_two_products() -> None:
    share, use, repeats = coexistence.measured("bbr", 2, 2)
    assert 0.4 < share.mean < 0.65
    assert use.mean > 0.95
    assert 0 < repeats.mean < 0.01


def test_bbr_1_has_the_share_of_its_closed_form_beside_cubic() -> None:
    """A product is 66.7 packets. At a queue of two, q = 133.3: the others' share is (q - 8 - 66.7) / 2 q = 0.22, and
    a seventh of ten times that where their window is 0.7 of its largest, 0.314. ProbeRTT takes 0.32 s of ten."""
    low, high = coexistence.theory(2)
    assert (round(low, 3), round(high, 3)) == (0.664, 0.755)
    # At half a product nothing is left to the others but 0.26 s of ten.
    assert [round(share, 3) for share in coexistence.theory(0.5)] == [0.974, 0.974]
    # Of sixty runs the mean is 0.664, of two it is within 0.03 of that.
    share, use, _ = coexistence.measured("bbr1", 2, 16)
    assert low - coexistence.TOLERANCE < share.mean < high + coexistence.TOLERANCE
    assert use.mean > 0.95


def test_over_other_paths_the_table_says_how_far_theory_is(monkeypatch: pytest.MonkeyPatch) -> None:
    # A product is 41.7 packets, and the round trip 60 ms longer.
    low, high = coexistence.theory(2, coexistence.Path(5, 100))
    assert (round(low, 3), round(high, 3)) == (0.676, 0.758)
    assert coexistence.scenario("bbr1", 2, (0, 0), coexistence.Path(5, 100))["link"][0]["queue"] == {"packets": 83}  # type: ignore[index]
    monkeypatch.setattr(coexistence, "QUEUES", (2,))
    monkeypatch.setattr(coexistence, "ELSEWHERE", (coexistence.Path(20, 40),))
    assert "(" not in coexistence.elsewhere(16)
    monkeypatch.setattr(coexistence, "theory", lambda *_: (0.1, 0.2))
    text = coexistence.elsewhere(1)
    share, _, _ = coexistence.measured("bbr1", 2, 1)
    assert f"| 20 Mb/s | 40 ms | {share.mean:.2f} (+{share.mean - 0.2:.2f}) |" in text


def test_a_share_beside_theory_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coexistence, "QUEUES", (2,))
    monkeypatch.setattr(coexistence, "theory", lambda _: (0.1, 0.2))
    text, missed = coexistence.version_1(1)
    assert missed == 1
    assert "0.10 to 0.20" in text
    assert "**no**" in text
