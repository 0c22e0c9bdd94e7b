"""An estimate as a page of plain text: the verdict first, then how well it predicts, then the values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dynid.report.text import shown
from dynid.validation import Score

if TYPE_CHECKING:
    from dynid.estimate import Estimate

LONGEST = 1000  # characters of a line; names in it are from files
WIDTH = 100  # characters of a line of advice
FORMULA = 60  # characters of a formula
VERDICTS = {
    "trusted": "can be trusted",
    "weak": "weak: not to be trusted without a closer look",
    "failed": "failed: of no use as it is",
}


def summary(estimate: Estimate) -> str:
    """The page."""
    lines = [f"{estimate.robot.name}: {VERDICTS[estimate.status]}"]
    lines += [line for advice in estimate.advice for line in _wrapped(advice)]
    lines += ["", *score_table("training logs", estimate.train)]
    for log, scores in estimate.validation.items():
        lines += ["", *score_table(f"validation on {log}", scores)]
    lines += ["", *parameter_table(estimate), ""]
    if estimate.parameters is not None:
        lines += [*body_table(estimate), ""]
    lines.append(_foot(estimate))
    return "\n".join(shown(line, LONGEST) for line in lines)


def score_table(title: str, scores: Mapping[str, Score]) -> list[str]:
    """Errors of predicted efforts per joint, a line each."""
    head = ("joint", "RMSE", "%", "% raw", "% moving", "R2")
    rows = [
        (
            joint,
            f"{score.rmse:.3g}",
            *(_figure(x, ".1f") for x in (score.percent, score.percent_raw, score.percent_moving)),
            _figure(score.r2, ".4f"),
        )
        for joint, score in scores.items()
    ]
    title = f"{title}, error of the predicted efforts (Nm or N; % of the measured RMS):"
    return [shown(line, LONGEST) for line in (title, *_aligned(head, rows))]


def parameter_table(estimate: Estimate) -> list[str]:
    """Every value with its 95 % interval, and what it stands for."""
    head = ("parameter", "value", "std", "std %", "95 % interval", "stands for")
    rows: list[tuple[str, ...]] = []
    intervals = estimate.interval().tolist()
    columns = zip(
        estimate.names,
        estimate.values.tolist(),
        estimate.std.tolist(),
        intervals,
        estimate.expressions,
        strict=True,
    )
    for name, value, std, (low, high), expression in columns:
        known = math.isfinite(std)
        share = 100.0 * std / abs(value) if known and value else math.inf
        rows.append(
            (
                name,
                f"{value:.5g}",
                f"{std:.2g}" if known else "-",
                _figure(share, ".1f"),
                f"{low:.4g} .. {high:.4g}" if known else "not determined",
                "" if expression == name else shortened(expression),
            )
        )
    return _aligned(head, rows, left=(0, 4, 5))


def body_table(estimate: Estimate) -> list[str]:
    """The bodies of a physical set, and whose word each of their parameters is."""
    from dynid.spatial import parameters_to_com

    assert estimate.parameters is not None
    head = ("link", "mass, kg", "centre of mass, m", "moments about it, kg m^2 (Ixx Iyy Izz)", "known from")
    rows: list[tuple[str, ...]] = []
    for k, link in enumerate(estimate.robot.links):
        own = slice(10 * k, 10 * k + 10)
        mass, com, inertia = parameters_to_com(estimate.parameters[own])
        figures = (" ".join(f"{x:.4g}" for x in values.round(9)) for values in (com, inertia.diagonal()))
        letters = "".join(origin[0] for origin in estimate.origins[own])
        rows.append((link.name, f"{mass:.4g}", *figures, f"{letters[:6]} {letters[6:9]} {letters[9:]}"))
    said = estimate.choices.get("physical", {})
    counts = ", ".join(f"{estimate.origins.count(o)} {o}" for o in ("measured", "grouped", "prior"))
    return [
        "bodies that can exist:",
        *_aligned(head, rows, left=(0, 2, 3, 4)),
        "known from (XX XY XZ YY YZ ZZ, MX MY MZ, M): m measured; g grouped, the share in a measured sum",
        f"is the prior's; p the prior's ({said.get('prior', 'not said')}). In all {counts}.",
        "They change the predicted efforts by "
        f"{_figure(said.get('prediction_change_percent'), '.2g')} % and the base values by "
        f"{_figure(said.get('base_distance_percent'), '.2g')} %.",
    ]


def _foot(estimate: Estimate) -> str:
    chosen = estimate.choices
    distance = estimate.terms.presliding
    memory = f" that turns over {1e3 * distance:.2g} mrad" if distance else ""
    return (
        f"{estimate.samples} samples, condition {estimate.condition:.3g} "
        f"({estimate.scaled_condition:.3g} with columns of one length), method {chosen.get('method')}, "
        f"cut-off {chosen.get('cutoff_hz', math.nan):.3g} Hz, friction {chosen.get('friction')}{memory}, "
        f"{estimate.seconds:.1f} s"
    )


def shortened(expression: str) -> str:
    """A formula's beginning; `dynid base` shows all of it."""
    return expression if len(expression) <= FORMULA else f"{expression[: FORMULA - 4].rstrip()} ..."


def _figure(value: float | None, form: str) -> str:
    return format(value, form) if value is not None and math.isfinite(value) else "-"


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> list[str]:
    table = [head, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, WIDTH, initial_indent="  - ", subsequent_indent="    ")
