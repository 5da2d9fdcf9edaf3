"""The study `tcp-dect`: what it measures of a run, and what its drawings say."""

import types

import polars
import pytest
import roamsim
from roamsim import study
from roamsim.statistics import Estimate, mean, paired_difference
from roamsim.study.drawings import drawn
from roamsim.study.judging import Finding
from roamsim.technologies.dect import mac_states
from roamsim.theory import dect

PUBLISHED = study.load("tcp-dect")


def test_throughput_is_the_mean_of_both_directions_in_segments() -> None:
    access = {f"{name}_{way}": [7] for name in ("packets", "attempts", "discarded") for way in ("up", "down")}
    access |= {f"{name}_{way}": [1] for name in ("lost_with_bearer", "fragments_repeated") for way in ("up", "down")}
    counts = ("retransmission_requests", "dlc_frames_delivered", "dlc_frames_dropped")
    access |= {f"{name}_{way}": [3] for name in counts for way in ("up", "down")}
    access |= {"mean_bearers": [6.0], "no_bearer_share": [0.1], "occupied_channels": [200.0], "measured_s": [100.0]}
    flows = {
        # 20 and 30 segments/s of 4096 bits.
        "goodput_bps": [81920.0, 122880.0],
        "start_s": [10.0, 10.0],
        "stop_s": [110.0, 110.0],
        "sent_packets": [4000.0, 5000.0],
        "timeouts": [1, 2],
        "fast_retransmits": [0, 1],
        "retransmissions": [3, 4],
        "segments_sent": [2000, 3000],
        "mean_delay_s": [1.0, 3.0],
        "p95_delay_s": [2.0, 6.0],
        "p99_delay_s": [3.0, 7.0],
    }
    row = {
        name: values[0] for name, values in PUBLISHED.function("transfer")({"flows": flows, "dect": access}).items()
    }
    assert row["throughput"] == pytest.approx(25.0)
    assert row["throughput_teo"] == pytest.approx(30.0)  # 5 for each of 6 bearers
    assert row["throughput_ideal"] == pytest.approx(30.0)  # 45 were offered
    assert row["ratio"] == pytest.approx(25 / 30)
    assert (row["timeouts"], row["retransmissions"], row["packets"]) == (3, 7, 14)
    below = {**flows, "sent_packets": [1000.0, 1000.0]}
    assert PUBLISHED.function("transfer")({"flows": below, "dect": access})["throughput_ideal"] == [10.0]


def test_delays_are_those_of_both_directions_together() -> None:
    delay_s = [0.1] * 6 + [2.0] * 3 + [30.0]
    tables = {
        "messages": {"delay_s": delay_s, "generated_s": [0.1 * n for n in range(10)]},
        "flows": {"timeouts": [0, 4]},
        "dect": {"mean_bearers": [5.0]},
    }
    row = {name: values[0] for name, values in PUBLISHED.function("delays")(tables).items()}
    assert row["mean_s"] == pytest.approx((0.6 + 6.0 + 30.0) / 10)
    assert (row["median_s"], row["timeouts"]) == (pytest.approx(0.1), 4)
    assert (row["beyond_1_s"], row["beyond_10_s"], row["beyond_60_s"]) == (0.4, 0.1, 0.0)
    assert row["beyond_5_means"] == 0.1  # 5 means are 18.3 s
    parts = PUBLISHED.function("delays_over_time")(tables)
    assert (parts["from_s"], parts["segments"]) == ([0.0, 0.5], [5, 5])
    assert parts["mean_delay_s"] == pytest.approx([0.1, (0.1 + 6.0 + 30.0) / 5])
    assert parts["longest_delay_s"] == [0.1, 30.0]


