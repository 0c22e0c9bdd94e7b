"""Numbers, units and foreign names as people like to read them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dynid.robot import Robot

LONGEST_NAME = 60
_DIGITS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


# --- names --------------------------------------------------------------------------------------


def shown(name: object, limit: int = LONGEST_NAME) -> str:
    """A name from a file, fit to be shown: no control characters, not too long; still to be escaped."""
    text = str(name)
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def in_figure(name: object, limit: int = 24) -> str:
    """A name for a figure, where plotly reads tags, entities and templates in every text."""
    text = shown(name, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("%{", "%\u200b{")


def labels(names: Sequence[str], limit: int = 24) -> list[str]:
    """Names for the ticks of an axis: those that shortening has made alike get a number."""
    found: list[str] = []
    seen: dict[str, int] = {}
    for name in names:
        text = in_figure(name, limit)
        seen[text] = seen.get(text, 0) + 1
        found.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return found


def folded(text: str, width: int = 60, lines: int = 8) -> str:
    """A long formula for a figure's hover text, in several lines."""
    words, rows = in_figure(text, width * lines).split(" "), [""]
    for word in words:
        if rows[-1] and len(rows[-1]) + len(word) >= width:
            rows.append(word)
        else:
            rows[-1] = f"{rows[-1]} {word}".strip()
    return "<br>".join(rows)


# --- numbers ------------------------------------------------------------------------------------


def number(value: float, digits: int = 4) -> str:
    """A figure with some significant digits, a dash where there is none."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    if exponent:
        mantissa = f"{mantissa}·10{str(int(exponent)).translate(_DIGITS)}"
    return mantissa.replace("-", "−")


def percent(value: float) -> str:
    """A share of which nobody wants to know more than two digits, nor how often it is beyond a thousand."""
    if math.isfinite(value) and abs(value) >= 100.0:
        return f"{value:.0f}" if value <= 1000.0 else "> 1000"
    return number(value, 2)


def with_uncertainty(value: float, std: float) -> tuple[str, str]:
    """Value and standard deviation to the same decimal place: two digits of the deviation."""
    if not (math.isfinite(std) and math.isfinite(value) and std > 0.0):
        return number(value), number(std)
    places = 1 - math.floor(math.log10(std))
    if places < 0 or places > 7:
        return number(value, 6), number(std, 2)
    return f"{value:z.{places}f}".replace("-", "−"), f"{std:.{places}f}"


# --- units --------------------------------------------------------------------------------------

_OF_BODIES = {
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ"), "kg m²"),
    **dict.fromkeys(("MX", "MY", "MZ"), "kg m"),
    "M": "kg",
}
_OF_DRIVES = {  # where the joint turns, and where it slides
    "Ia": ("kg m²", "kg"),
    "Fv": ("Nm s/rad", "N s/m"),
    "Fa": ("Nm s/rad", "N s/m"),
    "Fc": ("Nm", "N"),
    "Fo": ("Nm", "N"),
    "Fs": ("Nm", "N"),
    "Fr": ("Nm (s/rad)^½", "N (s/m)^½"),
    "Fl": ("1", "1"),
}


def effort_unit(robot: Robot, joint: int) -> str:
    """Of a free joint's efforts."""
    return "N" if robot.joints[robot.free[joint]].prismatic else "Nm"


def angle_unit(robot: Robot, joint: int) -> str:
    """Of a free joint's positions."""
    return "m" if robot.joints[robot.free[joint]].prismatic else "rad"


def parameter_unit(name: str, robot: Robot) -> str:
    """Of a parameter of a robot; an extra column's constant has a unit only its owner knows."""
    found = re.fullmatch(r"([A-Z]{1,2}?|[IF][a-z])R?(\d{1,6})", name)
    if not found:
        return ""
    letters, place = found[1], int(found[2]) - 1
    if letters in _OF_BODIES:
        return _OF_BODIES[letters]
    if letters in _OF_DRIVES and place < robot.dof:
        return _OF_DRIVES[letters][robot.joints[robot.free[place]].prismatic]
    return ""
