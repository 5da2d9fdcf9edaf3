"""What `--vary` accepts, and what it makes of it."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT
from roamsim.errors import UsageError
from roamsim.scenarios.notation import rewritten
from roamsim.scenarios.ranges import written_value
from roamsim.scenarios.vary import alike, parse_variation, product, quantity, variation, variations


def toml(text: str) -> list[str]:
    return [value.toml for value in parse_variation(text).values]


def test_a_range_has_exact_decimal_steps_and_includes_its_end() -> None:
    values = toml("loss=0:0.5:0.01")
    assert len(values) == 51
    assert values[:4] == ["0", "0.01", "0.02", "0.03"]
    assert values[29] == "0.29"  # 29 * 0.01 in binary floating point is 0.29000000000000004
    assert values[-1] == "0.5"


def test_a_range_keeps_its_unit() -> None:
    assert toml("delay=10ms:30ms:10ms") == ["10ms", "20ms", "30ms"]
    assert toml("delay=0:30ms:15ms") == ["0ms", "15ms", "30ms"]
    assert toml("rate=1.5Mb/s:3Mb/s:0.5Mb/s") == ["1.5Mb/s", "2Mb/s", "2.5Mb/s", "3Mb/s"]


def test_a_range_may_fall() -> None:
    assert toml("x=3:1:-1") == ["3", "2", "1"]


@pytest.mark.parametrize(
    ("spec", "ranges"),
    [
        ("1ms:6ms:2ms", "1ms:5ms:2ms or 1ms:7ms:2ms"),
        ("0:1:0.3", "0:0.9:0.3 or 0:1.2:0.3"),
        ("5:1:-3", "5:2:-3 or 5:-1:-3"),
        ("1:2:3", "1:1:3 or 1:4:3"),
    ],
)
def test_a_range_whose_end_no_step_reaches_is_refused(spec: str, ranges: str) -> None:
    with pytest.raises(UsageError, match="do not reach its end") as caught:
        toml(f"x={spec}")
    assert f"write {ranges}" in str(caught.value)


def test_a_list_may_hold_words_ranges_and_tables() -> None:
    assert toml("variant=reno,newreno") == ["reno", "newreno"]
    assert toml("p=0.001,0.01:0.03:0.01") == ["0.001", "0.01", "0.02", "0.03"]
    assert toml("queue={ packets = 10, x = 1 },{ packets = 20 }") == ["{ packets = 10, x = 1 }", "{ packets = 20 }"]
    assert toml('name="a,b",c') == ['"a,b"', "c"]


def test_values_are_shown_as_what_they_are() -> None:
    shown = [value.shown for value in parse_variation('x=1,0.5,true,10ms,"text"').values]
    assert shown == [1, 0.5, True, "10ms", "text"]


def test_a_path_may_name_several_places() -> None:
    scenario = {
        "wifi": [{"name": "west", "rate": "1Mb/s"}, {"name": "east", "rate": "2Mb/s"}],
        "link": [{"name": "a+b", "rate": "3Mb/s"}],
    }
    of = {path: written_value(scenario, path) for path in ("wifi.e*t.rate", 'link."a+b".rate', "wifi.x*.rate")}
    assert [value and value.toml for value in of.values()] == ["2Mb/s", "3Mb/s", None]
    # Of several places, the first one says it.
    joined = written_value(scenario, 'wifi.*.rate+link."a+b".rate')
    assert joined is not None and joined.toml == "1Mb/s"
    assert [v.toml for v in parse_variation("wifi.*.queue.packets+link.x.queue.packets=5,9").values] == ["5", "9"]


def test_several_variations_make_the_product_and_the_last_changes_fastest() -> None:
    points = product([parse_variation("a=1,2"), parse_variation("b=x,y")])
    assert [(p["a"].toml, p["b"].toml) for p in points] == [("1", "x"), ("1", "y"), ("2", "x"), ("2", "y")]
    assert product([]) == [{}]


def test_python_values_become_toml() -> None:
    values = variation("x", [1, 0.25, "10ms", True, {"packets": 5}]).values
    assert [v.toml for v in values] == ["1", "0.25", "10ms", "true", "{ packets = 5 }"]


@pytest.mark.parametrize(
    ("line", "value", "toml"),
    [
        ('"1s"', "1s", "1s"),
        ("'reno'", "reno", "reno"),
        ('"a,b"', "a,b", '"a,b"'),
        ('"true"', "true", '"true"'),
        ('"5"', "5", '"5"'),
        ('" x"', " x", '" x"'),
        ('""', "", '""'),
        ("true", True, "true"),
        ("1_000", 1000, "1000"),
        ("0x10", 16, "16"),
        ("0.10", 0.1, "0.1"),
        ("1e-7", 1e-7, "0.0000001"),
        ("1e3", 1000.0, "1000.0"),
        ("1e22", 1e22, "1e+22"),
        ("1e-300", 1e-300, "1e-300"),
        ('{"a b"=1,c=["x",0.50]}', {"a b": 1, "c": ["x", 0.5]}, '{ "a b" = 1, c = ["x", 0.5] }'),
    ],
)
def test_a_value_is_written_in_one_form_wherever_it_comes_from(line: str, value: object, toml: str) -> None:
    (of_line,), (of_python,) = parse_variation(f"x={line}").values, variation("x", [value]).values
    assert of_line.toml == of_python.toml == toml
    assert rewritten(toml) == toml


def test_a_text_that_is_no_value_is_left_to_the_scenario() -> None:
    assert toml("x=1979-05-27,inf") == ["1979-05-27", "inf"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1s", "1000ms", True),
        ("1500B", "1.5kB", True),
        ("1", "1.0", True),
        ("{ a = 1, b = 2 }", "{ b = 2, a = 1.0 }", True),
        ("1", "true", False),
        ("1", '"1"', False),
        ("1s", "1m", False),
        ("reno", "cubic", False),
        ("[1, 2]", "[2, 1]", False),
    ],
)
def test_values_that_say_the_same_are_alike(one: str, other: str, same: bool) -> None:
    assert (alike(one) == alike(other)) is same
    if same:
        with pytest.raises(UsageError, match=r"is there twice, as .* too; leave one out"):
            parse_variation(f"x={one},{other}")


def test_tables_are_shown_in_words() -> None:
    spec = 'flow.f.transport={ protocol = "tcp", variant = "sack", vegas = { alpha = 1 } },{ protocol = "sctp", ordered = false }'
    values = parse_variation(spec).values
    assert [value.shown for value in values] == ["tcp sack vegas.alpha=1", "sctp ordered=false"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("loss", "PATH=SPEC"),
        ("=1,2", "PATH=SPEC"),
        ("loss=", "PATH=SPEC"),
        ("loss=1,,2", "empty value"),
        ("loss=1,2,1", "twice"),
        ("loss=0:1:0", "step of 0"),
        ("loss=0:1:-0.1", "does not lead"),
        ("loss=0:1:0.0000001", "more than"),
        ("delay=1ms:1B:1ms", "do not measure the same thing"),
        ("delay=10ms:50ms", "has no step"),
        ("delay=10ms..50ms", "'10ms..50ms' has no step"),
        ("delay=10ms - 50ms", "has no step"),
        ("delay=10ms to 50ms", "has no step"),
        ("loss=0-0.5", "has no step"),
        ("x=a:b:c", "not a range"),
        ("delay=0:9e9999999:1", "'0:9e9999999:1' is not a range"),
        ("delay=0:1:1e-9999999", "not a range"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_variation(text)


@pytest.mark.parametrize("value", ["1e-3", "1979-05-27", "a-b", "10to20", '"2001-10"', "-5"])
def test_other_texts_with_a_dash_are_no_ranges(value: str) -> None:
    assert len(parse_variation(f"x={value}").values) == 1


@pytest.mark.parametrize("value", [0.1, None, True, {"protocol": "tcp"}, b"ab"])
def test_what_is_no_list_of_values_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match=r"^x: .* is not a list of values; write \["):
        variations({"x": value})  # type: ignore[dict-item]


def test_a_product_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a, b have 1,001,000 combinations, more than 1,000,000; vary fewer values"):
        product([parse_variation("a=1:1001:1"), parse_variation("b=1:1000:1")])


def test_a_range_may_have_several_units() -> None:
    assert [value.toml for value in parse_variation("x=3.6km/h:3m/s:1m/s").values] == [
        "3.6km/h",
        "7.2km/h",
        "10.8km/h",
    ]
    values = parse_variation("link.line.delay=200ms:2s:600ms").values
    assert [value.toml for value in values] == ["200ms", "800ms", "1400ms", "2000ms"]
    # A text with one colon is no range.
    assert [value.toml for value in parse_variation("x=a:b").values] == ["a:b"]


def test_a_path_may_be_varied_once() -> None:
    with pytest.raises(UsageError, match="varied twice"):
        product([parse_variation("a=1,2"), parse_variation("a=3")])


@pytest.mark.parametrize(
    ("first", "second", "complaint"),
    [
        ("wifi.a.rate", "wifi.*.rate", r"wifi\.a\.rate is varied without effect"),
        ("wifi.*.queue.packets", "wifi.*.queue", "without effect"),
        ("wifi.*.rate", "wifi.*.rate", "varied twice"),
        ("link.a.delay+link.b.delay", "link.b+link.a", "without effect"),
        ("link.b.delay", "link.a.delay+link.b.delay", "without effect"),
        # Some of the places are left, or all: the later one names others.
        ("wifi.*.rate", "wifi.a.rate", None),
        ("link.a.delay+link.b.delay", "link.b.delay", None),
        ('wifi."b*".rate', "wifi.a*.rate", None),
        ("wifi.bs.rate", 'wifi."b*".rate', None),
        ("wifi.a.rate", "wifi.b*.rate", None),
    ],
)
def test_paths_to_several_places_are_varied_in_vain_if_all_of_them_are_set_behind(
    first: str, second: str, complaint: str | None
) -> None:
    varied = [parse_variation(f"{first}=1,2"), parse_variation(f"{second}=3")]
    if complaint is None:
        assert len(product(varied)) == 2
    else:
        with pytest.raises(UsageError, match=complaint):
            product(varied)


def test_every_unit_of_a_scenario_is_known() -> None:
    listed = re.findall(r'unit\("(.+?)"', (ROOT / "crates/scenario/src/units/quantity.rs").read_text())
    assert len(listed) > 20
    assert [unit for unit in listed if quantity(f"1{unit}") is None] == []


def test_quantities_as_numbers() -> None:
    assert quantity("10ms") == (0.01, "s")
    assert quantity("11Mb/s") == (11e6, "bps")
    assert quantity("64kB") == (64e3, "bytes")
    assert quantity("170m") == (170.0, "m")
    # The number is refused where the scenario is read; here it is a text.
    assert quantity("9e9999999s") is None
    assert parse_variation("delay=9e9999999s,1s").values[0].shown == "9e9999999s"
    assert quantity("1.5m/s") == (1.5, "mps")
    assert quantity("5MHz") == (5e6, "hz")
    assert quantity("-80dBm") == (-80.0, "dbm")
    assert quantity("36km/h") == (10.0, "mps")
    assert quantity("1Tb/s") == (1e12, "bps")
    assert quantity("newreno") is None
    assert quantity("5") is None