def test_every_open_choice_is_tried_in_every_situation() -> None:
    experiment = PUBLISHED.experiment("sensitivity")
    choices = dict(next(d for d in experiment.dimensions if d.name == "choice").choice)
    assert choices.pop("as chosen") == {}
    assert all(choices.values())
    assert len({str(settings) for settings in choices.values()}) == len(choices)
    planned = len(list(study.definition.points(PUBLISHED, experiment, "full")))
    assert planned == 6 * (len(choices) + 1)
    about_bearers = dict(
        next(d for d in PUBLISHED.experiment("burst-choices").dimensions if d.name == "choice").choice
    )
    assert about_bearers.items() <= {"as chosen": {}, **choices}.items()


class Kept:
    """Rows as a study keeps them, chosen by their labels."""

    def __init__(self, **tables: list[dict[str, object]]) -> None:
        self.tables = tables

    def rows_of(self, _experiment: str, table: str, **where: object) -> list[dict[str, object]]:
        return [row for row in self.tables[table] if all(row[name] == wanted for name, wanted in where.items())]

    def rows(self, experiment: str, **where: object) -> list[dict[str, object]]:
        return self.rows_of(experiment, experiment, **where)

    def labels(self, _experiment: str, _dimension: str) -> list[str]:
        return ["reference"]


def test_states_and_transitions_are_those_of_each_type() -> None:
    point = {"case": "reference", "offered": 50, "name": "air"}
    kinds = {"P08j": 1, "P32": 2, "P80": 3, "Data": 4, "User": 5}
    states = [
        {**point, "type": kind, "state": state, "time_s": spent_s * number, "share": spent_s / 3600}
        for kind, number in kinds.items()
        for state, spent_s in dict.fromkeys(mac_states.PLACES, 450.0).items()
    ]
    transitions = [
        {**point, "type": kind, "from": start, "to": end, "count": count * number}
        for kind, number in kinds.items()
        for start, end, count in (("Call_Setup", "Active_Locked", 10), ("Call_Setup", "Blocked", 0))
    ]
    kept = Kept(dect_states=states, dect_transitions=transitions)
    rows = PUBLISHED.exhibit("states")(kept)
    assert [row["type"] for row in rows] == ["the terminal", "P08j", "P32", "P80", "Data"]
    assert [row["case"] for row in rows] == ["reference"] * 5
    for state in mac_states.PLACES:
        assert [row[f"{state} (%)"] for row in rows] == ["12.5", 12.5, 12.5, 12.5, 12.5]
    # The terminal was observed for 5 hours here.
    up, blocked = PUBLISHED.exhibit("transitions")(kept)
    assert (up["P08j /h"], up["Data /h"], up["the terminal /h"]) == (2.0, 8.0, 10.0)
    assert (blocked["from"], blocked["to"], blocked["P32 /h"]) == ("Call_Setup", "Blocked", 0.0)
    _, _, boxes, _, _, labels = (
        layer["data"]["values"] for layer in PUBLISHED.exhibit("state_diagram")(kept)["layer"]
    )
    assert [box["share"] for box in boxes] == ["12.5 %"] * 8
    assert [label["taken"] for label in labels] == ["50", "0"]


