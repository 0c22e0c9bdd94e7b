"""The page about an exciting trajectory: what moves, how near to which limit, and the arm as it goes.

One HTML file with everything inside, as in `page`, whose locks it shares.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
from markupsafe import Markup

from dynid import __version__
from dynid.excite.optimise import Excitation
from dynid.files import whole_file
from dynid.report.arm import poses
from dynid.report.colours import LIGHT, SERIES
from dynid.report.encode import script_json
from dynid.report.figure import Figure, axis, coloured, domains, headline, key, layout, long_key
from dynid.report.page import asset, environment, policy
from dynid.report.text import labels, number
from dynid.report.thin import line
from dynid.spatial import Array

PANEL = 180  # px
MOST = 800  # points of one curve
SHOWN = 240  # poses of the arm


def write_excitation(path: str | os.PathLike[str], found: Excitation, *, force: bool = False) -> None:
    """The page as a file, whole or not at all."""
    text = render(found)
    with whole_file(path, force=force) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render(found: Excitation) -> str:
    """The page as text."""
    figure = against_limits(found)
    content = {
        "figure": coloured({"data": list(figure.data), "layout": dict(figure.layout)}, LIGHT),
        "arm": moving_arm(found),
    }
    plotly: Any = import_module("plotly.offline")
    scripts = [Markup(plotly.get_plotlyjs()), Markup(asset("excitation.js"))]
    return (
        environment()
        .get_template("excitation.html")
        .render(
            robot=found.robot.name,
            version=__version__,
            safe=found.certificate.safe,
            figures=summary(found),
            limits=_limits(found),
            joints=found.trajectory.joint_names,
            caption=figure.caption,
            notes=[*([found.reason] if found.reason else []), *found.notes],
            content=Markup(script_json(content)),
            scripts=scripts,
            policy=policy(scripts),
        )
    )


def summary(found: Excitation) -> list[tuple[str, str]]:
    """What to know first."""
    observation = found.setting.observation
    entries = [
        ("parameters", f"{observation.base.count} of the {observation.model} model"),
        ("condition number", number(found.condition)),
        ("scaling S", number(found.scaling)),
        ("duration", f"{number(found.duration)} s, {len(found.trajectory.times)} rows"),
        ("closest limit", found.certificate.worst(found.trajectory.joint_names)),
    ]
    if found.condition_with_logs is not None:
        entries.insert(2, ("together with the logs", number(found.condition_with_logs)))
    return entries


def _limits(found: Excitation) -> list[tuple[str, list[str]]]:
    """Share of each joint's limits that is used, by limit, from the certificate."""
    return [
        (name, [f"{100.0 + 200.0 * x:.1f} %" if x > -1.0 else "no limit" for x in excess.tolist()])
        for name, excess in found.certificate.excess.items()
        if name not in ("space", "position")
    ]


def against_limits(found: Excitation) -> Figure:
    """Position, velocity, acceleration and effort over time, in per cent of the limits."""
    bounds, trajectory = found.setting.bounds, found.trajectory
    panels = [
        ("position", (trajectory.q - bounds.middle) / bounds.half),
        ("velocity", trajectory.qd / bounds.velocity),
        ("acceleration", trajectory.qdd / bounds.acceleration),
    ]
    if found.setting.effort is not None:
        efforts = found.setting.effort.model.efforts(trajectory.q, trajectory.qd, trajectory.qdd)
        panels.append(("effort", efforts / bounds.effort))
    shares, height = domains([PANEL] * len(panels))
    names = labels(trajectory.joint_names)
    data: list[dict[str, Any]] = []
    for row, (what, values) in enumerate(panels):
        for j, name in enumerate(names):
            time, (curve,) = line(trajectory.times, [100.0 * values[:, j]], MOST)
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": time.tolist(),
                    "y": curve.tolist(),
                    "yaxis": key("y", row),
                    "name": name,
                    "legendgroup": str(j),
                    "showlegend": row == 0,
                    "line": {"color": SERIES[j % len(SERIES)], "width": 1.4},
                    "hovertemplate": f"{name}, {what}: %{{y:.1f}} %<extra></extra>",
                }
            )
    bottom = key("y", len(panels) - 1)
    axes = {
        long_key("y", row): axis(domain=shares[row], anchor="x", range=[-112, 112], ticksuffix=" %")
        for row in range(len(panels))
    }
    notes = [headline(f"<b>{what}</b>", "x", key("y", row)) for row, (what, _) in enumerate(panels)]
    common = layout(height + 30, xaxis=axis("time [s]", anchor=bottom), annotations=notes, **axes)
    common["margin"] = {**common["margin"], "t": 70}
    common["shapes"] = [_limit(key("y", row), at) for row in range(len(panels)) for at in (-100, 100)]
    return Figure(caption="Share of every joint's limits over time", data=data, layout=common)


def _limit(y: str, at: float) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x domain",
        "yref": y,
        "x0": 0,
        "x1": 1,
        "y0": at,
        "y1": at,
        "line": {"color": "@bad", "width": 1, "dash": "dot"},
    }


def moving_arm(found: Excitation) -> dict[str, Any]:
    """Where the joints and the ends of the last links are, in mm, in poses evenly spaced in time."""
    robot, trajectory = found.robot, found.trajectory
    rows = np.unique(np.linspace(0, len(trajectory.times) - 1, SHOWN).astype(np.intp))
    carrying = {joint.parent for joint in robot.joints}
    tips = [j for j in range(len(robot.joints)) if j not in carrying]
    frames = [_places(found, trajectory.q[row], tips) for row in rows]
    parents = [joint.parent for joint in robot.joints] + tips
    return {"parents": parents, "times": trajectory.times[rows].tolist(), "frames": frames}


def _places(found: Excitation, q: Array, tips: list[int]) -> list[list[int]]:
    placed = poses(found.robot, q)
    points = [seat.translation for seat, _ in placed]
    for j in tips:
        ten = found.robot.links[j].parameters
        known = np.isfinite(ten).all() and ten[9] > 0.0
        points.append(placed[j][1].apply(ten[6:9] / ten[9]) if known else placed[j][1].translation)
    return np.rint(1000.0 * np.array(points)).astype(np.int64).tolist()
