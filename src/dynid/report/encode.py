"""Figures as compact JSON that can stand inside a page.

Long arrays of numbers become 16-bit integers over their own range, in base64: a step of 1/65534 of the range
is far below what a screen shows. The page's script turns them back.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dynid.spatial import Array

SHORT = 24  # numbers that are written as such
LEVELS = 65534
MISSING = -32768
DIGITS = 7


def script_json(value: Any) -> str:
    """JSON in which nothing can end a script element, open a comment or start another element."""
    text = json.dumps(_plain(value), allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _array(cast("NDArray[Any]", value))
    if isinstance(value, np.generic):
        return _plain(cast("Any", value).item())
    if isinstance(value, float):
        return _rounded(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {str(key): _plain(item) for key, item in items if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value


def _array(values: NDArray[Any]) -> Any:
    if values.dtype == np.int8:  # plotly's own form
        shape = ",".join(map(str, values.shape))
        return {"dtype": "i1", "bdata": _base64(values), "shape": shape}
    if values.ndim == 1 and len(values) > SHORT and values.dtype == np.float64:
        return quantised(values)
    return _plain(values.tolist())


def quantised(values: Array) -> dict[str, Any]:
    """An array (N,) as integers i with value = low + step (i + 32767); NaN is -32768."""
    known = np.isfinite(values)
    low = float(values[known].min()) if known.any() else 0.0
    high = float(values[known].max()) if known.any() else 0.0
    step = (high - low) / LEVELS or 1.0
    whole = np.full(len(values), MISSING, dtype="<i2")
    whole[known] = np.rint((values[known] - low) / step).astype(np.int64) - 32767
    return {"packed": _base64(whole), "low": low, "step": step}


def _base64(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _rounded(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