def test_delays_around_a_burst_are_averaged_over_parts() -> None:
    rows = [
        {
            "arrivals": arrivals,
            "replication": replication,
            "from_s": part / 2,
            "segments": 10,
            "mean_delay_s": (1.0 if 10 <= part < 20 else 0.1) + replication / 100,
            "longest_delay_s": 2.0,
        }
        for arrivals in ("Poisson arrivals", "batch arrivals")
        for replication in range(3)
        for part in range(120)
    ]
    figure = PUBLISHED.exhibit("burst_delays")(Kept(burst=rows))
    assert figure.whole_s == (0.0, 40.0)
    for panel, parts in zip(figure.panels, (80, 16), strict=True):
        burst, interval, longest, mean = (mark.frame for mark in panel.marks)
        assert burst.row(0) == (5.0, 10.0, 0.0, 2.0)
        # The last value holds until the end.
        assert mean.height == longest.height == interval.height + 1 == parts + 1
        assert mean["v"][0] == pytest.approx(0.11)
        assert mean["v"][parts // 6] == pytest.approx(1.01)  # from 5 s on
        assert set(longest["v"]) == {2.0}
        # Student's t with 2 degrees of freedom: 4.303 * 0.01 / sqrt(3).
        widths = (interval["high"] - interval["low"]).to_list()
        assert widths == pytest.approx([2 * 4.303 * 0.01 / 3**0.5] * parts, rel=1e-3)
        assert interval["until"][-1] == 40.0
        # The whole interval is on the axis, which begins at zero.
        assert panel.scale == {}


def test_bearers_stand_in_their_slots_of_both_directions() -> None:
    # At 650 s two bearers of the terminal: one in slot pair 3, one in the second half of pair 0; and one of another.
    rows = [("User", 3, 0, 1.0, 4), ("User", 0, 1, 0.5, 9), ("P32", 5, 0, 1.0, 4)]
    occupancy = polars.DataFrame(
        [
            {"type": kind, "from_s": 650.0, "until_s": 700.0, "radio_fixed_part": 1, "carrier": carrier,
             "slot_pair": pair, "half": half, "slots": slots}
            for kind, pair, half, slots, carrier in rows
        ]
    )  # fmt: skip
    drawn = PUBLISHED.exhibit("bearers")(types.SimpleNamespace(dect_occupancy=occupancy))
    assert drawn["title"]["text"] == "Radio fixed part 1, 650 s"
    values = drawn["layer"][1]["data"]["values"]
    found = {(row["number"], row["carrier"], row["slot"], row["until"]) for row in values}
    # In the order of carriers; what comes back is twelve slots later.
    assert found == {
        ("1", 4, 3.0, 4.0), ("1", 4, 15.0, 16.0), ("", 4, 5.0, 6.0), ("", 4, 17.0, 18.0),
        ("2", 9, 0.5, 1.0), ("2", 9, 12.5, 13.0),
    }  # fmt: skip


def test_data_units_have_the_sizes_of_a_run() -> None:
    drawing = next(d for d in PUBLISHED.drawings if d.id == "data-units")
    picture = drawn(PUBLISHED, drawing, data=None, seed=1)  # type: ignore[arg-type]  # it draws a run
    # 552 octets and a checksum of 2: 19 fragments of 29, and 3 octets.
    for text in ("payload 512", "packet 552", "20: 3 of 29", "takes 20 fragments", "a pure ACK of 40 takes 2"):
        assert text in picture, text


def test_a_burst_raises_delays_when_the_whole_interval_of_the_ratio_is_above_one() -> None:
    def verdict(*in_burst_s: float) -> tuple[str, float]:
        rows = [
            {
                "arrivals": "Poisson arrivals",
                "replication": replication,
                "from_s": part / 2,
                "segments": 10,
                "mean_delay_s": in_burst_s[replication] if 10 <= part < 20 else 0.1,
            }
            for replication in range(len(in_burst_s))
            for part in range(40)
        ]
        finding = PUBLISHED.measurement("burst_raises")(Kept(burst=rows))
        return finding.verdict, finding.decided_by.mean

    assert verdict(0.14, 0.16) == ("not decidable", pytest.approx(1.5))  # 1.5 ± 1.27
    assert verdict(0.149, 0.151) == ("agrees", pytest.approx(1.5))  # 1.5 ± 0.127
    assert verdict(0.049, 0.051) == ("differs", pytest.approx(0.5))


def test_the_first_rule_of_the_burst_stands_beside_the_relaxed_one() -> None:
    rows = [
        {
            "arrivals": "Poisson arrivals",
            "replication": replication,
            "from_s": part / 2,
            "segments": 10,
            "mean_delay_s": in_burst_s if 10 <= part < 20 else 0.1,
        }
        for replication, in_burst_s in enumerate((0.249, 0.251))
        for part in range(40)
    ]
    # 2.5 times: above 1, below 3.
    finding = PUBLISHED.measurement("burst_raises")(Kept(burst=rows))
    assert (finding.verdict, finding.brief.endswith("by the first rule (3 times): differs")) == ("agrees", True)


def test_transfer_across_the_air_takes_two_frames_at_least() -> None:
    (drawing,) = (one for one in PUBLISHED.drawings if one.id == "burst-air")
    scenario = PUBLISHED.folder / drawing.scenario
    figure = PUBLISHED.exhibit("burst_air")(roamsim.run(scenario, set=dict(drawing.set), trace=["packets"]))
    delays = [mark.frame["v"] for mark in figure.panels[0].marks if mark.kind == "dot"]
    # 20 fragments over 10 bearers take two frames of 10 ms; in the burst some take many.
    assert len(delays) == 2
    assert all(0.02 - 1e-9 <= float(of.min()) <= 0.03 and float(of.max()) > 0.1 for of in delays)


def test_an_rto_that_adapts_is_compared_with_one_that_is_held() -> None:
    def finding(held: tuple[int, ...]) -> Finding:
        rows = [
            {"retransmission_timer": timer, "timeouts": count, "measured_s": 1800.0}
            for timer, counts in (("adapting", (0, 1, 0)), ("held at 2 s", held))
            for count in counts
        ]
        found: Finding = PUBLISHED.measurement("rto_adapts")(Kept(rto=rows))
        return found

    assert finding((20, 22, 19)).verdict == "agrees"
    assert finding((0, 1, 0)).verdict == "differs"
    assert "in 1.5 hours each 1 adapting, 61 held" in finding((20, 22, 19)).measured


def test_timeouts_are_told_for_each_receive_window_and_the_verdict_rests_on_it() -> None:
    def rows(counts: dict[str, int], **labels: str) -> list[dict[str, object]]:
        return [{"case": case, "timeouts": count, "measured_s": 1800.0, **labels} for case, count in counts.items()]

    cases = ("reference", "doubled BER", "doubled handover probability", "high background load", "batch arrivals")
    none = dict.fromkeys(cases, 0)
    some = none | {"reference": 3, "high background load": 40}
    load = none | {"high background load": 7}
    kept = Kept(throughput=rows(some), windows=rows(load, window="8 KiB") + rows(load, window="4 KiB"))
    finding = PUBLISHED.measurement("no_timeout")(kept)
    assert finding.verdict == "differs"
    assert (
        finding.brief
        == "43 timeouts in 2.5 hours with a receive window of 16 KiB; with 4 KiB 7 in 2.5 hours, 7 of them "
        "under high background load"
    )
    assert finding.rests_on == ("a receive window of 16 KiB in all cases but high background load",)
    kept = Kept(throughput=rows(none), windows=rows(none, window="8 KiB") + rows(none, window="4 KiB"))
    finding = PUBLISHED.measurement("no_timeout")(kept)
    assert (finding.verdict, finding.rests_on) == ("agrees", ())


def test_a_choice_without_timeouts_turns_the_verdict_where_enough_runs_have_some_as_chosen() -> None:
    class Choices(Kept):
        def labels(self, _experiment: str, _dimension: str) -> list[str]:
            return ["as chosen", "one", "none"]

    def turning(runs: int) -> tuple[str, ...]:
        counts = {"as chosen": [5] * runs + [0], "one": [1] + [0] * runs, "none": [0] * (runs + 1)}
        rows = [{"choice": choice, "timeouts": count} for choice, of in counts.items() for count in of]
        found: tuple[str, ...] = PUBLISHED.measurement("turned_by_choices")(
            Choices(sensitivity=rows), "4a", "differs"
        )
        return found

    # The sign test: six runs that all change alike are no chance, five may be.
    assert turning(6) == ("the chosen settings (with none it agrees)",)
    assert turning(5) == ()


@pytest.mark.parametrize(
    ("statement", "experiment", "where", "column", "inside", "outside"),
    [
        ("3b", "sensitivity", {"situation": "doubled handover probability"}, "ratio", 0.78, 0.83),
        ("3c", "sensitivity", {"situation": "batch arrivals"}, "ratio", 0.78, 0.83),
        ("5b", "delay-choices", {"arrivals": "Poisson arrivals"}, "beyond_10_s", 0.12, 0.07),
        ("5c", "delay-choices", {"arrivals": "Poisson arrivals"}, "beyond_5_means", 0.05, 0.001),
    ],
)
def test_a_choice_that_meets_the_published_value_turns_the_verdict(
    statement: str, experiment: str, where: dict[str, str], column: str, inside: float, outside: float
) -> None:
    class Choices(Kept):
        def labels(self, _experiment: str, _dimension: str) -> list[str]:
            return ["as chosen", "meets", "does not"]

        def estimate(self, experiment: str, metric: str, **where: object) -> Estimate:
            (row,) = self.rows(experiment, **where)
            value = float(str(row[metric]))
            return Estimate(value, value - 1e-4, value + 1e-4, 5)

    rows: list[dict[str, object]] = [
        {"choice": choice, column: value, **where}
        for choice, value in (("as chosen", outside), ("meets", inside), ("does not", outside))
    ]
    judge = PUBLISHED.measurement("turned_by_choices")
    kept = Choices(**{"sensitivity": rows, experiment: rows})
    assert judge(kept, statement, "differs") == ("the chosen settings (with meets it agrees)",)
    # What is decided as the choice decides it is not turned.
    assert judge(kept, statement, "not decidable") == ()


CASES = ("reference", "doubled BER", "doubled handover probability", "high background load", "batch arrivals")


class Tried(Kept):
    """Rows of a study with one choice beside the chosen settings."""

    def labels(self, _experiment: str, _dimension: str) -> list[str]:
        return ["as chosen", "another"]

    def estimate(self, experiment: str, metric: str, **where: object) -> Estimate:
        return mean([float(str(row[metric])) for row in self.rows(experiment, **where)])

    def compared(
        self, experiment: str, metric: str, _how: str, other: dict[str, object], **where: object
    ) -> Estimate:
        pairs = [[float(str(row[metric])) for row in self.rows(experiment, **at)] for at in (where | other, where)]
        return paired_difference(*pairs)


def _tried(
    labels: list[dict[str, str]], column: str, chosen: list[float], another: list[float]
) -> list[dict[str, object]]:
    """Rows of two replications, with a value of the chosen settings and of the other choice for each set of labels."""
    return [
        {"choice": choice, "replication": replication, column: value + 0.001 * replication, **at}
        for choice, values in (("as chosen", chosen), ("another", another))
        for at, value in zip(labels, values, strict=True)
        for replication in range(2)
    ]


@pytest.mark.parametrize(
    ("statement", "experiment", "labels", "column", "agrees", "differs"),
    [
        # Above high load's 20 in each other case; with the choice, not with batches.
        (
            "3f",
            "sensitivity",
            [{"situation": case} for case in CASES],
            "throughput_teo",
            [29, 28, 27, 20, 29],
            [29, 28, 27, 20, 19],
        ),
        # 0.95 of the closed form's 0.8277 are 0.786, and 0.95 of its 0.776 with doubled BER 0.737.
        (
            "4c",
            "sensitivity",
            [{"situation": case} for case in CASES],
            "ratio",
            [0.82, 0.77, 0.82, 0.81, 0.82],
            [0.82, 0.6, 0.82, 0.81, 0.82],
        ),
        (
            "4d",
            "rto-choices",
            [{"retransmission_timer": of} for of in ("adapting", "held")],
            "timeouts",
            [1, 4],
            [4, 1],
        ),
        (
            "5f",
            "cause-choices",
            [{"cause": of} for of in ("errors and handovers", "no errors")],
            "mean_delay_s",
            [2, 1],
            [1, 2],
        ),
        (
            "5g",
            "cause-choices",
            [{"cause": of} for of in ("errors and handovers", "no handovers")],
            "mean_delay_s",
            [2, 1],
            [1, 2],
        ),
    ],
)
def test_a_choice_against_a_statement_turns_the_verdict(
    statement: str,
    experiment: str,
    labels: list[dict[str, str]],
    column: str,
    agrees: list[float],
    differs: list[float],
) -> None:
    judge = PUBLISHED.measurement("turned_by_choices")

    def turned(chosen: list[float], another: list[float]) -> tuple[str, ...]:
        rows = _tried(labels, column, chosen, another)
        found: tuple[str, ...] = judge(Tried(**{"sensitivity": rows, experiment: rows}), statement, "agrees")
        return found

    assert turned(agrees, differs) == ("the chosen settings (with another it differs)",)
    assert turned(agrees, agrees) == turned(differs, differs) == ()


def test_a_choice_with_timeouts_or_shorter_delays_in_the_burst_turns_the_verdict() -> None:
    def rows(choice: str, in_burst_s: float, timeouts: int, runs: int) -> list[dict[str, object]]:
        return [
            {
                "choice": choice,
                "arrivals": "Poisson arrivals",
                "replication": replication,
                "from_s": part / 2,
                "segments": 10,
                "mean_delay_s": in_burst_s + 0.001 * replication if 10 <= part < 20 else 0.1,
                "timeouts": timeouts,
            }
            for replication in range(runs)
            for part in range(40)
        ]

    judge = PUBLISHED.measurement("turned_by_choices")
    turned = ("the chosen settings (with another it differs)",)
    # The sign test: six runs that all change alike are no chance, five may be.
    for runs, without_timeout in ((6, turned), (5, ())):
        kept = Tried(**{"burst-choices": rows("as chosen", 0.3, 0, runs) + rows("another", 0.05, 1, runs)})
        assert judge(kept, "6a", "agrees") == turned
        assert judge(kept, "6b", "agrees") == without_timeout
    # A quick look has no runs of choices.
    nothing = Tried(**{"burst-choices": [], "sensitivity": []})
    assert [judge(nothing, statement, "agrees") for statement in ("6a", "4c")] == [(), ()]


def test_an_rto_is_held_at_the_least_value_that_a_choice_has() -> None:
    points = study.definition.points(PUBLISHED, PUBLISHED.experiment("rto-choices"), "full")
    held = {p.labels["choice"]: p.settings for p in points if p.labels["retransmission_timer"] == "held"}
    for choice, settings in held.items():
        least = settings.get("flow.data.transport.min_rto", "2s")
        assert settings["flow.data.transport.max_rto"] == settings["flow.data.transport.initial_rto"] == least, choice


def test_the_tail_with_batches_is_not_decidable_without_their_size() -> None:
    class Shares:
        def __init__(self, of_50: Estimate, of_100: Estimate) -> None:
            self.shares = {"batch arrivals": of_50, "batches of 100": of_100}

        def estimate(self, _experiment: str, _metric: str, arrivals: str) -> Estimate:
            return self.shares[arrivals]

    def around(mean: float) -> Estimate:
        return Estimate(mean, mean - 0.012, mean + 0.012, 10)

    judge = PUBLISHED.measurement("tail_with_batches")
    finding = judge(Shares(around(0.107), around(0.224)))
    assert finding.verdict == "not decidable"
    assert finding.rests_on == ("the size of batches, which is not published",)
    assert finding.ours == "10.7 ± 1.2 % with batches of 50, 22.4 ± 1.2 % with batches of 100"
    assert judge(Shares(around(0.107), around(0.2))).verdict == "not decidable"
    assert judge(Shares(around(0.19), around(0.2))).verdict == "agrees"
    assert judge(Shares(around(0.05), around(0.107))).verdict == "differs"
    assert judge(Shares(around(0.3), around(0.4))).verdict == "differs"


def test_subfield_errors_are_read_from_the_attempts_of_packets() -> None:
    # At a ratio of 1/2 a packet is incomplete after k of ten attempts with 1 - (1 - 2^-k)^4: 1 + 0.9375 + 0.68359 +
    # 0.41382 + 0.22752 + 0.11926 + 0.06105 + 0.03089 + 0.01553 + 0.00779 = 3.49696 attempts.
    row = {"attempts_up": 349696, "attempts_down": 349696, "packets_up": 100000, "packets_down": 100000}
    assert PUBLISHED.function("subfield_error_ratio")(row) == pytest.approx(0.5, abs=1e-5)
    for (state, factor), (published, half_digit) in PUBLISHED.function("PUBLISHED_SUBFIELD_ERRORS").items():
        ber = {"good": 1.7e-4, "bad": 3e-3}[state] * factor
        assert dect.failure(ber, dect.SUBFIELD_BITS) == pytest.approx(published, abs=half_digit)


def test_attempts_are_told_by_procedure() -> None:
    counts = {"attempts": 13, "bearers_obtained": 9, "bearers_lost": 1}
    rows = [
        {
            "case": "reference",
            "offered": 50,
            "type": kind,
            "procedure": procedure,
            "bearers_tried": tried,
            "bearers_tried_again": tried * 3 // 10,
            **counts,
        }
        for kind in ("P08j", "P32", "P80", "Data", "User")
        for procedure, tried in (("Bearer_HO", 10), ("Connection_Mod", 0))
        for _ in range(2)
    ]
    table = PUBLISHED.exhibit("procedures")(Kept(dect_procedures=rows))
    assert [row["type"] for row in table] == ["the terminal", "P08j", "P32", "P80", "Data"]
    first = table[0]
    assert (first["procedure"], first["bearers tried"], first["attempts a bearer"], first["lost"]) == (
        "Bearer_HO",
        20,
        1.3,
        2,
    )
    assert first["more than one attempt (%)"].startswith("30")


def test_cases_whose_mac_is_the_same_share_a_row() -> None:
    class Cases(Kept):
        def labels(self, _experiment: str, _dimension: str) -> list[str]:
            return ["reference", "doubled BER", "high background load"]

    rows = [
        {"case": case, "offered": 50, "type": "User", "procedure": "Bearer_HO", "bearers_tried": tried}
        | {"bearers_tried_again": 1, "attempts": 13, "bearers_obtained": 9, "bearers_lost": 1}
        for case, tried in (("reference", 10), ("doubled BER", 10), ("high background load", 20))
    ]
    table = PUBLISHED.exhibit("procedures")(Cases(dect_procedures=rows))
    assert [(row["case"], row["bearers tried"]) for row in table] == [
        ("reference, doubled BER", 10),
        ("high background load", 20),
    ]


def test_the_published_limits_are_drawn_beside_each_case() -> None:
    class Throughput:
        def labels(self, _experiment: str, _dimension: str) -> list[str]:
            return ["reference", "high background load"]

        def curve(self, _experiment: str, _metric: str, _x: str, **_where: object) -> dict[float, Estimate]:
            return {20.0: Estimate(20, 19, 21, 4), 50.0: Estimate(30, 29, 31, 4)}

        def estimate(self, _experiment: str, _metric: str, **_where: object) -> Estimate:
            return Estimate(30, 29, 31, 4)

    rows = PUBLISHED.exhibit("figure_5")(Throughput())["data"]["values"]
    bands = {row["panel"]: row for row in rows if row["series"] == "published limit of TH"}
    # 76 to 80 % of 30; 83 % of 30.
    first, second = bands.values()
    assert (first["low"], first["high"]) == (pytest.approx(22.8), pytest.approx(24.0))
    assert (second["low"], second["mean"], second["high"]) == (pytest.approx(24.9),) * 3
    # The reference case has the two published values beside the three curves, the other none.
    panels = [{row["series"] for row in rows if row["panel"] == panel} for panel in bands]
    assert panels[0] - panels[1] == {"TH, published", "TH_teo, published"}
