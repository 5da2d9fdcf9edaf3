"""What happened on a DECT access, as a picture and in the report."""

from pathlib import Path

import polars
import pytest
import roamsim
from conftest import Command
from roamsim.errors import UsageError
from roamsim.pictures.timeseries import Part
from roamsim.technologies.dect import channel_map

SCENARIO = """
[scenario]
name = "A DECT access"
duration = "60s"
[[node]]
name = "terminal"
[[node]]
name = "host"
[[dect]]
name = "air"
terminal = "terminal"
gateway = "host"
terminals = [{ type = "p32", offered_erlang = 60 }]
[[flow]]
name = "down"
from = "host"
to = "terminal"
transport = { protocol = "tcp" }
application = { kind = "poisson", packet_size = "512B", mean_interval = "50ms" }
"""


def occupancy(*rows: tuple[str, int, float, float]) -> polars.DataFrame:
    """Rows of `dect_occupancy`: type, radio fixed part, from, until."""
    return polars.DataFrame(
        [
            {
                "point": 0,
                "replication": 0,
                "name": "air",
                "type": kind,
                "radio_fixed_part": part,
                "carrier": number % 10,
                "slot_pair": number % 12,
                "half": 0,
                "slots": 1.0,
                "from_s": begin,
                "until_s": end,
            }
            for number, (kind, part, begin, end) in enumerate(rows)
        ]
    )


def test_handovers_are_read_from_the_channels() -> None:
    found = channel_map.handovers(
        occupancy(
            ("User", 0, 0.0, 2.0),  # handed over in its cell
            ("User", 0, 2.0, 3.0),  # and then to the next one
            ("User", 1, 3.0, 9.0),
            ("User", 0, 1.0, 4.0),  # released
            ("P32", 0, 2.0, 9.0),  # of another terminal
            ("User", 1, 5.0, 9.0),  # in use at the end
        )
    )
    assert found.rows() == [
        (0.0, "bearer set up"),
        (1.0, "bearer set up"),
        (2.0, "bearer handover"),
        (3.0, "connection handover"),
        (4.0, "bearer released"),
        (5.0, "bearer set up"),
    ]


def test_a_picture_shows_ten_minutes_or_what_was_asked_for() -> None:
    tables = {"dect_occupancy": occupancy(("User", 0, 0.0, 900.0), ("P32", 1, 650.0, 700.0))}
    (recording,) = channel_map.recordings(tables)
    assert (recording.start_s, recording.end_s) == (0.0, 600.0)
    assert recording.shown["type"].to_list() == ["User"]
    assert "From 0 to 600 s of 900 s; `roamsim plot --what occupancy`" in channel_map.note(recording)
    (later,) = channel_map.recordings(tables, Part(start_s=640.0, end_s=1000.0))
    assert (later.start_s, later.end_s) == (640.0, 900.0)
    assert later.shown["type"].to_list() == ["User", "P32"]
    # What is counted begins at 700 s: so does the picture, unless something else is asked for.
    tables["dect"] = polars.DataFrame({"name": ["air"], "terminal": ["terminal"], "measured_s": [200.0]})
    (counted,) = channel_map.recordings(tables)
    assert (counted.start_s, counted.end_s) == (700.0, 900.0)
    assert channel_map.recordings(tables, Part(start_s=0.0))[0].start_s == 0.0
    with pytest.raises(UsageError, match="no channel was in use after 950 s; the run ended at 900 s"):
        channel_map.recordings(tables, Part(start_s=950.0))
    with pytest.raises(UsageError, match="--trace occupancy,bearers,dlc_queue,backlog"):
        channel_map.recordings({})
    with pytest.raises(UsageError, match="no channel was in use in the whole run"):
        channel_map.recordings({"dect_occupancy": occupancy(("P32", 0, 0.0, 1.0)).clear()})


def test_a_run_is_drawn_with_what_it_recorded() -> None:
    result = roamsim.run(SCENARIO, trace=["occupancy", "dlc_queue", "backlog"])
    (recording,) = channel_map.recordings(result)
    figure = channel_map.draw(recording)
    # Three radio fixed parts, bearers and handovers, the two queues.
    titles = [panel.title.split(":")[0].split(",")[0].split(" of")[0] for panel in figure.panels]
    assert titles == ["RFP 0", "RFP 1", "RFP 2", "bearers", "DLC queue", "TCP queue"]
    assert figure.panels[3].marks[0].frame["v"].max() == 10
    # The terminal's bars are those of its channels, each as wide as its slots and as long as it was in use.
    part = recording.shown.filter(type="User")["radio_fixed_part"][0]
    mine = recording.shown.filter(type="User", radio_fixed_part=part).sort("from_s")
    (bars,) = (marks.frame for marks in figure.panels[part].marks if marks.series == "the terminal")
    assert bars.select("t", "until").rows() == mine.select("from_s", "until_s").rows()
    assert (bars["high"] - bars["low"]).to_list() == mine["slots"].to_list()
    assert (bars["low"] // 12).to_list() == mine["carrier"].to_list()
    only_channels = roamsim.run(SCENARIO, trace=["occupancy"])
    assert len(channel_map.draw(channel_map.recordings(only_channels)[0]).panels) == 4


def test_the_report_of_a_run_with_dect_has_the_picture_or_says_how_to_get_it(
    roamsim: Command, tmp_path: Path
) -> None:
    (tmp_path / "dect.toml").write_text(SCENARIO)
    traces = "occupancy,bearers,dlc_queue,backlog"
    roamsim("run", "dect.toml", "--trace", traces, "--replications", "2", "--parquet", "out")
    roamsim("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "air: channels in use, bearers, queues and handovers, first replication" in page
    assert "dect_states: means over replications" in page
    roamsim("plot", "out", "--what", "occupancy", "--from", "10s", "--to", "20s", "--out", "part.svg")
    assert "the terminal" in (tmp_path / "part.svg").read_text()
    roamsim("run", "dect.toml", "--parquet", "plain")
    roamsim("report", "plain")
    page = (tmp_path / "plain" / "report.html").read_text()
    assert "Run again with --trace occupancy,bearers,dlc_queue,backlog" in page


def test_one_access_of_several_is_chosen_by_its_name() -> None:
    one = occupancy(("User", 0, 0.0, 60.0))
    two = one.with_columns(name=polars.lit("ground"))
    tables = {"dect_occupancy": polars.concat([one, two])}
    with pytest.raises(UsageError, match="have air, ground; choose one with --flow"):
        channel_map.picture(tables)
    chosen, alone = channel_map.picture(tables, Part(flow="ground")), channel_map.picture({"dect_occupancy": two})
    assert chosen.printed(700, 300) == alone.printed(700, 300)
    # Of an access that was not asked for nothing is: neither that it was in use for a shorter time.
    short = occupancy(("User", 0, 0.0, 5.0))
    late = {"dect_occupancy": polars.concat([short, two])}
    assert channel_map.picture(late, Part(flow="ground", start_s=10.0)).printed(700, 300)
    with pytest.raises(UsageError, match="there is no DECT access 'sea'; there are 'air', 'ground'"):
        channel_map.picture(tables, Part(flow="sea"))
