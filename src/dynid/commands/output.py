"""How commands speak: results on stdout, remarks on stderr, JSON without NaN."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any, cast

import numpy as np


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on stdout; numbers that are not finite are null."""
    json.dump(plain(value), sys.stdout, indent=2, allow_nan=False, ensure_ascii=False)
    sys.stdout.write("\n")


def plain(value: Any) -> Any:
    """The value with arrays as lists and numbers that are not finite as None."""
    if isinstance(value, np.ndarray | np.generic):
        value = cast("Any", value).tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[Any]", value)]
    return value


def remark(text: str, quiet: bool) -> None:
    """A remark for a person, on stderr."""
    if not quiet:
        sys.stderr.write(f"{text}\n")
