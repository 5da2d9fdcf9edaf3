"""Congestion controls that are classes in Python."""

from __future__ import annotations

import copy
import importlib
import json
import sys
import time
from pathlib import Path

import pytest
import roamsim
import small_study
from roamsim import study
from roamsim.scenarios.laws import named

KEY = "flow.ftp.transport.congestion_control"

SCENARIO = """
[scenario]
name = "one flow"
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
queue = { packets = 30 }
loss = { from = "server", model = "bernoulli", probability = 0.004, start = "2s" }
outages = [{ start = "20s", duration = "1s" }]
[[flow]]
name = "ftp"
from = "server"
to = "phone"
transport = { protocol = "tcp", variant = "newreno", mss = "1000B", min_rto = "200ms" }
application = { kind = "bulk", start = "0s" }
"""

RENO = '''
import roamsim


class Again(roamsim.CongestionControl):
    """Reno, by RFC 5681 and in octets, as the simulator has it."""

    acked = 0

    def on_ack(self, sample):
        if not sample.may_grow or sample.in_use_bytes < -(-self.window_bytes // 2):
            return
        if self.window_bytes < self.ssthresh_bytes:
            room = self.ssthresh_bytes - self.window_bytes
            self.window_bytes += min(sample.acked_bytes, self.segment_bytes, room)
            return
        self.acked += sample.acked_bytes
        usable = self.window_bytes - self.window_bytes % self.segment_bytes
        if self.acked >= usable:
            self.acked -= usable
            self.window_bytes += self.segment_bytes

    def half(self, sample):
        self.acked = 0
        return max(sample.in_flight_bytes // 2, 2 * self.segment_bytes)

    def on_loss(self, sample):
        self.ssthresh_bytes = self.window_bytes = self.half(sample)

    def on_ecn(self, sample):
        self.ssthresh_bytes = self.half(sample)
        self.window_bytes = min(self.window_bytes, self.ssthresh_bytes)

    def on_timeout(self, sample):
        half = self.half(sample)
        if not sample.repeated:
            self.ssthresh_bytes = min(half, self.ssthresh_bytes) if sample.repairing else half
        self.window_bytes = self.segment_bytes
'''


def law(folder: Path, text: str = RENO, name: str = "mine.py") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def control(body: str = "pass", method: str = "on_ack") -> str:
    methods = dict.fromkeys(("on_ack", "on_loss", "on_ecn", "on_timeout"), "pass") | {method: body}
    lines = [f"    def {name}(self, sample):\n        {text}" for name, text in methods.items()]
    return "import roamsim\nclass Mine(roamsim.CongestionControl):\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("variant", ["newreno", "reno", "sack"])
def test_reno_in_python_is_reno_to_the_octet(tmp_path: Path, variant: str) -> None:
    file = law(tmp_path)
    made = [
        roamsim.run(SCENARIO, trace="cwnd,segments", set={"flow.ftp.transport.variant": variant, **own})
        for own in ({}, {KEY: f"{file}:Again"})
    ]
    flows = [result.flows.row(0, named=True) for result in made]
    assert flows[0].pop("variant") == variant
    assert flows[1].pop("variant") == "Again"
    assert flows[0] == flows[1]
    windows = [result.samples.drop("scenario", "seed", "replication") for result in made]
    assert windows[0].height > 1000
    assert windows[0].equals(windows[1])
    assert made[0].segments.equals(made[1].segments)


QUIC = {"flow.ftp.transport": {"protocol": "quic", "congestion_control": "reno"}}


def test_reno_in_python_is_reno_over_quic(tmp_path: Path) -> None:
    """Losses, and an outage of a second with persistent congestion."""
    file = law(tmp_path)
    made = [roamsim.run(SCENARIO, trace="cwnd", set=QUIC | own) for own in ({}, {KEY: f"{file}:Again"})]
    flows = [result.flows.row(0, named=True) for result in made]
    assert (flows[0].pop("variant"), flows[1].pop("variant")) == ("reno", "Again")
    assert flows[0]["timeouts"] >= 1
    assert flows[0] == flows[1]
    windows = [result.samples.drop("scenario", "seed", "replication") for result in made]
    assert windows[0].height > 1000
    assert windows[0].equals(windows[1])


