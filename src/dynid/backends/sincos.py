"""Sine and cosine as LLVM instructions on vectors: about 1 ulp for |x| up to 1e5, NaN for NaN and infinity.

Method: k = round(2 x / pi) and r = x - k pi / 2, with pi / 2 as a sum of three doubles, so that r is known
to about 1e-32 k before its last rounding and its tail `lo` can be carried along; then fdlibm's minimax
polynomials for sine and cosine on [-pi/4, pi/4]; then the quadrant, without branches: swap for odd k, flip
signs by bits of k.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

Emit: TypeAlias = Callable[[str], str]  # writes one instruction, returns the name of its result

# 1.5 * 2**52: adding it rounds to an integer and leaves that integer in the low bits of the sum
_ROUND = 6755399441055744.0
# pi / 2 in three parts. With fused multiply-add each may be a full double; without, the first two have
# trailing zeros, so that k times them is exact for |k| < 2**20.
_HALF_PI_FMA = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_HALF_PI_SPLIT = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def hexadecimal(x: float) -> str:
    """A double as LLVM writes it when no digit may be lost."""
    import struct

    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def splat(lanes: int, x: float) -> str:
    """A constant vector with the same double in all lanes."""
    return "<" + ", ".join([f"double {hexadecimal(x)}"] * lanes) + ">"


class _Lanes:
    """Instructions on vectors of one width, emitted through one function."""

    def __init__(self, emit: Emit, lanes: int, fma: bool) -> None:
        self.emit, self.lanes, self.fused = emit, lanes, fma
        self.f, self.i = f"<{lanes} x double>", f"<{lanes} x i64>"

    def const(self, x: float) -> str:
        return splat(self.lanes, x)

    def integer(self, x: int) -> str:
        return "<" + ", ".join([f"i64 {x}"] * self.lanes) + ">"

    def op(self, name: str, a: str, b: str) -> str:
        return self.emit(f"{name} {self.f} {a}, {b}")

    def bits(self, name: str, a: str, b: str) -> str:
        return self.emit(f"{name} {self.i} {a}, {b}")

    def cast(self, a: str, to_integer: bool) -> str:
        source, target = (self.f, self.i) if to_integer else (self.i, self.f)
        return self.emit(f"bitcast {source} {a} to {target}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a * b + c, fused where the host can."""
        if not self.fused:
            return self.op("fadd", self.op("fmul", a, b), c)
        f = self.f
        return self.emit(f"call {f} @llvm.fma.v{self.lanes}f64({f} {a}, {f} {b}, {f} {c})")

    def select(self, condition: str, a: str, b: str) -> str:
        f = self.f
        return self.emit(f"select <{self.lanes} x i1> {condition}, {f} {a}, {f} {b}")

    def polynomial(self, coefficients: tuple[float, ...], z: str) -> str:
        p = self.const(coefficients[-1])
        for c in coefficients[-2::-1]:
            p = self.fma(p, z, self.const(c))
        return p


def _reduce(v: _Lanes, x: str) -> tuple[str, str, str]:
    """(r, lo, k): x - k pi / 2 = r + lo with |r| <= pi / 4 and k's integer in the low bits."""
    p1, p2, p3 = _HALF_PI_FMA if v.fused else _HALF_PI_SPLIT
    magic = v.fma(x, v.const(2.0 / math.pi), v.const(_ROUND))
    k = v.op("fsub", magic, v.const(_ROUND))
    first = v.fma(k, v.const(-p1), x)  # exact: the product's error is inside the fused operation
    if v.fused:
        product = v.op("fmul", k, v.const(p2))
        product_error = v.fma(k, v.const(p2), v.emit(f"fneg {v.f} {product}"))
        second = v.op("fsub", first, product)
        # error of that subtraction (Knuth's two-sum)
        taken = v.op("fsub", second, first)
        error = v.op("fsub", v.op("fsub", first, v.op("fsub", second, taken)), v.op("fadd", product, taken))
        lo = v.fma(k, v.const(-p3), v.op("fsub", error, product_error))
    else:
        product = v.op("fmul", k, v.const(p2))
        second = v.op("fsub", first, product)
        lo = v.op("fsub", v.op("fsub", first, second), product)
        lo = v.fma(k, v.const(-p3), lo)
    r = v.op("fadd", second, lo)
    lo = v.op("fadd", v.op("fsub", second, r), lo)
    return r, lo, v.cast(magic, to_integer=True)


def emit_sincos(emit: Emit, x: str, lanes: int, fma: bool) -> tuple[str, str]:
    """Instructions for the sine and cosine of the vector called `x`; returns the names of the two."""
    v = _Lanes(emit, lanes, fma)
    r, lo, k = _reduce(v, x)
    z = v.op("fmul", r, r)
    # sin(r + lo) = r + (r z P(z) + lo (1 - z / 2))
    tail = v.fma(v.op("fmul", lo, v.const(-0.5)), z, lo)
    sine = v.op("fadd", r, v.fma(v.op("fmul", r, z), v.polynomial(_SIN, z), tail))
    # cos(r + lo) = w + ((1 - w - z / 2) + z z Q(z) - r lo) with w = 1 - z / 2 rounded
    half = v.op("fmul", z, v.const(0.5))
    w = v.op("fsub", v.const(1.0), half)
    rounding = v.op("fsub", v.op("fsub", v.const(1.0), w), half)
    small = v.fma(v.op("fmul", z, z), v.polynomial(_COS, z), v.emit(f"fneg {v.f} {v.op('fmul', r, lo)}"))
    cosine = v.op("fadd", w, v.op("fadd", rounding, small))

    odd = v.emit(f"icmp ne {v.i} {v.bits('and', k, v.integer(1))}, {v.integer(0)}")
    flip_sine = v.bits("shl", v.bits("and", k, v.integer(2)), v.integer(62))
    next_quadrant = v.bits("add", k, v.integer(1))
    flip_cosine = v.bits("shl", v.bits("and", next_quadrant, v.integer(2)), v.integer(62))
    out: list[str] = []
    for chosen, flip in (
        (v.select(odd, cosine, sine), flip_sine),
        (v.select(odd, sine, cosine), flip_cosine),
    ):
        out.append(v.cast(v.bits("xor", v.cast(chosen, to_integer=True), flip), to_integer=False))
    return out[0], out[1]
