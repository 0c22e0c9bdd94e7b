"""How robots, base parameters, logs and estimates show themselves in notebooks: as tables, and as figures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dynid.report.text import effort_unit, number, parameter_unit, shown, with_uncertainty

if TYPE_CHECKING:
    from dynid.base.result import BaseParameters
    from dynid.estimate import Estimate
    from dynid.log.log import Log
    from dynid.robot import Robot

MOST = 200  # rows of one table
SEALS = {"trusted": "✓ can be trusted", "weak": "! to be used with care", "failed": "✕ of no use"}


def robot_html(robot: Robot) -> str:
    """Joints with limits, and masses."""
    rows = [
        (
            joint.name,
            joint.kind,
            f"{number(joint.limits.lower, 3)} … {number(joint.limits.upper, 3)}",
            number(joint.limits.velocity, 3),
            number(joint.limits.effort, 3),
            number(float(link.parameters[9]), 4),
        )
        for joint, link in zip(robot.joints, robot.links, strict=True)
    ]
    head = ("joint", "kind", "position", "velocity", "effort", "mass of its link, kg")
    return table(f"{robot.name}: {robot.dof} joints", head, rows)


def base_html(base: BaseParameters) -> str:
    """Every base parameter and what it stands for."""
    rows = list(zip(base.names, base.expressions, strict=True))
    title = f"{base.count} base parameters of the {base.model} model, method {base.method}"
    return table(title, ("name", "stands for"), rows)


def log_html(log: Log) -> str:
    """Length, clock, and what each joint did."""
    span = float(log.time[-1] - log.time[0]) if len(log) else 0.0
    rate = (len(log) - 1) / span if span > 0.0 else float("nan")
    title = f"{log.provenance.source}: {len(log)} samples, {number(span)} s, {number(rate)} Hz"
    rows: list[Sequence[str]] = []
    for j, name in enumerate(log.joint_names):
        effort = "–" if log.effort is None else _range(log.effort[:, j])
        rows.append((name, _range(log.position[:, j]), effort))
    return table(title, ("joint", "position", "effort"), rows)


def estimate_html(estimate: Estimate) -> str:
    """Verdict, advice, errors of predictions, and values."""
    robot = estimate.robot
    parts = [f"<h4>{_text(robot.name)}: {SEALS[estimate.status]}</h4>"]
    parts += [f"<p>{_text(advice, 1000)}</p>" for advice in estimate.advice]
    scored = {"training logs": estimate.train} | {
        f"validation on {log}": scores for log, scores in estimate.validation.items()
    }
    for title, scores in scored.items():
        units = {name: effort_unit(robot, j) for j, name in enumerate(robot.joint_names)}
        rows = [
            (
                joint,
                f"{number(score.rmse, 3)} {units.get(joint, '')}",
                *(number(x, 3) for x in (score.percent, score.percent_raw, score.percent_moving)),
            )
            for joint, score in scores.items()
        ]
        parts.append(table(title, ("joint", "RMS error", "%", "% as measured", "% moving"), rows))
    values: list[Sequence[str]] = []
    for name, value, std, formula in zip(
        estimate.names, estimate.values.tolist(), estimate.std.tolist(), estimate.expressions, strict=True
    ):
        values.append((name, *with_uncertainty(value, std), parameter_unit(name, robot), formula))
    parts.append(table("values", ("name", "value", "std", "unit", "stands for"), values))
    return "\n".join(parts)


def figures(estimate: Estimate, logs: Sequence[Log]) -> dict[str, Any]:
    """The report's figures of an estimate and some logs, by name, as plotly figures."""
    from dynid.report.figure import plotly_figure
    from dynid.report.from_estimate import report_data
    from dynid.report.page import figures as of_report

    drawn = of_report(report_data(estimate, (), logs, operations=()))
    return {name: plotly_figure(figure) for name, figure in drawn.items()}


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table; whatever stands in it is text."""
    cells = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{_text(cell, 200)}</td>' for cell in row)}</tr>" for row in rows[:MOST]
    )
    more = f"<p>and {len(rows) - MOST} more</p>" if len(rows) > MOST else ""
    return (
        f"<table><caption>{_text(title, 200)}</caption><thead><tr>{cells}</tr></thead>"
        f"<tbody>{body}</tbody></table>{more}"
    )


def _text(value: object, limit: int = 60) -> str:
    return escape(shown(value, limit))


def _range(values: Any) -> str:
    known = values[np.isfinite(values)]
    return f"{number(known.min(), 3)} … {number(known.max(), 3)}" if len(known) else "–"