def test_a_rate_of_its_own_paces_over_quic(tmp_path: Path) -> None:
    """Octets of UDP payload count: 1452 in a packet, of which QUIC takes 31 or so."""
    body = (
        "self.window_bytes = 1e6; self.pacing_rate_bps = 2e6; assert sample.delivery_rate_bps is None or sample.rtt_s"
    )
    file = law(tmp_path, control(body))
    own = QUIC | {KEY: f"{file}:Mine", "link.pipe.loss.probability": 0, "link.pipe.outages": []}
    result = roamsim.run(SCENARIO, set=own)
    assert 1.9e6 < result.flows["goodput_bps"][0] < 1.98e6


def test_a_class_over_quic_has_no_keys_of_built_in_ones(tmp_path: Path) -> None:
    own = {KEY: f"{law(tmp_path)}:Again", "flow.ftp.transport.fast_convergence": False}
    with pytest.raises(roamsim.ScenarioError, match=r"`fast_convergence = false` has no effect with a class in\s"):
        roamsim.load(SCENARIO, set=QUIC | own)


def test_an_error_over_quic_names_the_line(tmp_path: Path) -> None:
    file = law(tmp_path, control("self.window_bytes = 1 / 0"))
    with pytest.raises(roamsim.RunFailed, match=r"mine\.py:4, in Mine\.on_ack: ZeroDivisionError"):
        roamsim.run(SCENARIO, set=QUIC | {KEY: f"{file}:Mine"})


def test_a_rate_of_its_own_paces(tmp_path: Path) -> None:
    file = law(tmp_path, control("self.window_bytes = 1e6; self.pacing_rate_bps = 2e6"))
    result = roamsim.run(
        SCENARIO, set={KEY: f"{file}:Mine", "link.pipe.loss.probability": 0, "link.pipe.outages": []}
    )
    assert 1.9e6 < result.flows["goodput_bps"][0] < 2.01e6


def test_a_class_takes_200_000_acknowledgements_a_second(tmp_path: Path) -> None:
    """1 Gb/s and an ACK for each segment. Processor time counts, of which other work on the machine takes none."""
    own = {
        KEY: f"{law(tmp_path)}:Again",
        "scenario.duration": "3s",
        "link.pipe.rate": "1Gb/s",
        "link.pipe.queue.packets": 5000,
        "link.pipe.loss.probability": 0,
        "link.pipe.outages": [],
        "flow.ftp.transport.delayed_ack": False,
    }
    begun = time.process_time()
    acknowledged = roamsim.run(SCENARIO, set=own).flows["segments_sent"][0]
    assert acknowledged > 100_000
    assert acknowledged / (time.process_time() - begun) > 200_000


def test_jobs_change_nothing(tmp_path: Path) -> None:
    file = law(tmp_path)
    one, two = (roamsim.run(SCENARIO, replications=3, jobs=jobs, set={KEY: f"{file}:Again"}).flows for jobs in (1, 2))
    assert one.equals(two)
    assert one["goodput_bps"].n_unique() == 3


def test_results_are_filed_under_the_source(tmp_path: Path) -> None:
    prints = [
        roamsim.load(SCENARIO, set={KEY: f"{law(tmp_path, text)}:Mine"}).fingerprint
        for text in (control(), control() + "# another\n", control())
    ]
    assert prints[0] == prints[2] != prints[1]


def test_a_class_is_given_in_python() -> None:
    result = roamsim.run(SCENARIO, set={KEY: Given})
    assert result.flows["variant"][0] == "Given"
    with pytest.raises(roamsim.UsageError, match=r"int is not a congestion control|source of the class int"):
        roamsim.run(SCENARIO, set={KEY: int})


@pytest.mark.parametrize(
    ("variant", "rack"), [("reno", False), ("newreno", False), ("sack", False), ("cubic", False), ("sack", True)]
)
def test_a_window_that_alone_is_set_stays(tmp_path: Path, variant: str, rack: bool) -> None:
    lines = "self.window_bytes = min(self.window_bytes + 100, 40_000)"
    file = law(
        tmp_path,
        control(lines).replace(
            "on_loss(self, sample):\n        pass", "on_loss(self, sample):\n        self.window_bytes /= 2"
        ),
    )
    keys = {"flow.ftp.transport.variant": variant, "flow.ftp.transport.rack": rack, KEY: f"{file}:Mine"}
    result = roamsim.run(SCENARIO, trace="cwnd", set=keys)
    assert result.flows["fast_retransmits"][0] > 5
    windows = result.samples.filter(quantity="cwnd")["value"]
    # Without SACK a repair adds a segment for each duplicate (RFC 5681, 3.2), of a window at most.
    assert 1000 <= windows.min() <= windows.max() <= (80_000 if variant in ("reno", "newreno") else 40_000)


