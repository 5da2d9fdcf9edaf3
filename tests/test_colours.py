"""Colours of figures: seen on either ground, and told apart with a weak sense of red, green or blue."""

import math
import re
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import pytest
import roamsim
from roamsim.pictures import recorded
from roamsim.pictures.charts import COLOURS

PAGE = Path(roamsim.__file__).parent / "pages" / "report.html"

#: Least contrast of a mark and its ground: WCAG 2.1, success criterion 1.4.11.
CONTRAST = 3.0

#: Linear RGB as dichromats see it: G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A Physiologically-based Model
#: for Simulation of Color Vision Deficiency" (2009), severity 1.
SEEN = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}

#: Distance of two colours in CIELAB from which marks of one shape are told apart (chosen: four just noticeable differences).
APART = 2.3 * 4


def dot(one: Iterable[float], other: Iterable[float]) -> float:
    """The scalar product."""
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def linear(colour: str) -> list[float]:
    """Linear RGB of a colour of sRGB."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour: str) -> float:
    """The relative luminance."""
    return dot((0.2126, 0.7152, 0.0722), linear(colour))


def lab(rgb: list[float]) -> list[float]:
    """CIELAB of linear RGB, with the white of D65."""
    rgb = [min(1.0, max(0.0, part)) for part in rgb]
    rows = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.072175), (0.0193339, 0.119192, 0.9503041))
    xyz = [dot(row, rgb) / white for row, white in zip(rows, (0.95047, 1.0, 1.08883), strict=True)]
    x, y, z = (part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116 for part in xyz)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def distance(one: str, other: str, eye: str) -> float:
    """How far apart two colours are for an eye."""
    found = [lab([dot(row, linear(colour)) for row in SEEN[eye]]) for colour in (one, other)]
    return math.dist(*found)


@pytest.mark.parametrize("colour", COLOURS)
def test_a_colour_is_seen_on_the_light_and_the_dark_ground(colour: str) -> None:
    grounds = re.findall(r"--ground: (#[0-9a-f]+)", PAGE.read_text())
    assert len(grounds) == 2
    for ground in grounds:
        ground = ground if len(ground) == 7 else "#" + "".join(2 * digit for digit in ground[1:])
        low, high = sorted((luminance(colour), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= CONTRAST, ground


@pytest.mark.parametrize("eye", SEEN)
def test_a_timeout_is_told_from_every_other_mark(eye: str) -> None:
    timeout = recorded.AGAIN_FOR["timeout"]
    others = {*recorded.AGAIN_FOR.values(), recorded.AGAIN, recorded.LOST, recorded.SENT, recorded.DUPLICATE} - {
        timeout
    }
    near = {what: distance(timeout[1], colour, eye) for what, colour, _ in others}
    assert min(near.values()) >= APART, min(near.items(), key=lambda one: one[1])


def test_no_two_colours_are_one() -> None:
    assert min(distance(*pair, "all") for pair in combinations(COLOURS, 2)) >= APART
