"""Figures as plotly wants them, as plain data: who draws them, and in which colours, is decided later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from dynid.report.colours import LIGHT

Trace = dict[str, Any]

MARGIN = 26  # px between panels that lie one below the other
OWN_AXIS = 50  # px between them, if each has ticks and figures below it
TOP, BOTTOM = 34, 46  # px around all panels
SHEET = 1000  # px of A4 between its margins


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure:
    """Traces and layout; colours are names such as "@ink", see `colours`."""

    caption: str  # says in words what there is to see
    data: Sequence[Trace]
    layout: Mapping[str, Any]

    @property
    def height(self) -> int:
        return int(self.layout["height"])

    @property
    def tall(self) -> bool:
        """Whether no sheet of paper has room for it."""
        return self.height > SHEET


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """An axis with everything that all have in common."""
    common = {
        "gridcolor": "@grid",
        "zerolinecolor": "@line",
        "linecolor": "@line",
        "tickcolor": "@line",
        "title": {"text": title, "standoff": 8},
    }
    return {**common, **more}


def layout(height: int, **more: Any) -> dict[str, Any]:
    """A layout with everything that all have in common."""
    common: dict[str, Any] = {
        "height": height,
        "margin": {"l": 58, "r": 12, "t": TOP, "b": BOTTOM},
        "paper_bgcolor": "@surface",
        "plot_bgcolor": "@surface",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": "@ink"},
        "hoverlabel": {
            "bgcolor": "@raised",
            "bordercolor": "@line",
            "font": {"color": "@ink"},
            "align": "left",
        },
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
        "dragmode": "zoom",
        "uirevision": "kept",  # what a reader has zoomed into stays when the colours change
        "annotations": [],
    }
    return {**common, **more}


def domains(heights: Sequence[float], margin: float = MARGIN) -> tuple[list[list[float]], int]:
    """Panels one below the other, the first on top: shares of the figure, and its height in px."""
    inner = sum(heights) + margin * (len(heights) - 1)
    found: list[list[float]] = []
    top = float(inner)
    for height in heights:
        found.append([max((top - height) / inner, 0.0), top / inner])
        top -= height + margin
    return found, round(inner) + TOP + BOTTOM


def key(kind: str, number: int) -> str:
    """The name of an axis: x, x2, x3 ..."""
    return kind if number == 0 else f"{kind}{number + 1}"


def long_key(kind: str, number: int) -> str:
    """The name of an axis in the layout: xaxis, xaxis2 ..."""
    return f"{kind}axis" if number == 0 else f"{kind}axis{number + 1}"


def headline(text: str, x: str, y: str) -> dict[str, Any]:
    """What a panel shows, above its left end."""
    return {
        "text": text,
        "xref": f"{x} domain",
        "yref": f"{y} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": "@ink", "size": 12},
    }


def coloured(value: Any, colours: Mapping[str, str]) -> Any:
    """A part of a figure with colours in the place of their names."""
    if isinstance(value, str):
        return colours.get(value[1:], value) if value.startswith("@") else value
    if isinstance(value, Mapping):
        return {k: coloured(v, colours) for k, v in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [coloured(v, colours) for v in cast("Sequence[Any]", value)]
    return value


def plotly_figure(figure: Figure) -> Any:
    """A `plotly.graph_objects.Figure` in light colours, for notebooks."""
    graph_objects: Any = import_module("plotly.graph_objects")
    return graph_objects.Figure(
        data=coloured(list(figure.data), LIGHT), layout=coloured(dict(figure.layout), LIGHT)
    )
