"""One more congestion control, recovery or detection of TCP is a file and a line, as docs/architecture.md says: each is
added to a copy of the crates, which still compiles and then has one more variant."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

#: Of each kind of part: its folder, and a part that the new one is made from.
PARTS = [
    ("congestion", "reno.rs", "Reno"),
    ("recovery", "newreno.rs", "NewReno"),
    ("detection", "duplicate_acks.rs", ""),
]

KEY = 'super::keys::Key { table: None, name: "gain", about: "", value: super::keys::Value::Number { default: 2 } }'

DETECTION = """//! Every duplicate ACK tells of a loss.

use super::{DuplicateAcks, LossDetection, Settings};

#[derive(Clone, Debug)]
pub struct Added(DuplicateAcks);

impl LossDetection for Added {
    const NAME: &str = "added-detection";
    const VARIANT: Option<&str> = Some("A detection.");

    fn new(settings: &Settings) -> Added {
        Added(DuplicateAcks::new(settings.dup_ack_threshold))
    }

    fn counter(&self) -> &DuplicateAcks {
        &self.0
    }

    fn counter_mut(&mut self) -> &mut DuplicateAcks {
        &mut self.0
    }
}
"""


def added(folder: str, template: Path, name: str) -> str:
    """The file of a part of such a folder, made from another one."""
    if folder == "detection":
        return DETECTION
    text = template.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
    variant = f'const NAME: &str = "added-{folder}";\n    const VARIANT: Option<&str> = Some("A part.");'
    if folder == "congestion":
        # Its own key takes the place of Reno's.
        text = re.sub(r"\n    const KEYS: [^;]*;", "", text)
        variant += f"\n    const KEYS: &[super::keys::Key] = &[{KEY}];"
    text, count = re.subn(r'const NAME: &str = "[^"]+";(\n    const VARIANT: [^;]*;)?', variant, text)
    assert count == 1
    return re.sub(rf"\b{name}\b", "Added", text)


@pytest.mark.skipif(not shutil.which("cargo"), reason="there is no cargo")
def test_a_part_of_tcp_is_a_file_and_a_line_in_a_table(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Cargo.toml", tmp_path)
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    for crate in ("engine", "protocols"):
        shutil.copytree(ROOT / "crates" / crate, tmp_path / "crates" / crate)
    tcp = tmp_path / "crates" / "protocols" / "src" / "tcp"
    for folder, template, name in PARTS:
        file = tcp / folder / "added.rs"
        file.write_text(added(folder, tcp / folder / template, name), encoding="utf-8")
        table = tcp / folder / "mod.rs"
        text, count = re.subn(
            r"^((?:detections|recoveries|congestion_controls)! \{\n)",
            r"\1    added::Added,\n",
            table.read_text(),
            flags=re.M,
        )
        assert count == 1
        table.write_text(text, encoding="utf-8")
    # Compiles only where each of the three has brought its variant.
    variants = len(
        re.findall(r"const VARIANT: Option<&str> =\s+Some", "".join(p.read_text() for p in tcp.rglob("*.rs")))
    )
    with (tcp / "mod.rs").open("a", encoding="utf-8") as root:
        root.write(f"\nconst _: () = assert!(Variant::COUNT == {variants});\n")
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target"), "RUSTFLAGS": ""}
    checked = subprocess.run(
        ["cargo", "check", "--quiet", "--offline", "-p", "roamsim-protocols"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
