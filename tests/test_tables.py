"""Tables for readers: one number format a column, short keys, rows as lists on a narrow terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
import roamsim as package
from conftest import Command
from rich.console import Console
from roamsim.cli import summary
from roamsim.estimates import summaries
from roamsim.pages.page import Report
from roamsim.pictures.bars import Bars, _view
from roamsim.pictures.timed import Marks, Panel, _columns, _read
from roamsim.study.judging import number
from roamsim.tables.cells import estimated, instants, numbers
from roamsim.tables.metrics import numeric
from roamsim.tables.significant import d3_format
from roamsim.tables.values import duration, percent, plain, shown_value
from roamsim.tables.words import count, digits

LOSS = "link.path.loss.probability"


def test_one_of_a_kind_is_singular() -> None:
    assert [count(number, "more row", ",") for number in (0, 1, 2, 1234)] == [
        "0 more rows", "1 more row", "2 more rows", "1,234 more rows",
    ]  # fmt: skip
    # What rounds to one reads as one.
    assert count(1.2, "attempt", ",.0f") == "1 attempt"
    assert count(1.2, "attempt") == "1.2 attempts"


def test_numbers_of_a_column_have_one_format() -> None:
    assert [str(cell) for cell in numbers([0.5, 1.23456, 12.3456, None])] == ["0.50", "1.23", "12.35", "–"]
    assert [cell.exact for cell in numbers([0.5, None])] == ["0.5", "–"]
    # What would read as zero and is none is less than what the column can say; what is zero is so.
    waiting = [32.6312, 21.6, 0.227, 0.0824, 0.157, 6.01e-7, -6e-7, 0.0]
    assert [str(cell) for cell in numbers(waiting)] == [
        "32.63", "21.60", "0.23", "0.08", "0.16", "<0.01", ">-0.01", "0",
    ]  # fmt: skip
    assert [str(cell) for cell in numbers([2.16, 5.54e-6, 0.681, 2.77e-6])] == ["2.160", "<0.001", "0.681", "<0.001"]
    # Where all are too small for digits behind the point, all have powers of ten.
    assert [str(cell) for cell in numbers([1.23456e-9, 2.0e-8, 0.0])] == ["1.23·10⁻⁹", "2.00·10⁻⁸", "0"]
    assert [str(cell) for cell in numbers([1234567.8, 0.5e6])] == ["1\u202f234\u202f568", "500\u202f000"]
    # Two digits of the median are enough where the largest has four then; not fewer, however large it is.
    assert [str(cell) for cell in numbers([1.03322, 0.00536])] == ["1.0332", "0.0054"]
    assert [str(cell) for cell in numbers([212.418, 8.163])] == ["212.4", "8.2"]
    # Those that were chosen keep the digits that they have.
    assert [str(cell) for cell in numbers([28.8, 54.0, 1000.0, 1500.0])] == ["28.8", "54", "1000", "1500"]


def test_a_share_that_nobody_would_miss_is_told_without_its_digits() -> None:
    assert [percent(share) for share in (0.0, 7.99e-6, 0.0001, 0.123456, 1.0)] == [
        "0 %", "below 0.01 %", "0.01 %", "12.3 %", "100 %",
    ]  # fmt: skip


def test_what_nobody_would_miss_has_no_digits_in_a_column_of_one_run() -> None:
    used = [2.17e-6, 2.595e-5, 2.3595e-4, 0.0]
    assert [str(cell) for cell in estimated(numeric("links", "utilisation"), used, used, used)[1]] == [
        "0.0002", "0.0026", "0.0236", "0",
    ]  # fmt: skip
    waiting = [5.84e-7, 1.57e-6, 0.0]
    assert [str(cell) for cell in estimated(numeric("links", "mean_queue_packets"), waiting, waiting, waiting)[1]] == [
        "<0.0001", "<0.0001", "0",
    ]  # fmt: skip
    # Intervals say how many digits there are.
    heard = estimated(numeric("links", "mean_queue_packets"), [2e-9, 3e-9], [1.7e-9, 2.6e-9], [2.3e-9, 3.4e-9])[1]
    assert [str(cell) for cell in heard] == ["2.00·10⁻⁹ ± 3.00·10⁻¹⁰", "3.00·10⁻⁹ ± 4.00·10⁻¹⁰"]
    # A delay is as short as it is.
    short = [2.57e-7, 4.1e-7]
    assert [str(cell) for cell in estimated(numeric("flows", "jitter_s"), short, short, short)[1]] == ["257", "410"]


def test_a_mean_stands_with_two_digits_of_its_interval() -> None:
    rate = numeric("flows", "goodput_bps")
    heading, cells = estimated(rate, [1.012e6, 2.5e6], [0.862e6, 2.38e6], [1.162e6, 2.62e6])
    assert heading == "goodput, Mb/s"
    assert [str(cell) for cell in cells] == ["1.01 ± 0.15", "2.50 ± 0.12"]
    assert cells[0].exact == "1012000.0 (862000.0 to 1162000.0)"
    # The interval of a share is not as wide to both sides; a mean of one run has none.
    heading, cells = estimated(numeric("signalling", "success_rate"), [0.95, 0.9], [0.8, None], [0.99, None])
    assert heading == "success rate, %"
    assert [str(cell) for cell in cells] == ["95.0 (80.0 to 99.0)", "90.0"]


def test_means_that_hardly_vary_have_no_column_of_zeros() -> None:
    queue = numeric("links", "mean_queue_packets")
    # The interval of the second would ask for nine digits.
    _, cells = estimated(queue, [12.3456, 0.5, 0.0], [12.3456, 0.499999999, 0.0], [12.3456, 0.500000001, 0.0])
    assert [str(cell) for cell in cells] == ["12.3456", "0.5000 ± <0.0001", "0"]
    # Where intervals differ by orders of magnitude each mean has the digits of its own.
    _, cells = estimated(queue, [10.0, 0.5], [7.0, 0.498], [13.0, 0.502])
    assert [str(cell) for cell in cells] == ["10.0 ± 3.0", "0.5000 ± 0.0020"]
    # Counts are whole, of a run as of several that counted the same.
    # Beside a queue one that hardly is: no powers of ten. Two digits of half of 1.7; five behind the point at most.
    _, cells = estimated(queue, [1.3, 7e-5, 6e-5], [0.45, 0.0, 0.0], [2.15, 1.4e-4, 1.2e-4])
    assert [str(cell) for cell in cells] == ["1.30 ± 0.85", "0.00007 ± 0.00007", "0.00006 ± 0.00006"]
    _, cells = estimated(queue, [62.0, 136.0], [62.0, None], [62.0, None])
    assert [str(cell) for cell in cells] == ["62", "136"]


def test_instants_are_told_apart() -> None:
    (begun, done) = instants([[41.186067184, 16.9], [41.186389184, None]])
    assert [str(cell) for cell in begun] == ["41.1861", "16.9000"]
    assert [str(cell) for cell in done] == ["41.1864", "–"]
    assert begun[0].exact == "41.186067184"
    assert [str(cell) for cell in instants([[1.0, 1.0 + 1e-9]])[0]] == ["1.000000", "1.000000"]
    assert [str(cell) for cell in instants([[0.25]])[0]] == ["0.250"]
    # Far apart they are as exact, and a rounding makes no two of them equal.
    assert [str(cell) for cell in instants([[11.0592, 31.0772]])[0]] == ["11.059", "31.077"]
    assert [str(cell) for cell in instants([[10.4, 10.4004, 10.40061]])[0]] == ["10.4000", "10.4004", "10.4006"]


def test_a_row_is_told_by_what_was_varied_and_by_what_differs(scenario: Path) -> None:
    results = package.sweep(scenario, {"link.path.delay": "10ms,20ms"}, replications=2)
    (first, second) = summaries.summary(results, "flows", ["goodput_bps"])
    assert list(first) == ["delay", "goodput, Mb/s"]
    assert (first["delay"], second["delay"]) == ("10 ms", "20 ms")
    links = summaries.summary(results, "links", ["utilisation"])
    assert [(row["delay"], row["name"]) for row in links[:2]] == [
        ("10 ms", "path from server"), ("10 ms", "path from phone"),
    ]  # fmt: skip


def printed(
    monkeypatch: pytest.MonkeyPatch, frame: polars.DataFrame, *, vertical: bool = False, width: int = 40
) -> str:
    """What a terminal of that width shows of a frame."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    monkeypatch.setattr(summary, "on_stdout", lambda: console)
    summary.print_frame(frame, vertical=vertical)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_rows_that_are_too_wide_for_a_terminal_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = polars.DataFrame({"name": ["a [b]", "c"], "value": [1, 2]})
    assert printed(monkeypatch, narrow).splitlines()[1].split() == ["a", "[b]", "1"]
    as_list = ["row 1", "  name   a [b]", "  value  1", "row 2", "  name   c", "  value  2"]
    assert printed(monkeypatch, narrow, vertical=True).splitlines() == as_list
    wide = polars.DataFrame({f"column {n}": [n] for n in range(9)})
    shown = printed(monkeypatch, wide).splitlines()
    assert shown == [f"  column {n}  {n}" for n in range(9)]
    # 40 cells without two blanks and names of 10: 28, of which the first two take 5 and 14, so the third begins anew.
    three = polars.DataFrame({f"a column {n}": ["one", "two and more", "three and more"] for n in range(9)})
    shown = printed(monkeypatch, three).splitlines()
    assert shown[:9] == [f"  a column {n}  one  two and more" for n in range(9)]
    assert shown[9:] == ["", *(f"  a column {n}  three and more" for n in range(9))]
    # A value that is wider than the terminal: a list, and the terminal breaks the line.
    long = polars.DataFrame({f"column {n}": ["x" * 40, "y"] for n in range(2)})
    expected = [line for row in ("x" * 40, "y") for line in (f"  column {n}  {row}" for n in range(2))]
    assert [line for line in printed(monkeypatch, long).splitlines() if line[0] == " "] == expected