class Given(roamsim.CongestionControl):
    """A window of five segments."""

    def on_ack(self, sample: roamsim.Sample) -> None:
        self.window_bytes = 5 * self.segment_bytes

    on_loss = on_ecn = on_timeout = on_ack


def test_a_scenario_alone_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    file = law(tmp_path, f"open({str(marker)!r}, 'w')\n" + control())
    text = SCENARIO.replace('mss = "1000B"', f'mss = "1000B", congestion_control = "{file}:Mine"')
    with pytest.raises(
        roamsim.ScenarioError, match=r"a scenario alone runs no program.*\n[\s\S]*(?:--set flow|set=)"
    ):
        roamsim.run(text)
    forged = SCENARIO.replace('mss = "1000B"', f'mss = "1000B", congestion_control = "Mine@{"0" * 32}"')
    with pytest.raises(roamsim.RunFailed, match="a scenario alone runs no program"):
        roamsim.run(forged)
    assert not marker.exists()


SIZE = 'size_bytes = { function = "size", quick = "100", full = "100,200" }'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SIZE, 'size_bytes = {{ path = "signalling.mih.transport.congestion_control", values = "{law}" }}'),
        ('set = { "signalling.mih.stop" = "55s" }', 'set = {{ "signalling.mih.transport.congestion_control" = "{law}" }}'),
    ],
    ids=["dimension", "set"],
)  # fmt: skip
def test_a_study_runs_no_class(tmp_path: Path, old: str, new: str) -> None:
    marker, folder = tmp_path / "ran", tmp_path / "study"
    file = law(tmp_path, f"open({str(marker)!r}, 'w')\n" + control())
    folder.mkdir()
    for name, text in small_study.FILES.items():
        (folder / name).write_text(text)
    small_study.change(folder, "study.toml", old, new.format(law=f"{file}:Mine"))
    with pytest.raises(roamsim.ScenarioError, match="congestion_control"):
        study.run(folder, level="quick", out=tmp_path / "out")
    assert not marker.exists()


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("1 / 0", 4, "in Mine.on_ack: ZeroDivisionError: division by zero"),
        ("self.window_bytes = float('nan')", 4, "ValueError: window_bytes is nan, and must be zero or more"),
        ("self.window_bytes = -1", 4, "ValueError: window_bytes is -1, and must be zero or more"),
        ("self.window_bytes = 'large'", 4, "TypeError: window_bytes is 'large', and must be a number"),
        ("self.window_bytes = float('inf')", 4, "window_bytes is inf, and may be"),
        ("self.pacing_rate_bps = 0", 4, "pacing_rate_bps is 0, and must be 8 or more, or None"),
        ("return 3", None, "on_ack returned 3; it must return nothing"),
    ],
)
def test_an_error_ends_the_run_and_names_the_line(tmp_path: Path, body: str, line: int | None, said: str) -> None:
    file = law(tmp_path, control(body))
    with pytest.raises(roamsim.RunFailed) as caught:
        roamsim.run(SCENARIO, set={KEY: f"{file}:Mine"})
    assert f"{file}:{line}, in" in str(caught.value) if line else f"{file}, in on_ack:" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (control(), "Yours", "no class 'Yours'; its congestion controls: Mine"),
        ("class Mine: pass", "Mine", "is not a congestion control"),
        (control().replace("on_ecn", "on_mark"), "Mine", "has no on_ecn"),
        ("def (", "Mine", "mine.py:1: SyntaxError"),
        ("x = '\0'", "Mine", "mine.py: "),
        ("\nimport sys\nsys.exit()", "Mine", "mine.py:3: it ends the program"),
        ("\nraise KeyError('x')", "Mine", "mine.py:2: KeyError"),
    ],
)
def test_what_is_no_congestion_control_is_refused(tmp_path: Path, text: str, name: str, said: str) -> None:
    with pytest.raises(roamsim.UsageError, match=r".") as caught:
        named(KEY, f"{law(tmp_path, text)}:{name}")
    assert said in str(caught.value)


