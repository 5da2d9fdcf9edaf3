"""The command as a user meets it: what it prints, where it prints it, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import polars
import pytest
import roamsim as package
from conftest import ROOT, SCENARIO, Command, environment
from one_link import one_link
from roamsim.cli.app import app
from typer.testing import CliRunner


def starts(*arguments: str) -> float:
    """Processor time of a command of this Python, in starts of the bare interpreter.

    Seconds say more about the machine and what else runs there. How quick it is changes by the minute: each of seven
    commands is held against the starts right before and after it, and the median of these counts.
    """

    def once(*command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=environment())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def bare() -> list[float]:
        return [once("-c", "pass") for _ in range(2)]

    def ratio() -> float:
        before, command, after = bare(), once(*arguments), bare()
        return command / median(before + after)

    once(*arguments)
    return median(ratio() for _ in range(7))


# At rest a bare interpreter starts in 14 to 17 ms: these are 150 ms and half a second.
def test_help_answers_at_once() -> None:
    assert starts("-m", "roamsim", "--help") < 11


def test_a_short_run_takes_no_time(tmp_path: Path) -> None:
    flow = 'name = "f"\ntransport = { protocol = "tcp" }\napplication = { kind = "bulk" }'
    (tmp_path / "s.toml").write_text(one_link('name = "l"\nrate = "10Mb/s"\ndelay = "1ms"', flow, duration="4ms"))
    # 18 are measured, and 36 with polars.
    assert starts("-m", "roamsim", "run", str(tmp_path / "s.toml")) < 27


def test_a_first_run_takes_no_time(scenario: Path) -> None:
    assert starts("-c", f"import roamsim; roamsim.run({str(scenario)!r})") < 30


@pytest.mark.parametrize("arguments", [["--help"], ["sweep", "--help"], ["study", "--help"], ["--version"]])
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    heavy = "polars numpy matplotlib altair duckdb vl_convert rich distributed fsspec pandas pyarrow jinja2"
    code = (
        "import sys\n"
        "from roamsim.__main__ import main\n"
        f"sys.argv[1:] = {arguments}\n"
        "try: main()\n"
        f"finally: there = [m for m in {heavy.split()} if m in sys.modules]; "
        # A package that nobody has used yet has a stand-in.
        "print([m for m in there if type(sys.modules[m]).__name__ != '_Late'], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment())
    assert done.stderr.strip() == "[]"
    assert done.stdout


def test_version(roamsim: Command) -> None:
    assert roamsim("--version").stdout == f"roamsim {package.__version__}\n"


def test_the_scenario_of_init_is_valid_and_runs(roamsim: Command, tmp_path: Path) -> None:
    assert roamsim("init").stdout == "scenario.toml\n"
    assert "valid" in roamsim("check", "scenario.toml").stdout
    roamsim("run", "scenario.toml", "--set", "scenario.duration=20s")
    assert "exists already" in roamsim("init", code=2).stderr
    assert roamsim("init", "-").stdout == (tmp_path / "scenario.toml").read_text()


def test_the_phone_of_init_comes_with_its_trace_and_runs(roamsim: Command, tmp_path: Path) -> None:
    assert roamsim("init", "new/phone.toml", "--kind", "phone").stdout == "new/phone.toml\n"
    trace = tmp_path / "new" / "traces" / "cellular-down.trace"
    assert "valid" in roamsim("check", "new/phone.toml").stdout
    shown = roamsim("run", "new/phone.toml").stdout
    head = next(line for line in shown.splitlines() if line.startswith("phone  phone"))
    assert head.split()[2:6] == ["preference", "redirect", "3", "0"]
    # A second one beside it reads the same trace; another file of its name is not overwritten.
    roamsim("init", "new/other.toml", "--kind", "phone")
    trace.write_text("1\n")
    assert "is another file" in roamsim("init", "new/third.toml", "--kind", "phone", code=2).stderr
    assert not (tmp_path / "new" / "third.toml").exists() and trace.read_text() == "1\n"
    printed = roamsim("init", "-", "--kind", "phone")
    assert printed.stdout == (tmp_path / "new" / "phone.toml").read_text()
    assert "reads traces/cellular-down.trace" in printed.stderr


def test_the_summary_of_one_run_has_a_row_a_handover_and_of_several_their_number(roamsim: Command) -> None:
    example = Path(__file__).parent.parent / "examples" / "mobile-ip.toml"
    one = roamsim("run", example).stdout
    rows = [line for line in one.splitlines() if line.startswith("terminal  mobile_ip")]
    assert len(rows) == 3
    assert [row.split()[-12:-10] for row in rows] == [["26.51", "s"], ["56.93", "s"], ["106.9", "s"]]
    several = roamsim("run", example, "--replications", "2").stdout
    outward = next(line for line in several.splitlines() if "home cell     foreign cell" in line)
    assert outward.split("foreign cell")[1].split()[0] == "2"


def test_the_summary_of_a_dect_access_tells_blocked_calls_by_type_of_terminal(roamsim: Command) -> None:
    example = Path(__file__).parent.parent / "examples" / "dect-access.toml"
    result = json.loads(roamsim("run", example, "--json").stdout)
    row = next(row for row in result["dect_terminals"] if row["type"] == "P80")
    share = f"{100 * row['blocked'] / row['calls']:.3g}"
    line = next(line for line in roamsim("run", example).stdout.splitlines() if line.startswith("air   P80"))
    assert line.split()[2:5] == [str(row["calls"]), share, "%"]


def test_run_prints_a_summary_on_stdout(roamsim: Command, scenario: Path) -> None:
    done = roamsim("run", scenario)
    for word in ("Both kinds of traffic", "download", "indications", "b/s", "events"):
        assert word in done.stdout
    assert done.stderr == ""
    several = roamsim("run", scenario, "--replications", "3").stdout
    assert "±" in several


def test_run_json_is_one_object_with_all_tables(roamsim: Command, scenario: Path) -> None:
    done = roamsim("run", scenario, "--json", "--seed", "7")
    result = json.loads(done.stdout)
    assert result["scenario"] == "Both kinds of traffic"
    assert result["seed"] == 7
    assert result["version"] == package.__version__
    assert result["events"] > 1000
    (flow,) = result["flows"]
    assert flow["name"] == "download"
    # From 0 s to 10 s: the definition of goodput, by hand.
    assert flow["goodput_bps"] == pytest.approx(8 * flow["delivered_bytes"] / 10)
    assert flow["completion_time_s"] is None  # a greedy transfer never completes
    (signalling,) = result["signalling"]
    assert signalling["messages"] == 14  # at 1.0, 1.5, ... 7.5 s
    assert result["links"]
    assert result["drops"]
    for table in ("flows", "signalling", "links", "drops"):
        assert all(row["seed"] == 7 and row["replication"] == 0 for row in result[table])


def test_equal_runs_print_equal_json(roamsim: Command, scenario: Path) -> None:
    first, second = (roamsim("run", scenario, "--json").stdout for _ in range(2))
    assert first == second


def test_replications_are_numbered_and_differ(roamsim: Command, scenario: Path) -> None:
    result = json.loads(roamsim("run", scenario, "--json", "--replications", "3").stdout)
    assert [row["replication"] for row in result["flows"]] == [0, 1, 2]
    assert {row["seed"] for row in result["flows"]} == {1}
    assert len({row["delivered_bytes"] for row in result["flows"]}) == 3


def test_the_same_seed_gives_the_same_results_with_any_number_of_jobs(roamsim: Command, scenario: Path) -> None:
    def tables(*options: str) -> dict[str, object]:
        return json.loads(roamsim("run", scenario, "--json", "--replications", "4", *options).stdout)

    assert tables("--jobs", "1") == tables("--jobs", "3")
    assert tables() != tables("--seed", "2")


def test_set_replaces_values_by_name_and_by_index(roamsim: Command, scenario: Path) -> None:
    def delivered(*options: str) -> int:
        return json.loads(roamsim("run", scenario, "--json", *options).stdout)["flows"][0]["delivered_bytes"]

    lossy = delivered("--set", "link.path.loss.probability=0.2")
    assert lossy < delivered() / 2
    assert delivered("--set", "link.0.loss.probability=0.2") == lossy


def test_scenarios_come_from_stdin_and_from_json(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    assert "Both kinds" in roamsim("run", "-", stdin=SCENARIO).stdout
    tree = json.loads(package.load(scenario).canonical)
    (tmp_path / "scenario.json").write_text(json.dumps(tree))
    from_toml = json.loads(roamsim("run", scenario, "--json").stdout)
    from_json = json.loads(roamsim("run", "scenario.json", "--json").stdout)
    assert from_toml["flows"] == from_json["flows"]


def test_csv_prints_one_table(roamsim: Command, scenario: Path) -> None:
    done = roamsim("run", scenario, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["name"] for row in rows] == ["download"]
    assert "signalling" in done.stderr
    rows = list(csv.DictReader(io.StringIO(roamsim("run", scenario, "--csv", "--table", "links").stdout)))
    assert {(row["from"], row["to"]) for row in rows} == {("server", "phone"), ("phone", "server")}
    assert (
        "did you mean flows? There are flows" in roamsim("run", scenario, "--csv", "--table", "flaws", code=2).stderr
    )


def test_parquet_writes_every_table_and_a_manifest(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    done = roamsim("run", scenario, "--parquet", "out", "--trace", "cwnd,queue", "--trace", "transactions")
    assert done.stderr == "wrote out\n"
    out = tmp_path / "out"
    assert polars.read_parquet(out / "flows.parquet")["name"].to_list() == ["download"]
    assert polars.read_parquet(out / "samples.parquet").height > 100
    assert polars.read_parquet(out / "transactions.parquet").height == 14
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["text"] == SCENARIO
    assert manifest["command"][:2] == ["roamsim", "run"]
    assert manifest["seed"] == 1
    # A second run replaces the first, and leaves nothing of it.
    roamsim("run", scenario, "--parquet", "out")
    assert not (out / "samples.parquet").exists()


def test_pcap_writes_a_pcapng_file(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--pcap", "run.pcapng")
    # Section header block of the pcapng format.
    assert (tmp_path / "run.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    assert "one replication" in roamsim("run", scenario, "--pcap", "x", "--replications", "2", code=2).stderr


@pytest.mark.needs("tshark")
def test_tshark_reads_a_capture_without_complaint(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--pcap", "run.pcapng")
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    errors = "_ws.malformed || _ws.expert.severity >= 8388608 || tcp.checksum.status == 0 || udp.checksum.status == 0"

    def tshark(shown: str) -> list[str]:
        done = subprocess.run(
            ["tshark", "-r", tmp_path / "run.pcapng", *checks, "-Y", shown],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    assert tshark(errors) == []
    assert len(tshark("tcp.len > 0")) > 100
    assert tshark("mih")


def test_schema_is_json(roamsim: Command) -> None:
    schema = json.loads(roamsim("schema").stdout)
    assert {"scenario", "node", "link", "flow", "signalling"} <= set(schema["properties"])


def test_explain(roamsim: Command) -> None:
    done = roamsim("explain", "flows.goodput_bps").stdout
    assert "bit/s" in done
    assert "8 * delivered_bytes" in done
    assert roamsim("explain", "goodput_bps").stdout == done
    assert "did you mean goodput_bps" in roamsim("explain", "godput_bps", code=2).stderr
    unknown = roamsim("explain", "nonsense", code=2).stderr
    assert "the results have no column or table 'nonsense'; `roamsim explain` lists all of them" in unknown
    assert "did you mean mean_delay_s" in roamsim("explain", "mean_delay", code=2).stderr
    assert "flows has no column 'xyz'; it has " in roamsim("explain", "flows.xyz", code=2).stderr
    assert "success_rate" in roamsim("explain").stdout


def test_query_answers_in_sql(roamsim: Command, scenario: Path) -> None:
    roamsim("run", scenario, "--replications", "3", "--parquet", "out")
    question = "select count(*) as n, min(replication) as first from flows"
    assert json.loads(roamsim("query", "out", question, "--json").stdout) == [{"n": 3, "first": 0}]
    assert roamsim("query", "out", question, "--csv").stdout == "n,first\n3,0\n"
    assert "3" in roamsim("query", "out", question).stdout
    unknown = " ".join(roamsim("query", "out", "select * from flaws", code=2).stderr.split())
    assert "there is no table 'flaws'; did you mean flows? There are " in unknown
    assert "flows" in unknown
    assert "pg_" not in unknown  # tables of the database itself
    unrecorded = " ".join(roamsim("query", "out", "select * from packets", code=2).stderr.split())
    assert "nothing was recorded for the table 'packets'; add --trace packets" in unrecorded


def test_plot_draws_time_series_and_metrics(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--trace", "cwnd", "--replications", "3", "--parquet", "out")
    assert roamsim("plot", "out", "--what", "cwnd").stdout == "out/cwnd.svg\n"
    first = (tmp_path / "out" / "cwnd.svg").read_bytes()
    assert b"<svg" in first
    roamsim("plot", "out", "--what", "cwnd")
    assert (tmp_path / "out" / "cwnd.svg").read_bytes() == first
    roamsim("plot", "out", "--what", "flows.goodput_bps", "--out", "goodput.pdf")
    assert (tmp_path / "goodput.pdf").read_bytes()[:5] == b"%PDF-"
    roamsim("plot", "out", "--what", "cwnd", "--out", "cwnd.png")
    assert (tmp_path / "cwnd.png").read_bytes()[1:4] == b"PNG"
    assert "cwnd" in roamsim("plot", "out", "--what", "queue", code=2).stderr


def test_plot_draws_a_time_sequence_chart_of_a_part(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    roamsim("run", scenario, "--trace", "segments,rtt", "--parquet", "out")
    assert roamsim("plot", "out", "--what", "segments").stdout == "out/segments.svg\n"
    drawn = (tmp_path / "out" / "segments.svg").read_text()
    for mark in ("sent", "sent again: duplicate ACKs", "lost", "acknowledged", "duplicate ACK"):
        assert f">{mark}<" in drawn
    roamsim("plot", "out", "--what", "rtt", "--flow", "download", "--from", "1s", "--to", "2500ms")
    drawn = (tmp_path / "out" / "rtt.svg").read_text()
    assert ">download srtt<" in drawn
    assert ">1.2<" in drawn
    assert ">3.0<" not in drawn
    for arguments, complaint in (
        (["segments", "--flow", "upload"], "there are 'download'"),
        (["segments", "--from", "1"], "--from takes a time with its unit"),
        (["segments", "--from", "30s"], "a figure from 30 s on shows nothing: the run ends at 10 s"),
        (["rtt", "--from", "10s"], "a figure from 10 s on shows nothing: the run ends at 10 s"),
        (["segments", "--from", "3s", "--to", "2s"], "has no width"),
        (["flows.goodput_bps", "--from", "3s"], "--from and --to do not apply"),
        (["cwnd"], "nothing of 'cwnd' was recorded, the samples are of rto, rtt, srtt"),
    ):
        error = roamsim("plot", "out", "--what", *arguments, code=2).stderr
        assert complaint in " ".join(error.split())
    rows = "select event, count(*) n from segments where event in ('lost', 'retransmitted') group by event order by 1"
    losses, again = json.loads(roamsim("query", "out", rows, "--json").stdout)
    assert 0 < losses["n"] <= again["n"]


def test_a_query_gives_types_that_json_and_csv_can_hold(roamsim: Command, scenario: Path) -> None:
    roamsim("run", scenario, "--parquet", "out")
    question = (
        "select 1 a, 2 a, interval 3 day i, [1, 2] l, sum(3) s, 1.5::decimal(4, 2) d, 'nan'::double n, 'x\"y' t"
    )
    row = {"a": 1, "a_2": 2, "i": "3 days", "l": [1, 2], "s": 3, "d": 1.5, "n": None, "t": 'x"y'}
    assert json.loads(roamsim("query", "out", question, "--json").stdout) == [row]
    done = roamsim("query", "out", "select [1, 2] l, 1 as one", "--csv")
    assert done.stdout == 'l,one\n"[1, 2]",1\n'
    assert done.stderr == ""
    now = roamsim("query", "out", "select now() as now").stdout.splitlines()
    assert re.match(r"\d{4}-\d\d-\d\d ", now[1])


def test_a_query_that_is_piped_is_as_wide_as_it_needs_to_be(roamsim: Command, scenario: Path) -> None:
    roamsim("run", scenario, "--replications", "2", "--parquet", "out")
    head, *rows = roamsim("query", "out", "select * from flows").stdout.splitlines()
    assert len(rows) == 2
    assert head.split() == package.open_results(scenario.parent / "out").flows.columns
    assert all(row.startswith("Both kinds of traffic ") for row in rows)


def test_an_error_of_a_varied_value_names_its_option(roamsim: Command, scenario: Path) -> None:
    varied = ("sweep", scenario, "--vary", "link.path.delay=1ms,2x", "--out", "out")
    assert "[--vary:1:" in roamsim(*varied, code=3).stderr
    assert "[--set:1:" in roamsim(*varied, "--set", "scenario.duration=1x", code=3).stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--vary", "link.path.delay=1ms,", "2ms", "FILE"], "--vary 'link.path.delay=1ms, 2ms'"),
        (["FILE", "--vary", "link.path.delay=1ms,", "2ms", "--out", "x"], "--vary 'link.path.delay=1ms, 2ms'"),
        (["FILE", "--set", "link.path.delay", "2ms"], "--set link.path.delay=2ms"),
        (["FILE", "--set", "link.path.delay", "=", "2ms"], "--set 'link.path.delay = 2ms'"),
        (["FILE", "--vary", "link.path.delay=1ms", "2ms"], None),
        (["FILE", "FILE"], None),
    ],
)
def test_a_value_that_was_cut_at_a_space_is_shown_in_quotation_marks(
    roamsim: Command, scenario: Path, words: list[str], hint: str | None
) -> None:
    command = "sweep" if "--vary" in words else "run"
    done = roamsim(command, *(scenario if word == "FILE" else word for word in words), code=2)
    said = " ".join(done.stderr.split())
    assert "unexpected extra argument" in said
    assert ("; a value with spaces needs quotation marks: " in said) is (hint is not None)
    assert hint is None or said.endswith(hint)


def test_a_column_without_its_table_is_suggested_with_it(roamsim: Command, scenario: Path) -> None:
    vary = ["--vary", "link.path.delay=1ms,2ms", "--metric", "goodput_bps"]
    assert "did you mean flows.goodput_bps?" in " ".join(roamsim("compare", scenario, *vary, code=2).stderr.split())


def test_a_study_is_refused_for_results_of_none(roamsim: Command, scenario: Path) -> None:
    roamsim("run", scenario, "--parquet", "out")
    for command in (("report", "out"), ("query", "out", "select 1")):
        assert "'out' holds no results of a study" in roamsim(*command, "--study", "nothere", code=2).stderr


@pytest.mark.parametrize(
    "question",
    ["copy flows to 'copy.csv'", "create table copy as select 1", "export database 'copy'", "attach 'copy' as copy"],
)
def test_a_query_only_reads(roamsim: Command, scenario: Path, tmp_path: Path, question: str) -> None:
    roamsim("run", scenario, "--parquet", "out")
    before = sorted(tmp_path.rglob("*"))
    assert "can only read" in roamsim("query", "out", question, code=2).stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("question", ["", "   ", ";", "select 1; select 2"])
def test_a_query_is_one_question(roamsim: Command, scenario: Path, question: str) -> None:
    roamsim("run", scenario, "--parquet", "out")
    assert re.search("write one|give one", roamsim("query", "out", question, code=2).stderr)


def test_what_a_trace_records_has_to_go_somewhere(roamsim: Command, scenario: Path) -> None:
    assert (
        "add --parquet DIR, --report FILE, --json or --csv"
        in roamsim("run", scenario, "--trace", "cwnd", code=2).stderr
    )
    assert "--trace transactions" in roamsim("run", scenario, "--csv", "--table", "transactions", code=2).stderr
    done = roamsim("run", scenario, "--csv", "--table", "transactions", "--trace", "transactions")
    assert len(done.stdout.splitlines()) == 1 + 14


def test_drops_have_intervals_for_packets_and_bytes(roamsim: Command, scenario: Path) -> None:
    lines = roamsim("run", scenario, "--replications", "3").stdout.splitlines()
    lossy = [line for line in lines if re.match(r"path +server +loss ", line)]
    assert [line.count("±") for line in lossy] == [2]
    assert "…" not in "".join(lines)  # no cell is cut where there is no terminal


def test_plot_draws_transactions_and_names_what_it_cannot_draw(
    roamsim: Command, scenario: Path, tmp_path: Path
) -> None:
    roamsim("run", scenario, "--trace", "transactions,packets,throughput", "--parquet", "out")
    roamsim("plot", "out", "--what", "transactions")
    drawn = (tmp_path / "out" / "transactions.svg").read_text()
    assert "indications" in drawn
    assert "share of transactions" in drawn
    assert "roamsim query out 'select * from packets'" in roamsim("plot", "out", "--what", "packets", code=2).stderr
    roamsim("plot", "out", "--what", "throughput")
    assert "in order" in (tmp_path / "out" / "throughput.svg").read_text()
    roamsim("plot", "out", "--what", "flows.goodput_bps")
    drawn = (tmp_path / "out" / "flows.goodput_bps.svg").read_text()
    assert re.search(">goodput, [kM]b/s<", drawn)
    assert re.search(r">0(\.0+)?<", drawn)  # the axis begins at 0
    roamsim("run", scenario, "--parquet", "plain")
    assert "--trace transactions" in roamsim("plot", "plain", "--what", "transactions", code=2).stderr


def test_help_shows_a_range_as_it_is_written(roamsim: Command) -> None:
    assert "start:end:step" in roamsim("sweep", "--help").stdout


def test_help_tells_of_each_command_the_whole_of_what_it_is_for(roamsim: Command) -> None:
    told = " ".join(roamsim("--help").stdout.split())
    assert "query Query the tables of results in SQL. plot" in told
    assert "run Run a study and write its report; the same command resumes an interrupted study." in " ".join(
        roamsim("study", "--help").stdout.split()
    )


def test_explain_prints_each_setting_of_a_preset_with_its_source(roamsim: Command) -> None:
    for name, settings in {"linux": ['variant = "cubic" ', "TCP_RTO_MIN", "Linux 6.12"], "rfc": ["RFC 8985"]}.items():
        printed = roamsim("explain", "--preset", name).stdout
        assert [text for text in settings if text not in printed] == []
        assert all(len(line.split("  ", 1)) == 2 for line in printed.split("\n\n")[1].splitlines())
        others = dict(line.split("  ", 1) for line in re.sub(" +  ", "  ", printed.split("\n\n")[2]).splitlines()[1:])
        assert others["dctcp"].startswith("ecn = true; without cubic_rules")
        assert "prr" in others["bbr"]
        assert ("hystart" in others["sack"]) == (name == "linux")
    assert (
        "did you mean linux? There are classic, linux, rfc" in roamsim("explain", "--preset", "linus", code=2).stderr
    )
    assert "either a column or --preset" in roamsim("explain", "cwnd", "--preset", "linux", code=2).stderr


def test_explain_knows_traces_and_suggests_each_name_once(roamsim: Command) -> None:
    assert "RFC 5681" in roamsim("explain", "cwnd").stdout
    assert roamsim("explain", "ssthresh").stdout == roamsim("explain", "cwnd").stdout
    assert "4095" in roamsim("explain", "transactions.number").stdout
    error = roamsim("explain", "godput_bps", code=2).stderr
    assert error.count("goodput_bps") == 1


def test_check_goes_on_after_a_file_that_cannot_be_read(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    done = roamsim("check", "first.toml", scenario, "second.toml", code=2)
    assert "valid" in done.stdout
    assert "first.toml" in done.stderr
    assert "second.toml" in done.stderr
    (tmp_path / "empty.toml").write_text("\n")
    done = roamsim("check", "empty.toml", "first.toml", code=3)
    assert "roamsim init" in done.stderr
    assert "first.toml" in done.stderr


def test_check_warns_of_what_a_run_is_warned_of(roamsim: Command, scenario: Path) -> None:
    assert roamsim("check", scenario).stderr == ""
    # The tables of cells know no warm-up.
    file = ROOT / "examples" / "wifi-roaming.toml"
    settings = ("--set", "scenario.warm_up=1s", "--set", "scenario.duration=2s")
    warned = roamsim("check", file, *settings).stderr
    assert "warm_up" in warned
    assert roamsim("run", file, *settings).stderr == warned


def test_a_run_that_breaks_a_rule_of_the_simulator_ends_with_1(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def __init__(self, *_: object, **__: object) -> None: ...

        def __iter__(self) -> Iterator[tuple[int, Exception]]:
            return iter([(0, package.RunFailed("a packet was lost without a reason"))])

        def cancel(self) -> None: ...

    monkeypatch.setattr("roamsim._roamsim.Batch", Broken)
    done = CliRunner().invoke(app, ["run", str(scenario)])
    assert done.exit_code == 1
    assert "replication 0, seed 1: a packet was lost without a reason" in done.stderr
    assert done.stdout == ""


def test_a_reader_that_stops_is_no_error(scenario: Path) -> None:
    command = (
        f"{sys.executable} -m roamsim run {scenario} --json --replications 200 --trace transactions | head -c 10"
    )
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_numbers_in_json_are_finite(roamsim: Command, scenario: Path) -> None:
    def forbid(constant: str) -> float:
        raise AssertionError(f"{constant} is no JSON")

    done = roamsim("run", scenario, "--json", "--set", "link.path.loss.probability=1.0")
    result = json.loads(done.stdout, parse_constant=forbid)
    (signalling,) = result["signalling"]
    assert signalling["success_rate"] == 0
    assert signalling["mean_delay_s"] is None


def test_a_trace_that_recorded_nothing_is_told(roamsim: Command, scenario: Path) -> None:
    told = "roamsim: --trace bearers,occupancy recorded nothing in this run"
    traced = ("--trace", "cwnd,bearers,transactions,occupancy")
    for out in (["--json"], ["--parquet", "traced"]):
        assert told in roamsim("run", scenario, *traced, *out).stderr
    assert "recorded nothing" not in roamsim("run", scenario, "--trace", "cwnd,packets", "--json").stderr


def test_a_folder_is_no_report_and_no_figure(roamsim: Command, scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "drawn.svg").mkdir()
    roamsim("run", scenario, "--trace", "cwnd", "--parquet", "made")
    for command in (["plot", "made", "--what", "cwnd"], ["report", "made"]):
        assert "'drawn.svg' is a folder" in roamsim(*command, "--out", "drawn.svg", code=2).stderr
    result = package.run(scenario, trace="cwnd")
    for write in (result.report, lambda out: result.plot("cwnd", out)):
        with pytest.raises(package.UsageError, match="is a folder; name a file in it"):
            write(tmp_path / "drawn.svg")
