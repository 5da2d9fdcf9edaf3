"""What phones with several radios are refused or warned of: with file, line and the way out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

EXAMPLES = ROOT / "examples"
#: A second manager of the phone.
SECOND = '\n[[selection]]\nname = "other"\nnode = "phone"\npolicy = "cheapest"\n'


def told(scenario: Path, *settings: str) -> str:
    """What `roamsim check` says, in one line."""
    words = [sys.executable, "-m", "roamsim", "check", str(scenario), *(f"--set={setting}" for setting in settings)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    return " ".join((done.stdout + done.stderr).replace("│", " ").split())


def changed(tmp_path: Path, before: str, after: str) -> Path:
    """The example phone with another text."""
    text = (EXAMPLES / "phone.toml").read_text()
    assert text.count(before) == 1, before
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "cellular-down.trace").write_bytes(
        (EXAMPLES / "traces" / "cellular-down.trace").read_bytes()
    )
    file = tmp_path / "phone.toml"
    file.write_text(text.replace(before, after))
    return file


@pytest.mark.parametrize(
    ("before", "after", "line", "message", "way_out"),
    [
        ('["wifi", "lte"]', '["wifi", "ltee"]', '"ltee"', 'there is no link "ltee"', '"lte"'),
        ('prefer = ["wifi", "lte"]', "", "[[selection]]", 'policy = "preference" needs `prefer`', "name links"),
        ('["wifi", "lte"]', '["wifi0", "lte"]', "prefer =", '"phone" never selects "wifi1"', "name it in `prefer`"),
        ('["wifi", "lte"]', '["lte", "wifi"]', "prefer =", '"lte" comes first and is always up', 'put "wifi0" first'),
        ("\n[[flow]]\nname = \"download\"", f'{SECOND}\n[[flow]]\nname = "download"', 'node = "phone"',
         "two entries select an interface", "leave one of them out"),
        ('transport = { protocol = "tcp", variant = "cubic" }', 'transport = { protocol = "sctp" }', "scheme =",
         "stays at its address", 'scheme = "mobile_sctp"'),
    ],
)  # fmt: skip
def test_what_a_selection_cannot_do(
    tmp_path: Path, before: str, after: str, line: str, message: str, way_out: str
) -> None:
    file = changed(tmp_path, before, after)
    said = told(file)
    assert message in said
    assert way_out in said
    numbers = [number for number, text in enumerate(file.read_text().splitlines(), 1) if line in text]
    assert any(f"phone.toml:{number}:" in said for number in numbers), said


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('home_agent="terminal"', '"terminal" has no home address'),
        ('foreign_agents=["terminal"]', '"terminal" is a station in no cell of the foreign agent'),
        ('foreign_agents=["home agent"]', "cannot be its own foreign agent"),
    ],
)
def test_tunnels_do_not_lead_back_to_where_they_begin(setting: str, message: str) -> None:
    said = told(EXAMPLES / "mobile-ip.toml", f"mobile_ip.walk.{setting}")
    assert message in said
    assert "help:" in said
    assert "mobile-ip.toml:" in said


def test_one_key_compares_the_schemes(tmp_path: Path) -> None:
    words = ["compare", str(EXAMPLES / "phone.toml"), "--replications", "2", "--set", "scenario.duration=25s"]
    words += ["--vary", "selection.phone.scheme=none,redirect", "--metric", "flows.download.goodput_bps"]
    done = subprocess.run(
        [sys.executable, "-m", "roamsim", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "redirect" in done.stdout