def test_a_file_may_hold_what_modules_hold(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass, field\nimport roamsim\n" + control()
    )
    text += "@dataclass\nclass Kept:\n    seen: list[int] = field(default_factory=list)\n"
    assert named(KEY, f"{law(tmp_path, text)}:Mine") == named(KEY, f"{law(tmp_path, text.rstrip())}:Mine")
    (tmp_path / "mine.py").write_bytes(b"# coding: latin-1\r\n# \xe9\r\n" + control().encode())
    assert named(KEY, f"{tmp_path / 'mine.py'}:Mine").startswith("Mine@")


def test_a_class_that_its_file_does_not_have_by_name_is_refused(tmp_path: Path) -> None:
    def made(step: int) -> type:
        class Steps(Given):
            def on_ack(self, sample: roamsim.Sample) -> None:
                self.window_bytes += step

        return Steps

    with pytest.raises(roamsim.UsageError, match=r"Steps is not what its file has under this name"):
        named(KEY, made(1))
    renamed = type("Given", (Given,), {})
    with pytest.raises(roamsim.UsageError, match=r"the class Given is not what its file has"):
        named(KEY, renamed)


def test_a_class_is_filed_under_the_text_that_it_was_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    law(tmp_path, control(), "first_law.py")
    law(tmp_path, control(), "second_law.py")
    first, second = (importlib.import_module(name).Mine for name in ("first_law", "second_law"))
    filed = named(KEY, first)
    for name in ("first_law.py", "second_law.py"):
        law(tmp_path, control("self.window_bytes = 9000"), name)
    assert named(KEY, first) == filed
    with pytest.raises(roamsim.UsageError, match=r"second_law\.py has changed since its class Mine was imported"):
        named(KEY, second)


def test_a_copy_is_that_of_what_refers_to_it(tmp_path: Path) -> None:
    text = control("self.helper = getattr(self, 'helper', None) or Helper(self)")
    file = law(tmp_path, text + "class Helper:\n    def __init__(self, law):\n        self.law = law\n")
    named(KEY, f"{file}:Mine")
    (module,) = (m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == str(file))
    original = module.Mine()
    original.on_ack(None)
    copied = copy.deepcopy(original)
    assert copied.helper.law is copied is not original


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(roamsim.UsageError, match=r"none\.py' cannot be read"):
        named(KEY, "none.py:Mine")


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"variant": "vegas"}, "does not go with variant"),
        ({"abe": True, "ecn": True}, "`abe` has no effect"),
        ({"byte_counting_limit": 2}, "`byte_counting_limit` has no effect"),
    ],
)
def test_what_does_not_go_with_a_class_is_refused(tmp_path: Path, own: dict[str, object], said: str) -> None:
    values = {f"flow.ftp.transport.{key}": value for key, value in own.items()}
    with pytest.raises(roamsim.ScenarioError, match=said):
        roamsim.load(SCENARIO, set={**values, KEY: f"{law(tmp_path)}:Again"})


def test_built_in_ones_choose_their_variant() -> None:
    for variant, control, chosen in (("sack", "cubic", "cubic"), ("cubic", "reno", "sack"), ("sack", "bbr", "bbr")):
        loaded = roamsim.load(SCENARIO, set={"flow.ftp.transport.variant": variant, KEY: control})
        assert json.loads(loaded.canonical)["flow"][0]["transport"]["variant"] == chosen
    with pytest.raises(roamsim.ScenarioError, match="`cubic` does not go with variant"):
        roamsim.load(SCENARIO, set={KEY: "cubic"})
    with pytest.raises(roamsim.ScenarioError, match="did you mean `cubic`"):
        roamsim.load(SCENARIO, set={KEY: "cubik"})


def test_the_state_returns_with_a_needless_reduction(tmp_path: Path) -> None:
    file = law(tmp_path)
    keys = {"rack": True, "undo": True, "frto": True, "variant": "sack", "timestamps": True}
    values = {f"flow.ftp.transport.{key}": value for key, value in keys.items()}
    built_in, own = (roamsim.run(SCENARIO, set={**values, **more}).flows for more in ({}, {KEY: f"{file}:Again"}))
    assert built_in.drop("variant").equals(own.drop("variant"))
    # Some reduction was needless: without the two keys the flow comes out another way.
    neither = {path: value for path, value in values.items() if not path.endswith(("undo", "frto"))}
    assert not roamsim.run(SCENARIO, set=neither).flows.equals(built_in)
