"""The colours of pages and figures, by what they are for, in light and in dark.

Figures name them "@ink", "@predicted" ...: whoever draws puts in those of the day.
"""

from __future__ import annotations

LIGHT = {
    "page": "#f6f7f9",
    "surface": "#ffffff",
    "raised": "#f0f3f6",
    "line": "#d5dbe1",
    "grid": "#e8ecf0",
    "ink": "#15202b",
    "muted": "#536170",
    "accent": "#0a5cad",
    "good": "#14703c",
    "good-soft": "#e3f4ea",
    "caution": "#865200",
    "caution-soft": "#fdf1d8",
    "bad": "#b0201a",
    "bad-soft": "#fde8e6",
    "measured": "#76838f",
    "predicted": "#0a5cad",
    "residual": "#b8452a",
    "residual-soft": "#f3d3c9",
    "s1": "#0a6ebd",
    "s2": "#c25400",
    "s3": "#1f8045",
    "s4": "#a8327d",
    "s5": "#8a6d00",
    "s6": "#5b4fc4",
    "s7": "#00788a",
    "s8": "#6b6156",
    "low": "#0a6ebd",
    "high": "#c25400",
}

DARK = {
    "page": "#0e1318",
    "surface": "#151c23",
    "raised": "#1d262f",
    "line": "#33404c",
    "grid": "#26313b",
    "ink": "#e7edf3",
    "muted": "#a2afbb",
    "accent": "#6db7ff",
    "good": "#5dd391",
    "good-soft": "#12301f",
    "caution": "#f0b94f",
    "caution-soft": "#33270e",
    "bad": "#ff8f85",
    "bad-soft": "#3b1917",
    "measured": "#8b98a5",
    "predicted": "#58adff",
    "residual": "#ff9a6b",
    "residual-soft": "#5a3526",
    "s1": "#58adff",
    "s2": "#ff9a4d",
    "s3": "#5dd391",
    "s4": "#f08cc8",
    "s5": "#e0c04a",
    "s6": "#a99dff",
    "s7": "#45cbdc",
    "s8": "#b8ada0",
    "low": "#58adff",
    "high": "#ff9a4d",
}

SERIES = tuple(f"@s{k}" for k in range(1, 9))
THEMES = {"light": LIGHT, "dark": DARK}
