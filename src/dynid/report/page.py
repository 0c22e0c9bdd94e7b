"""The page: one HTML file with its style, its scripts and its figures inside, that asks for nothing else.

Names from files pass the template's escaping, or JSON in which no element can start. As a second lock the
page carries a policy that lets no script run but its own, known by their hashes, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module, resources
from typing import Any

from markupsafe import Markup

from dynid import __version__
from dynid.files import whole_file
from dynid.report import efforts, motions, values
from dynid.report.arm import Body, arm
from dynid.report.colours import THEMES
from dynid.report.data import Compared, ReportData
from dynid.report.encode import script_json
from dynid.report.figure import Figure
from dynid.report.text import effort_unit, number, percent, shown, with_uncertainty

jinja2: Any = import_module("jinja2")  # its types know no filters but its own

POINTS = 48_000  # of curves over time in one page: what keeps it below 6 MB
MOST, LEAST = 2500, 150  # points of one curve
LOGS = 8  # with figures of their own; all have their scores
SCRIPTS = ("figures.js", "arm.js", "page.js")
STRONG = 0.9  # correlation worth a line of its own
LISTED_PAIRS = 12


def write_report(path: str | os.PathLike[str], data: ReportData, *, force: bool = False) -> None:
    """The page as a file, whole or not at all."""
    text = render(data)
    with whole_file(path, force=force) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render(data: ReportData) -> str:
    """The page as text."""
    drawn = figures(data)
    bodies = [] if data.bodies is None else arm(data.robot, data.bodies)
    content = {
        "figures": {key: {"data": list(f.data), "layout": dict(f.layout)} for key, f in drawn.items()},
        "themes": THEMES,
        "arm": [_drawn(body) for body in bodies],
    }
    plotly: Any = import_module("plotly.offline")
    scripts = [Markup(plotly.get_plotlyjs()), *(Markup(asset(name)) for name in SCRIPTS)]
    return (
        environment()
        .get_template("page.html")
        .render(
            data=data,
            version=__version__,
            drawn=drawn,
            logs=data.compared[:LOGS],
            left_out=data.compared[LOGS:],
            moved=data.motions[:LOGS],
            bodies=bodies,
            strong=strong_pairs(data),
            themes=THEMES,
            style=Markup(asset("style.css")),
            content=Markup(script_json(content)),
            scripts=scripts,
            policy=policy(scripts),
        )
    )


def figures(data: ReportData) -> dict[str, Figure]:
    """All figures of the page by the names the template knows them by."""
    found: dict[str, Figure] = {}
    logs = [compared for compared in data.compared[:LOGS] if compared.joints]
    moved = data.motions[:LOGS]
    curves = data.robot.dof * (3 * len(logs) + 2 * len(moved))
    most = min(max(POINTS // max(curves, 1), LEAST), MOST)
    for number_, compared in enumerate(data.compared[:LOGS]):
        if compared.joints:
            found[f"efforts-{number_}"] = efforts.efforts(compared, data.robot, most)
            found[f"residuals-{number_}"] = efforts.residuals(compared, data.robot, most)
            found[f"distributions-{number_}"] = efforts.distributions(compared, data.robot)
    if data.parameters:
        found["intervals"] = values.intervals(data.parameters)
    if data.correlation is not None and data.parameters:
        found["correlations"] = values.correlations([p.name for p in data.parameters], data.correlation)
    for number_, motion in enumerate(moved):
        found[f"paths-{number_}"] = motions.paths(motion, data.robot, min(most, 800))
    if data.motions and (ranges := motions.ranges(data.motions, data.robot)) is not None:
        found["ranges"] = ranges
    if data.tracking:
        found["tracking"] = motions.tracks(data.tracking, data.robot)
    if data.essential is not None and data.essential.errors:
        found["essentials"] = values.essentials(data.essential)
    return found


@dataclass(frozen=True)
class Pair:
    """Two parameters that are known together only."""

    one: str
    other: str
    coefficient: float


def strong_pairs(data: ReportData) -> list[Pair]:
    """The most strongly correlated parameters."""
    if data.correlation is None or not data.parameters:
        return []
    names = [parameter.name for parameter in data.parameters]
    found = [
        Pair(names[i], names[j], float(data.correlation[i, j]))
        for i in range(len(names))
        for j in range(i)
        if abs(data.correlation[i, j]) >= STRONG
    ]
    return sorted(found, key=lambda pair: -abs(pair.coefficient))[:LISTED_PAIRS]


def _drawn(body: Body) -> dict[str, Any]:
    """What the page's script needs to draw a link."""
    return {
        "name": shown(body.name, 24),
        "parent": body.parent,
        "joint": body.joint.tolist(),
        "axis": body.axis.tolist(),
        "prismatic": body.prismatic,
        "mass": number(body.mass, 3),
        "com": body.com.tolist(),
        "spread": None if body.spread is None else body.spread.tolist(),
        "physical": body.physical,
    }


def _units(compared: Compared, robot: Any) -> dict[str, str]:
    return {name: effort_unit(robot, j) for j, name in enumerate(compared.comparison.joint_names)}


def _basename(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path


def environment() -> Any:
    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(number=number, percent=percent, shown=shown, units=_units, basename=_basename)
    found.globals.update(with_uncertainty=with_uncertainty)
    return found


def asset(name: str) -> str:
    return resources.files("dynid.report").joinpath("assets", name).read_text(encoding="utf-8")


def policy(scripts: Sequence[str]) -> str:
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
