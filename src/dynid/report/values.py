"""Figures of parameters: values with their intervals, correlation, and how few would do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.report.data import Essential, Parameter
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
from dynid.report.text import folded, in_figure, labels, number, with_uncertainty
from dynid.spatial import Array

LINE = 17  # px per parameter
TICKS = 5  # to each side of zero
CELL = 15  # px per parameter of the correlation map
LARGEST_MAP = 660  # px: with its heading it fits on a sheet of paper


def intervals(parameters: Sequence[Parameter]) -> Figure:
    """Values with 95 % intervals, a panel for each unit, on scales that show small ones too."""
    groups: dict[str, list[Parameter]] = {}
    for parameter in parameters:
        groups.setdefault(parameter.unit, []).append(parameter)
    shares, height = domains([LINE * len(group) + 22 for group in groups.values()], OWN_AXIS)
    data: list[Trace] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for at, (unit, group) in enumerate(groups.items()):
        x, y = key("x", at), key("y", at)
        places = np.arange(len(group), dtype=np.float64)
        scale = Scale.of(group)
        axes[long_key("x", at)] = axis(anchor=y, zeroline=True, **scale.ticks)
        axes[long_key("y", at)] = axis(
            domain=shares[at],
            anchor=x,
            range=[len(group) - 0.4, -0.6],
            tickvals=places,
            ticktext=labels([p.name for p in group], 14),
            tickfont={"size": 11},
            zeroline=False,
            automargin=True,
        )
        notes.append(headline(f"<b>{in_figure(unit or 'own units')}</b>", x, y))
        data += [{**trace, "xaxis": x, "yaxis": y} for trace in _points(group, places, scale, at == 0)]
    common = layout(height, **axes, annotations=notes, hovermode="closest")
    return Figure(
        caption="Parameters with 95 % intervals, grouped by unit, on axes logarithmic to both sides of zero",
        data=data,
        layout=common,
    )


@dataclass(frozen=True)
class Scale:
    """Logarithmic to both sides of zero, even within `unit` of it: so small values are seen, too."""

    unit: float
    largest: float

    @classmethod
    def of(cls, group: Sequence[Parameter]) -> Scale:
        """Even where the smaller half of the intervals lies."""
        sizes = [max(abs(p.value), p.half_width if p.determined else 0.0) for p in group]
        sizes += [abs(p.reference) for p in group if p.reference is not None]
        largest = max(sizes) or 1.0
        half = float(np.median([p.half_width for p in group if p.determined and p.half_width] or [largest]))
        return cls(10.0 ** round(math.log10(max(half, 1e-6 * largest))), largest)

    def __call__(self, values: Array) -> Array:
        return np.arcsinh(values / self.unit)

    @property
    def ticks(self) -> dict[str, Any]:
        """Ticks at powers of ten, and at zero, as far apart as their figures need."""
        half = math.asinh(self.largest / self.unit)
        apart = max(1, math.ceil(half / (TICKS * math.log(10.0))))  # decades
        high = math.floor(math.log10(self.largest))
        powers = [10.0**e for e in range(high, high - 16, -apart)]
        powers = [p for p in powers if math.asinh(p / self.unit) > half / TICKS]
        values = [*(-p for p in powers), 0.0, *reversed(powers)]
        return {"tickvals": self(np.array(values)), "ticktext": [f"{v:g}" for v in values], "tickangle": 0}


def _points(group: Sequence[Parameter], places: Array, scale: Scale, first: bool) -> list[Trace]:
    known = np.array([p.determined for p in group])
    value = np.array([p.value for p in group])
    half = np.array([p.half_width for p in group])
    at = scale(value)
    texts = [_hover(p) for p in group]
    found: list[Trace] = []
    reference = np.array([np.nan if p.reference is None else p.reference for p in group])
    if np.isfinite(reference).any():
        found.append(
            {
                **_marks(scale(reference), places, texts, first, "robot's file", "@muted"),
                "marker": {
                    "symbol": "diamond-open",
                    "size": 9,
                    "color": "@muted",
                    "line": {"width": 1.4, "color": "@muted"},
                },
            }
        )
    if known.any():
        shown = [text for text, k in zip(texts, known.tolist(), strict=True) if k]
        found.append(
            {
                **_marks(at[known], places[known], shown, first, "estimate, 95 % interval", "@predicted"),
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": (scale(value + half) - at)[known],
                    "arrayminus": (at - scale(value - half))[known],
                    "color": "@predicted",
                    "thickness": 1.6,
                    "width": 3,
                },
            }
        )
    if not known.all():
        shown = [text for text, k in zip(texts, known.tolist(), strict=True) if not k]
        found.append(_marks(at[~known], places[~known], shown, True, "not determined", "@bad"))
    return found


def _marks(x: Array, y: Array, texts: Sequence[str], first: bool, name: str, colour: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
        "hovertext": list(texts),
        "hoverinfo": "text",
        "name": name,
        "legendgroup": name,
        "showlegend": first,
        "marker": {"color": colour, "size": 6},
    }


def _hover(parameter: Parameter) -> str:
    value, std = with_uncertainty(parameter.value, parameter.std)
    text = f"<b>{in_figure(parameter.name)}</b> = {value} ± {std} {parameter.unit}"
    if parameter.reference is not None:
        text += f"<br>robot's file: {number(parameter.reference)}"
    return f"{text}<br>{folded(parameter.formula)}" if parameter.formula else text


def correlations(names: Sequence[str], correlation: Array) -> Figure:
    """Which values are known together only: correlation coefficients in per cent."""
    p = len(names)
    every = max(1, -(-p // 60))  # more names than this cannot be read
    places = np.arange(0, p, every, dtype=np.float64)
    texts = labels(names, 14)[::every]
    ticks: dict[str, Any] = {
        "tickvals": places,
        "ticktext": texts,
        "tickfont": {"size": 10},
        "showgrid": False,
        "automargin": True,
    }
    side = min(max(CELL * p, 260), LARGEST_MAP)
    per_cent = np.rint(100.0 * np.clip(np.nan_to_num(correlation), -1.0, 1.0)).astype(np.int8)
    data: list[Trace] = [
        {
            "type": "heatmap",
            "z": per_cent,
            "zmin": -100,
            "zmax": 100,
            "colorscale": [[0, "@low"], [0.5, "@surface"], [1, "@high"]],
            "colorbar": {"title": {"text": "%", "side": "right"}, "thickness": 12, "outlinewidth": 0},
            "hovertext": _pairs(names) if p <= 80 else None,
            "hovertemplate": ("%{hovertext}" if p <= 80 else "row %{y}, column %{x}")
            + ": %{z} %<extra></extra>",
        }
    ]
    common = layout(
        side + 110,
        xaxis=axis(tickangle=-90, range=[-0.5, p - 0.5], zeroline=False, **ticks),
        yaxis=axis(range=[p - 0.5, -0.5], zeroline=False, **ticks),
    )
    return Figure(caption="Correlation of the parameters' errors in per cent", data=data, layout=common)


def _pairs(names: Sequence[str]) -> list[list[str]]:
    short = labels(names, 14)
    return [[f"{row}, {column}" for column in short] for row in short]


def essentials(essential: Essential) -> Figure:
    """What stays unexplained as parameters go, the least important first."""
    errors = np.array(essential.errors)
    count = np.arange(len(errors), 0, -1, dtype=np.float64)
    data: list[Trace] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": count,
            "y": errors,
            "hovertemplate": "%{x} parameters: %{y:.3g} % unexplained<extra></extra>",
            "line": {"color": "@predicted", "width": 1.6},
            "marker": {"size": 5, "color": "@predicted"},
            "showlegend": False,
        }
    ]
    enough = float(len(essential.kept))
    common = layout(
        320,
        xaxis=axis("parameters kept", autorange="reversed"),
        yaxis=axis("unexplained [%]", type="log", **_ticks(errors)),
        annotations=[
            {
                "text": f"{len(essential.kept)} essential",
                "x": enough,
                "y": 1,
                "yref": "y domain",
                "xanchor": "right",
                "yanchor": "top",
                "showarrow": False,
            }
        ],
        shapes=[
            {
                "type": "line",
                "x0": enough,
                "x1": enough,
                "yref": "y domain",
                "y0": 0,
                "y1": 1,
                "line": {"color": "@muted", "width": 1, "dash": "dot"},
            }
        ],
    )
    return Figure(
        caption="Unexplained share of the efforts as parameters are left out, the least important first",
        data=data,
        layout=common,
    )


def _ticks(values: Array) -> dict[str, Any]:
    """Ticks at 1, 2 and 5 of every power of ten, for a logarithmic axis."""
    low, high = (math.floor(math.log10(max(float(x), 1e-9))) for x in (values.min(), values.max()))
    ticks = [digit * 10.0**power for power in range(low, high + 1) for digit in (1, 2, 5)]
    return {"tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
