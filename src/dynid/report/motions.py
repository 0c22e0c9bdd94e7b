"""Figures of what moved: positions and velocities over time, and the share of the limits that was used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dynid.report.colours import SERIES
from dynid.report.data import Motion
from dynid.report.figure import (
    OWN_AXIS,
    Figure,
    Trace,
    axis,
    domains,
    headline,
    key,
    layout,
    long_key,
)
from dynid.report.text import angle_unit, in_figure, labels, number
from dynid.report.thin import line
from dynid.robot import Robot
from dynid.spatial import Array

if TYPE_CHECKING:
    from dynid.tracking import Tracking

PANEL = 190  # px
TRACK = 92
BEYOND = 102.0  # per cent of a limit, which measured velocities pass by their noise alone
BAR = 24  # px per joint
DASHES = ("solid", "dash", "dot", "dashdot")


def paths(motion: Motion, robot: Robot, most: int) -> Figure:
    """Positions and velocities of all joints."""
    shares, height = domains([PANEL, PANEL])
    slides = any(robot.joints[j].prismatic for j in robot.free)
    names = labels(robot.joint_names)
    data: list[Trace] = []
    for row, values in enumerate((motion.position, motion.velocity)):
        for j, name in enumerate(names):
            time, (curve,) = line(motion.time, [values[:, j]], most)
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": time,
                    "y": curve,
                    "yaxis": key("y", row),
                    "name": name,
                    "legendgroup": str(j),
                    "showlegend": row == 0,
                    "line": {
                        "color": SERIES[j % len(SERIES)],
                        "width": 1.4,
                        "dash": DASHES[j // len(SERIES) % len(DASHES)],
                    },
                    "hovertemplate": f"{name}: %{{y:.4g}}<extra></extra>",
                }
            )
    titles = (
        ("position [rad or m]", "velocity [rad/s or m/s]")
        if slides
        else ("position [rad]", "velocity [rad/s]")
    )
    axes = {
        long_key("y", row): axis(title, domain=shares[row], anchor="x") for row, title in enumerate(titles)
    }
    common = layout(height + 30, xaxis=axis("time [s]", anchor="y2"), **axes)
    common["margin"] = {**common["margin"], "t": 60}
    return Figure(caption="Positions and velocities of all joints over time", data=data, layout=common)


def tracks(tracking: Mapping[str, Tracking], robot: Robot) -> Figure:
    """Desired and actual positions of every joint under the efforts of each model."""
    shares, height = domains([TRACK] * robot.dof)
    names = labels(robot.joint_names)
    first = next(iter(tracking.values()))
    curves = {"desired": (first.times, first.wanted, {"color": "@measured", "width": 4.0})}
    for k, (name, run) in enumerate(tracking.items()):
        look = {"color": SERIES[k % len(SERIES)], "width": 1.8, "dash": DASHES[k % len(DASHES)]}
        curves[in_figure(name)] = (run.times, run.actual, look)
    data: list[Trace] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for j in range(robot.dof):
        for name, (times, positions, look) in curves.items():
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": times,
                    "y": positions[:, j],
                    "yaxis": key("y", j),
                    "name": name,
                    "legendgroup": name,
                    "showlegend": j == 0,
                    "line": look,
                    "hovertemplate": f"{name} %{{y:.4g}}<extra></extra>",
                }
            )
        axes[long_key("y", j)] = axis(domain=shares[j], anchor="x", nticks=4)
        notes.append(headline(f"<b>{names[j]}</b>  [{angle_unit(robot, j)}]", "x", key("y", j)))
    axes["xaxis"] = axis("time [s]", anchor=key("y", robot.dof - 1))
    common = layout(height, **axes, annotations=notes, hovermode="x")
    return Figure(caption="Desired and actual positions, one panel per joint", data=data, layout=common)


def ranges(motions: Sequence[Motion], robot: Robot) -> Figure | None:
    """Of every joint the part of its limits that was used, all logs together; None without any limit."""
    quantities = [q for q in _quantities(motions, robot) if any(bar is not None for bar in q[1])]
    if not quantities:
        return None
    shares, height = domains([BAR * robot.dof + 8] * len(quantities), OWN_AXIS)
    names = labels(robot.joint_names)
    places = np.arange(robot.dof, dtype=np.float64)
    data: list[Trace] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for at, (title, bars) in enumerate(quantities):
        x, y = key("x", at), key("y", at)
        known = [(j, bar) for j, bar in enumerate(bars) if bar is not None]
        over = [max(abs(bar[0]), abs(bar[1])) > BEYOND for _, bar in known]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "y": [float(j) for j, _ in known],
                "base": [bar[0] for _, bar in known],
                "x": [bar[1] - bar[0] for _, bar in known],
                "hovertext": [f"{names[j]}: {bar[2]}" for j, bar in known],
                "hoverinfo": "text",
                "marker": {"color": ["@bad" if far else "@predicted" for far in over]},
                "showlegend": False,
                "xaxis": x,
                "yaxis": y,
            }
        )
        far = max([115.0, *(1.05 * max(abs(bar[0]), abs(bar[1])) for _, bar in known)])
        span = [-far if title == "position" else 0.0, far]
        axes[long_key("x", at)] = axis(anchor=y, range=span, ticksuffix=" %", nticks=9, zeroline=True)
        axes[long_key("y", at)] = axis(
            domain=shares[at],
            anchor=x,
            range=[robot.dof - 0.4, -0.6],
            tickvals=places,
            ticktext=names,
            automargin=True,
            showgrid=False,
            zeroline=False,
        )
        notes.append(headline(f"<b>{title}</b>, share of the limits", x, y))
    common = layout(height, **axes, annotations=notes, bargap=0.45)
    common["shapes"] = [
        _limit(key("x", at), key("y", at), x) for at in range(len(quantities)) for x in (-100, 100)
    ]
    return Figure(caption="Share of each joint's limits that the motion used", data=data, layout=common)


Bar = tuple[float, float, str] | None


def _quantities(motions: Sequence[Motion], robot: Robot) -> list[tuple[str, list[Bar]]]:
    """Bars of every joint: from, to (per cent), and the figures behind them."""
    position: list[Bar] = []
    velocity: list[Bar] = []
    effort: list[Bar] = []
    for k, j in enumerate(robot.free):
        limits = robot.joints[j].limits
        low, high = _extremes([m.position[:, k] for m in motions])
        if np.isfinite(limits.upper - limits.lower) and limits.upper > limits.lower:
            middle, half = 0.5 * (limits.lower + limits.upper), 0.5 * (limits.upper - limits.lower)
            text = f"{number(low)} … {number(high)} of {number(limits.lower)} … {number(limits.upper)}"
            position.append((100 * (low - middle) / half, 100 * (high - middle) / half, text))
        else:
            position.append(None)
        velocity.append(_largest([m.velocity[:, k] for m in motions], limits.velocity))
        effort.append(_largest([m.effort[:, k] for m in motions if m.effort is not None], limits.effort))
    return [("position", position), ("velocity", velocity), ("effort", effort)]


def _extremes(columns: Sequence[Array]) -> tuple[float, float]:
    values = np.concatenate(columns) if columns else np.zeros(0)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (np.nan, np.nan)


def _largest(columns: Sequence[Array], limit: float) -> Bar:
    low, high = _extremes(columns)
    largest = max(abs(low), abs(high))
    if not (np.isfinite(limit) and limit > 0.0 and np.isfinite(largest)):
        return None
    return 0.0, 100 * largest / limit, f"{number(largest)} of {number(limit)}"


def _limit(x: str, y: str, at: float) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": x,
        "yref": f"{y} domain",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 1,
        "line": {"color": "@bad", "width": 1, "dash": "dot"},
    }
