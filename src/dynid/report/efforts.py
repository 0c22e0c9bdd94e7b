"""Figures of measured beside predicted efforts, and of what is left between them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dynid.report.data import Compared
from dynid.report.figure import (
    BOTTOM,
    OWN_AXIS,
    TOP,
    Figure,
    Trace,
    axis,
    domains,
    headline,
    key,
    layout,
    long_key,
)
from dynid.report.text import effort_unit, labels
from dynid.report.thin import line, pieces
from dynid.robot import Robot
from dynid.spatial import Array

_signal: Any = import_module("scipy.signal")  # it has no types
_fft: Any = import_module("scipy.fft")

ROW = 104  # px
BINS = 41
WIDEST = 4.0  # standard deviations at the ends of a histogram
SPECTRUM_S = 4.0  # length of the pieces whose spectra are averaged
LINES = 140  # of a spectrum, evenly spread over its decades
LONGEST_LAG_S = 1.0
LAGS = 120

RAISED = 22  # px that the legend lies above the panels' headlines
_LOG = {"type": "log", "exponentformat": "none", "dtick": 1, "tickfont": {"size": 11}}
_COUNTS = {"showticklabels": False, "rangemode": "tozero"}
# Of histogram, spectrum and autocorrelation.
ABSCISSAS: tuple[dict[str, Any], ...] = ({"nticks": 5}, _LOG, {"nticks": 5})
ORDINATES: tuple[dict[str, Any], ...] = (_COUNTS, _LOG, {"nticks": 4})


def efforts(compared: Compared, robot: Robot, most: int) -> Figure:
    """Measured and predicted effort of every joint over time, with one time axis for all."""
    one = compared.comparison
    data: list[Trace] = []
    for row, j in enumerate(compared.joints):
        time, (measured, predicted) = line(one.time, [one.measured[:, j], one.predicted[:, j]], most)
        data += [
            _curve(time, measured, row, "measured", "@measured", 2.6),
            _curve(time, predicted, row, "predicted", "@predicted", 1.4),
        ]
    return _rows(data, compared, robot, f"Measured and predicted efforts, {compared.role} log")


def residuals(compared: Compared, robot: Robot, most: int) -> Figure:
    """Measured less predicted effort of every joint over time."""
    time, residual = compared.comparison.time, compared.residual
    data: list[Trace] = []
    for row, j in enumerate(compared.joints):
        at, (left,) = line(time, [residual[:, j]], most)
        data.append(_curve(at, left, row, "measured − predicted", "@residual", 1.2))
    return _rows(data, compared, robot, f"Residuals over time, {compared.role} log")


def _curve(time: Array, values: Array, row: int, name: str, colour: str, width: float) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": time,
        "y": values,
        "xaxis": "x",
        "yaxis": key("y", row),
        "name": name,
        "legendgroup": name,
        "showlegend": row == 0,
        "connectgaps": False,
        "line": {"color": colour, "width": width},
        "hovertemplate": f"{name} %{{y:.4g}}<extra></extra>",
    }


def _rows(data: list[Trace], compared: Compared, robot: Robot, caption: str) -> Figure:
    """One panel per joint, all above one time axis."""
    shares, height = domains([ROW] * len(compared.joints))
    names = labels(compared.comparison.joint_names)
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for row, j in enumerate(compared.joints):
        axes[long_key("y", row)] = axis(domain=shares[row], anchor="x", nticks=5)
        text = f"<b>{names[j]}</b>  [{effort_unit(robot, j)}]"
        notes.append(headline(text, "x", key("y", row)))
    axes["xaxis"] = axis("time [s]", anchor=key("y", len(compared.joints) - 1))
    common = layout(height, **axes, annotations=notes, hovermode="x")
    return Figure(caption=f"{caption}, one panel per joint", data=data, layout=common)


# --- distribution, spectrum, memory -------------------------------------------------------------


def distributions(compared: Compared, robot: Robot) -> Figure:
    """Of every joint's residual against the effort as measured: histogram, spectrum, autocorrelation."""
    data: list[Trace] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    joints = compared.joints
    shares, height = domains([ROW] * len(joints), OWN_AXIS)
    names = labels(compared.comparison.joint_names)
    columns = ([0.0, 0.27], [0.365, 0.68], [0.765, 1.0])
    for row, j in enumerate(joints):
        unit, last = effort_unit(robot, j), row == len(joints) - 1
        titles = (f"residual [{unit}]", "frequency [Hz]", "lag [s]") if last else ("", "", "")
        traces = (_histogram(compared, j, unit), _spectra(compared, j), _memory(compared, j))
        for column, (panel, title) in enumerate(zip(traces, titles, strict=True)):
            at = 3 * row + column
            x, y = key("x", at), key("y", at)
            data += [{**t, "xaxis": x, "yaxis": y, "showlegend": t["showlegend"] and row == 0} for t in panel]
            axes[long_key("x", at)] = axis(title, domain=columns[column], anchor=y, **ABSCISSAS[column])
            axes[long_key("y", at)] = axis(domain=shares[row], anchor=x, **ORDINATES[column])
        notes.append(headline(f"<b>{names[j]}</b>", key("x", 3 * row), key("y", 3 * row)))
        unit_of_spectrum = headline(f"{unit}/√Hz", key("x", 3 * row + 1), key("y", 3 * row + 1))
        notes.append({**unit_of_spectrum, "x": 1, "xanchor": "right"})
    common = layout(height + RAISED, **axes, annotations=notes)
    common["margin"] = {**common["margin"], "t": TOP + RAISED}
    common["legend"] = {**common["legend"], "y": 1 + 24 / (height - TOP - BOTTOM)}
    return Figure(
        caption="Histogram, spectrum and autocorrelation of the residuals, one row per joint",
        data=data,
        layout=common,
    )


