"""Base parameters as Markdown and as LaTeX in the papers' typography."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from dynid.base.result import BaseParameters, linear_text, readable, shortest
from dynid.spatial import Array

_STANDARD = re.compile(r"([XYZ]{2}|M[XYZ]|M|Ia|F[vco])(R?)(\d+)")
_TERM = re.compile(r"(?P<sign>^-|[+-] )?(?P<factor>[\d.e+-]+ )?(?P<name>[A-Za-z]\S*)")


def compact(base: BaseParameters, row: int) -> str:
    """The expression of one base parameter with equal factors taken out: '... + 0.25 (M4 + M5 + M6)'."""
    lead = base.kept[row] if base.kept else None
    return grouped(base.matrix[row], base.columns, lead)


def grouped(coefficients: Array, names: Sequence[str], lead: str | None) -> str:
    """A linear text in which terms with one factor, other than 1, share it."""
    coefficients = readable(coefficients)
    factors = [float(c) for c in dict.fromkeys(np.abs(coefficients)) if c not in (0.0, 1.0)]
    shared = [c for c in factors if np.count_nonzero(np.abs(coefficients) == c) > 1]
    plain = np.where(np.isin(np.abs(coefficients), shared), 0.0, coefficients)
    text = linear_text(plain, names, lead) if np.any(plain) else ""
    for factor in shared:
        signs = np.where(np.abs(coefficients) == factor, np.sign(coefficients), 0.0)
        first = signs[np.flatnonzero(signs)[0]]
        sign = ("-" if first < 0 else "") if not text else (" - " if first < 0 else " + ")
        text += f"{sign}{shortest(factor)} ({linear_text(first * signs, names)})"
    return text


def markdown(base: BaseParameters) -> str:
    """A table of the base parameters and the list of those without effect."""
    lines = ["| parameter | stands for |", "|---|---|"]
    lines += [
        f"| `{name}` | {text.replace('|', '&#124;')} |"
        for name, text in zip(base.names, base.expressions, strict=True)
    ]
    if base.no_effect:
        lines += ["", f"Without effect: {', '.join(f'`{name}`' for name in base.no_effect)}."]
    return "\n".join(lines)


def latex(base: BaseParameters) -> str:
    """An `align*` environment with one line per base parameter."""
    lines = [
        f"  {symbol(name)} &= {expression(text)}"
        for name, text in zip(base.names, base.expressions, strict=True)
    ]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def symbol(name: str) -> str:
    """XXR2 as XX_{R2}, MX3 as mX_{3}, Fv1 as F_{v1}; any other name upright."""
    match = _STANDARD.fullmatch(name)
    if match is None:
        escaped = re.sub(r"([\\{}$&#%_^~])", r"\\\1", name).replace("\\\\", "\\backslash ")
        return f"\\mathrm{{{escaped}}}"
    letters, regrouped, number = match.groups()
    if letters in ("Ia", "Fv", "Fc", "Fo"):
        return f"{letters[0]}_{{{letters[1]}{regrouped}{number}}}"
    return f"{letters.replace('M', 'm')}_{{{regrouped}{number}}}"


def expression(text: str) -> str:
    """A linear text of `BaseParameters.expressions`, term by term."""

    def term(match: re.Match[str]) -> str:
        sign = match["sign"] or ""
        factor = (match["factor"] or "").strip()
        if "e" in factor:
            digits, exponent = factor.split("e")
            factor = f"{digits} \\cdot 10^{{{int(exponent)}}}"
        return f"{sign}{factor}{' ' if factor else ''}{symbol(match['name'])}"

    return _TERM.sub(term, text)