def test_a_sweep_without_a_folder_prints_its_table(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    done = roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02,0.05", "--replications", "3")
    lines = done.stdout.splitlines()
    assert lines[0] == "Both kinds of traffic  2 points, 6 runs, seed 1"
    head = next(number for number, line in enumerate(lines) if "goodput, Mb/s" in line)
    assert [line.split()[0] for line in lines[head + 1 : head + 3]] == ["0.02", "0.05"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scenario.toml"]
    for more in (["--trace", "cwnd"], ["--shard", "1/2"]):
        assert "--out DIR" in roamsim("sweep", scenario, "--vary", f"{LOSS}=0.02", *more, code=2).stderr
    assert "--vertical" in roamsim("query", "out", "select 1", "--vertical", "--json", code=2).stderr


def test_a_table_for_readers_has_words_units_and_no_empty_column() -> None:
    frame = polars.DataFrame(
        {
            "name": ["air"], "type": ["P32"], "calls": [257.0], "blocked_share": [0.00778], "mean_bearers": [100.8],
            "dropped_share": [None],
        },
        schema_overrides={"dropped_share": polars.Float64},
    )  # fmt: skip
    (row,) = summaries.worded("dect_terminals", frame)
    assert {head: str(value) for head, value in row.items()} == {
        "name": "air", "type": "P32", "calls": "257", "blocked share, %": "0.778", "mean bearers": "101",
    }  # fmt: skip


def test_packets_that_were_dropped_do_not_hide_the_packets_that_were_varied(scenario: Path, tmp_path: Path) -> None:
    results = package.sweep(scenario, {"link.path.queue.packets": "5,20", LOSS: "0.02"}, out=tmp_path / "out")
    rows = summaries.dropped(results)
    varied = dict.fromkeys(row["queue length"] for row in rows)
    assert list(varied) == [
        str(value) for value in results["drops"]["link.path.queue.packets"].unique(maintain_order=True)
    ]
    assert [row["dropped, packets"] for row in rows] == results["drops"]["packets"].to_list()


def test_numbers_beside_texts_have_one_format_too() -> None:
    page = Report("t")
    page.table([{"delay": "1.7 ± 1.0"}, {"delay": 1.6956}, {"delay": 3.952e-5}, {"delay": 20.77}])
    assert re.findall(r"<td[^>]*>(.*?)</td>", page.html()) == ["1.7 ±\u00a01.0", "1.70", "&lt;0.01", "20.77"]


def test_a_number_that_nobody_would_miss_has_no_exponent() -> None:
    assert [plain(number) for number in (6e-7, -6e-7, 0.001, 17.3456, 0.0)] == [
        "below 0.001", "above -0.001", "0.001", "17.35", "0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "shown", [digits, plain, shown_value, number, lambda value: duration(value).removesuffix(" s")]
)
def test_integers_are_shown_whole(shown: Callable[[float], str]) -> None:
    # Four significant digits of 16379 would be 16380, the number that was published beside it.
    assert shown(16379.0) == "16379"
    assert shown(1234567.0) == "1\u202f234\u202f567"
    assert (shown(1234.4), shown(16379.4)) in (("1234", "16379"), ("1234.4", "16379"))


def test_what_is_drawn_of_integers_is_whole() -> None:
    frame = polars.DataFrame({"t": [0.0, 1.0], "v": [123456789.0, 1.23456789]})
    assert _columns(frame)["v"] == "123456789.0,1.234568"
    panel = Panel("packets", [Marks("one", "#000", "dot", frame)], 100)
    assert {entry["title"]: entry.get("format") for entry in _read("dot", panel)}["value"] == ".9~g"
    assert d3_format([16379, None, 0.5], 4) == ".5~g"
    assert d3_format([0.001], 4) == ".4~g"
    bars = Bars("packets", ["a"], {"sent": [16379.0]})
    assert _view(bars, 0)["encoding"]["tooltip"][2]["format"] == ".5~g"