def raw_residual(compared: Compared, joint: int) -> Array:
    """Effort as measured less the prediction, (K,), finite ones only."""
    one = compared.comparison
    values = one.raw[:, joint] - one.raw_predicted[:, joint]
    return values[np.isfinite(values)]


def _histogram(compared: Compared, joint: int, unit: str) -> list[Trace]:
    values = raw_residual(compared, joint)
    spread = float(values.std()) or 1.0
    edges = np.linspace(-WIDEST * spread, WIDEST * spread, BINS + 1)
    counts = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]
    middles, width = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
    normal = len(values) * width / (spread * np.sqrt(2 * np.pi)) * np.exp(-0.5 * (middles / spread) ** 2)
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": middles,
            "y": counts.astype(np.float64),
            "line": {"color": "@residual", "width": 1, "shape": "hvh"},
            "fill": "tozeroy",
            "fillcolor": "@residual-soft",
            "name": "residual",
            "legendgroup": "residual",
            "showlegend": True,
            "hovertemplate": f"%{{x:.3g}} {unit}: %{{y:.0f}} samples<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "x": middles,
            "y": normal,
            "line": {"color": "@ink", "width": 1, "dash": "dot"},
            "name": "normal distribution",
            "showlegend": True,
            "hoverinfo": "skip",
        },
    ]


def longest_piece(compared: Compared, joint: int) -> tuple[Array, Array, float]:
    """Effort and residual of the longest stretch without a gap, evenly sampled; the rate (Hz)."""
    one = compared.comparison
    stretch = max(pieces(one.time), key=lambda piece: piece.stop - piece.start)
    first, last = one.time[stretch.start], one.time[stretch.stop - 1]
    inside = (one.raw_time >= first) & (one.raw_time <= last) & np.isfinite(one.raw[:, joint])
    time, effort = one.raw_time[inside], one.raw[inside, joint]
    left = effort - one.raw_predicted[inside, joint]
    if len(time) < 16:
        return effort, left, 1.0
    step = float(np.median(np.diff(time)))
    even = np.arange(time[0], time[-1], step)
    return np.interp(even, time, effort), np.interp(even, time, left), 1.0 / step


def _spectra(compared: Compared, joint: int) -> list[Trace]:
    effort, left, rate = longest_piece(compared, joint)
    length = min(len(left), int(SPECTRUM_S * rate))
    found: list[Trace] = []
    for values, name, colour in ((effort, "measured", "@measured"), (left, "residual", "@residual")):
        f, power = _signal.welch(values, rate, nperseg=length, detrend="constant")
        f, power = _thin_spectrum(f[1:], power[1:])
        found.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": f,
                "y": np.sqrt(power),
                "line": {"color": colour, "width": 1.4},
                "name": name,
                "legendgroup": name,
                "showlegend": name == "measured",
                "hovertemplate": f"{name}, %{{x:.3g}} Hz: %{{y:.3g}}<extra></extra>",
            }
        )
    return found


def _thin_spectrum(f: Array, power: Array) -> tuple[Array, Array]:
    """Means of the power over bands of equal width in decades."""
    if len(f) <= LINES:
        return f, power
    bounds = np.asarray(np.geomspace(f[0], f[-1], LINES + 1), dtype=np.float64)
    edges = np.unique(np.searchsorted(f, bounds[:-1]))
    counts = np.diff(np.append(edges, len(f)))
    return np.add.reduceat(f, edges) / counts, np.add.reduceat(power, edges) / counts


def autocorrelation(values: Array, lags: int) -> Array:
    """Of values (N,) about their mean, at lags 0 .. lags - 1."""
    centred = values - values.mean()
    length = _fft.next_fast_len(2 * len(centred), real=True)
    product = _fft.irfft(np.abs(_fft.rfft(centred, length)) ** 2, length)[:lags]
    return product / product[0] if product[0] > 0.0 else np.zeros(lags)


def _memory(compared: Compared, joint: int) -> list[Trace]:
    _, left, rate = longest_piece(compared, joint)
    count = max(min(int(LONGEST_LAG_S * rate), len(left) // 2), 2)
    rho = autocorrelation(left, count)
    kept = np.unique(np.linspace(0, count - 1, min(LAGS, count)).round().astype(np.intp))
    band = 1.96 / np.sqrt(max(len(left), 1))
    lag = kept / rate
    common: Trace = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    return [
        {
            **common,
            "x": [0.0, lag[-1], lag[-1], 0.0],
            "y": [band, band, -band, -band],
            "fill": "toself",
            "fillcolor": "@line",
            "line": {"width": 0},
            "name": "95 % of white noise",
            "showlegend": True,
        },
        {
            **common,
            "x": lag,
            "y": rho[kept],
            "line": {"color": "@residual", "width": 1.4},
            "name": "residual",
            "legendgroup": "residual",
            "showlegend": False,
            "hoverinfo": "all",
            "hovertemplate": "%{x:.3g} s: %{y:.2f}<extra></extra>",
        },
    ]
