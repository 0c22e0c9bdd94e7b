"""Measured and fitted torques of a few joints, drawn as panels of one SVG file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

import numpy as np

from dynid.files import whole_file

WIDTH, HEIGHT = 420, 170  # px of a panel
LEFT, TOP, GAP, FOOT = 52, 48, 24, 30
COLUMNS = 2
COLOURS = ("#8a8a8a", "#c2410c")


def draw_torques(
    path: Path, title: str, joints: tuple[str, ...], time: np.ndarray, curves: Mapping[str, np.ndarray]
) -> None:
    """Curves (N, n) of every joint by their names; an existing file is replaced."""
    rows = -(-len(joints) // COLUMNS)
    across, down = LEFT + WIDTH + GAP, HEIGHT + GAP + FOOT
    size = (COLUMNS * across, TOP + rows * down)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" '
        f'height="{size[1]}" font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="white"/><title>{escape(title)}</title>',
        f'<text x="{LEFT}" y="18" font-size="15">{escape(title)}</text>',
    ]
    for k, name in enumerate(curves):
        at = LEFT + 160 * k
        parts.append(
            f'<line x1="{at}" y1="34" x2="{at + 24}" y2="34" stroke="{COLOURS[k]}" stroke-width="2"/>'
        )
        parts.append(f'<text x="{at + 30}" y="38">{escape(name)}</text>')
    for joint, name in enumerate(joints):
        corner = (joint % COLUMNS * across + LEFT, TOP + joint // COLUMNS * down + GAP)
        parts += panel(corner, f"{name}, Nm", time, [curve[:, joint] for curve in curves.values()])
    with whole_file(path, force=True) as new:
        new.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def panel(corner: tuple[int, int], label: str, time: np.ndarray, curves: list[np.ndarray]) -> list[str]:
    """One joint's curves over time, with the ends of both axes."""
    x0, y0 = corner
    low, high = min(c.min() for c in curves), max(c.max() for c in curves)
    middle, half = 0.5 * (low + high), max(0.55 * (high - low), 1e-9)
    x = x0 + WIDTH * (time - time[0]) / (time[-1] - time[0])
    parts = [
        f'<rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#444"/>',
        f'<text x="{x0}" y="{y0 - 6}">{escape(label)}</text>',
        f'<text x="{x0 - 6}" y="{y0 + 12}" text-anchor="end">{middle + half:.2g}</text>',
        f'<text x="{x0 - 6}" y="{y0 + HEIGHT}" text-anchor="end">{middle - half:.2g}</text>',
        f'<text x="{x0 + WIDTH}" y="{y0 + HEIGHT + 16}" text-anchor="end">{time[-1]:.3g} s</text>',
        f'<text x="{x0}" y="{y0 + HEIGHT + 16}">{time[0]:.3g}</text>',
    ]
    for colour, curve in zip(COLOURS, curves, strict=True):
        y = y0 + 0.5 * HEIGHT * (1.0 - (curve - middle) / half)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.2" points="{points}"/>')
    return parts
