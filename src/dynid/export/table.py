"""The estimate as a table: CSV for programs, LaTeX for papers."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

from dynid.base.typeset import expression, symbol
from dynid.errors import RobotError
from dynid.estimate import Estimate
from dynid.export.exported import Exported

HEAD = ("set", "name", "value", "std", "relative_std_percent", "origin", "expression")


@dataclass(frozen=True)
class Row:
    """One number: of the `identified` set with its deviation, or of the `standard` one with its origin."""

    set: str
    name: str
    value: float
    std: float  # NaN for standard parameters, which have none of their own
    origin: str
    expression: str

    @property
    def relative(self) -> float:
        """Deviation in per cent of the value, NaN where there is none."""
        return 100.0 * self.std / abs(self.value) if self.value and math.isfinite(self.std) else math.nan


def rows_of(estimate: Estimate) -> Iterator[Row]:
    """Identified values, then, of a physical set, the standard parameters."""
    for name, value, std, text in zip(
        estimate.names, estimate.values.tolist(), estimate.std.tolist(), estimate.expressions, strict=True
    ):
        yield Row("identified", name, value, std, "", text)
    if estimate.parameters is not None:
        names = estimate.robot.parameter_names
        for name, value, origin in zip(names, estimate.parameters.tolist(), estimate.origins, strict=True):
            yield Row("standard", name, value, math.nan, origin, name)


def write_csv(estimate: Estimate) -> Exported:
    """All numbers, possible or not, a row each; a field is empty where there is no finite number."""
    table = list(rows_of(estimate))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEAD)
    for row in table:
        figures = (_field(row.value), _field(row.std), _field(row.relative))
        writer.writerow((row.set, row.name, *figures, row.origin, row.expression))
    text = stream.getvalue()
    found = [(row["name"], float(row["value"])) for row in csv.DictReader(io.StringIO(text))]
    if found != [(row.name, row.value) for row in table]:
        raise RobotError("the CSV table is not kept: read back, its values differ")
    return Exported(text)


def write_latex(estimate: Estimate) -> Exported:
    """A `tabular` of the identified values: symbol, value with deviation, and what it stands for."""
    lines = [
        r"\begin{tabular}{lrrl}",
        r"\hline",
        r"parameter & value & \(\sigma\) in \% & stands for \\",
        r"\hline",
    ]
    for row in rows_of(estimate):
        if row.set == "identified":
            share = f"{row.relative:.2g}" if math.isfinite(row.relative) else "--"
            meaning = rf"\({expression(row.expression)}\)"
            lines.append(rf"\({symbol(row.name)}\) & \({_figure(row.value)}\) & {share} & {meaning} \\")
    return Exported("\n".join([*lines, r"\hline", r"\end{tabular}", ""]))


def _field(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""


def _figure(value: float) -> str:
    """Four digits, powers of ten written as such."""
    digits, e, exponent = f"{value:.4g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}" if e else digits
