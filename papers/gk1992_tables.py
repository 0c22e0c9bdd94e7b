"""What [GK1992] prints about identification: Tables 3 to 12 and the condition numbers above them.

Each half of a table belongs to a sequence of points, optimised or random. Misprints are corrected here and
listed in `MISPRINTS`; everything else stands as printed.
"""

from __future__ import annotations

from dataclasses import dataclass

KEYS = ((30, "optimum"), (30, "random"), (15, "optimum"), (15, "random"))  # r, kind
NOISE = (0.001, 0.01, 0.1)  # k
NAMES = (
    *("ZZR1", "XXR2", "XY2", "XZR2", "YZ2", "ZZR2", "MXR2", "MY2"),
    *("XXR3", "XY3", "XZ3", "YZ3", "ZZ3", "MX3", "MY3"),
)

CONDITION = {
    (30, "optimum"): 11.158,
    (30, "random"): 1.0208e3,
    (15, "optimum"): 53.27,
    (15, "random"): 3.079e4,
}
SCALING = {(30, "optimum"): 175.0, (30, "random"): 8.9e4, (15, "optimum"): 968.0, (15, "random"): 6006.0}

# Errors of Y alone, Tables 3 and 8: |dY|/|Y|, |dX|/|X|, and the bound (12) by the error, for each k in NOISE.
OF_EFFORTS = {
    (30, "optimum"): ((5.35e-4, 4.7e-4, 12.7), (0.0047, 0.007, 7.6), (0.05, 0.059, 9.5)),
    (30, "random"): ((6.48e-4, 0.018, 37.0), (0.0071, 0.161, 45.0), (0.0649, 1.796, 39.0)),
    (15, "optimum"): ((7.9e-4, 0.0047, 8.9), (0.008, 0.05, 8.6), (0.076, 0.53, 7.6)),
    (15, "random"): ((4.25e-4, 0.39, 33.0), (0.0055, 5.35, 31.0), (0.055, 53.55, 31.0)),
}
# Errors of W alone, Tables 4 and 9: |dW|/|W|, |dX|/|X|, Cond(W + dW).
OF_COLUMNS = {
    (30, "optimum"): ((0.005, 0.0041, 11.162), (0.055, 0.0384, 11.177), (0.5767, 0.4691, 13.295)),
    (30, "random"): ((5.26e-4, 0.013, 1.0196e3), (0.004, 0.1853, 1.02e3), (0.056, 2.0129, 0.8578e3)),
    (15, "optimum"): ((0.0012, 0.0057, 53.30), (0.0231, 0.0923, 53.55), (0.1697, 0.7935, 58.15)),
    (15, "random"): ((4.7e-4, 0.75, 3.055e4), (0.0037, 1.57, 3.166e4), (0.068, 104.5, 11.32e4)),
}
# Errors of both, Tables 5 and 10: |dY|/|Y|, |dW|/|W|, |dX|/|X|.
OF_BOTH = {
    (30, "optimum"): ((3.68e-4, 0.0063, 0.0042), (0.007, 0.056, 0.0559), (0.054, 0.633, 0.4749)),
    (30, "random"): ((4.97e-4, 4.64e-4, 0.010), (0.0055, 0.0057, 0.129), (0.0717, 0.053, 1.662)),
    (15, "optimum"): ((5.9e-4, 0.002, 0.016), (0.007, 0.014, 0.121), (0.067, 0.231, 0.677)),
    (15, "random"): ((6.8e-4, 4.15e-4, 0.548), (0.006, 0.0055, 3.64), (0.05, 0.05, 86.0)),
}


@dataclass(frozen=True)
class Identification:
    """Tables 6, 7, 11 and 12: values, their estimates and predicted deviations, at one k."""

    number: int
    k: float
    estimates: tuple[float, ...]
    deviations: tuple[float, ...]


def numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split()))


X = (5.0186, -2.05, 0.7, -1.07, 0.65, 6.55, 4.3, 0.6, 0.7634, 0.6872, 0.55, -0.6, 0.9646, 0.528, 1.14)

IDENTIFICATIONS = {
    (30, "optimum"): Identification(
        6,
        0.01,
        numbers(
            "5.0251 -2.0436 0.6848 -1.0767 0.6473 6.4994 4.3118 0.6065 0.7906 "
            "0.7038 0.5427 -0.6056 0.9758 0.5281 1.1278"
        ),
        numbers(
            "0.0281 0.0290 0.0209 0.0148 0.0191 0.0388 0.0066 0.0069 0.0301 "
            "0.0253 0.0135 0.0140 0.0134 0.0075 0.0064"
        ),
    ),
    (30, "random"): Identification(
        7,
        0.01,
        numbers(
            "5.3447 -2.2357 0.5842 -2.2074 0.5710 7.5616 4.3138 0.5967 0.5788 "
            "0.6953 0.5252 -0.7103 0.9366 0.5351 1.1516"
        ),
        numbers(
            "0.4688 0.4544 0.4379 0.8755 0.5830 1.5245 0.0159 0.0075 0.4319 "
            "0.1364 0.1346 0.2298 0.0600 0.0087 0.0167"
        ),
    ),
    (15, "optimum"): Identification(
        11,
        0.001,
        numbers(
            "5.0297 -2.0768 0.6996 -1.0707 0.6455 6.5733 4.3023 0.6013 0.7830 "
            "0.6778 0.5617 -0.5891 0.9695 0.5240 1.1405"
        ),
        numbers(
            "0.0155 0.0180 0.0162 0.0056 0.0105 0.0204 0.0019 0.0012 0.0159 "
            "0.0170 0.0076 0.0127 0.0166 0.0027 0.0014"
        ),
    ),
    (15, "random"): Identification(
        12,
        0.001,
        numbers(
            "5.9268 -0.9635 2.2263 -1.4013 -1.9471 7.3205 4.2844 0.6120 -0.9363 "
            "0.3805 0.4340 -0.1483 1.0737 0.5247 1.1519"
        ),
        numbers(
            "3.1098 1.7504 2.4889 0.2432 3.8134 0.6424 0.0206 0.0138 5.0252 "
            "0.3235 0.3292 1.2149 0.2598 0.0073 0.0375"
        ),
    ),
}

MISPRINTS = (
    "Table 7, row XXR2: X is -2.05 as everywhere else, printed -2.0550",
    "Table 11, row ZZR1: the estimate is 5.0297 = 5.0186 + 0.0111, printed 5.0251 as in Table 6",
    "Table 9, random, k = 0.01: |dW|/|W| must be about 10 times that of k = 0.001, so 0.0037, printed 0.037",
    "Table 10, random, k = 0.01: in the same way 0.0055, printed 0.055, more than for k = 0.1",
)
