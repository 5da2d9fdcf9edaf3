"""The schema of scenarios beside the parser: what one takes or refuses, so does the other."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import roamsim
from conftest import ROOT, Command

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = roamsim.schema()
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_is_valid_by_the_schema(validator: Any, file: Path) -> None:
    validator.validate(tomllib.loads(file.read_text(encoding="utf-8")))
    # With every default, and each of many written out.
    validator.validate(json.loads(roamsim.load(file).canonical))


def test_keep_alives_are_off_and_wait_two_hours() -> None:
    """RFC 9293 section 3.8.4, MUST-25 and MUST-28."""
    transports = roamsim.schema()["$defs"]["Transport"]["oneOf"]
    keys = next(each["properties"] for each in transports if "keep_alive_time" in each["properties"])
    assert (keys["keep_alive"]["default"], keys["keep_alive_time"]["default"]) == (False, "7200s")


def test_what_init_writes_is_valid_by_the_schema(validator: Any, roamsim: Command) -> None:
    validator.validate(tomllib.loads(roamsim("init", "-").stdout))


@pytest.mark.parametrize(
    ("place", "key", "bad"),
    [
        (("link", 0), "bandwith", "10Mb/s"),
        (("link", 0), "delay", 10),
        (("link", 0), "delay", "10Mb/s"),
        (("link", 0), "loss", {"model": "bernoulli", "probability": 1.5}),
        (("link", 0), "loss", {"model": "gilbert_elliott", "per": "time", "good_to_bad": 0.1}),
        (("link", 0), "loss", {"model": "list", "segments": [0]}),
        (("link", 0), "loss", {"model": "list", "segments": [1], "probability": 0.1}),
        (("link", 0), "queue", {"packets": 1, "bytes": "1kB"}),
        (("signalling", 0), "transport", {"protocol": "udp", "mss": "1000B"}),
        (("signalling", 0), "message_size", {"distribution": "exponential", "mean": "1kB"}),
        (("signalling", 0, "rate_limit"), "rate", 200),
    ],
)
def test_the_schema_refuses_what_the_parser_refuses(
    validator: Any, place: tuple[str | int, ...], key: str, bad: object
) -> None:
    tree = json.loads(roamsim.load(ROOT / "examples" / "rate-limited-signalling.toml").canonical)
    within = tree
    for step in place:
        within = within[step]
    within[key] = bad
    assert not validator.is_valid(tree)
    with pytest.raises(roamsim.ScenarioError):
        roamsim.load(tree)
