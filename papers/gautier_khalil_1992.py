"""Section 6 and the appendix of [GK1992]: what the choice of points does to an identification by energy.

M. Gautier, W. Khalil, Exciting trajectories for the identification of base inertial parameters of robots,
Int. J. Robotics Research 11(4), 1992. The 15 base parameters of the built-in gk3 are identified from
differences of energy between r + 1 points (q, qd), optimised or random, with the paper's noise on Y, on W and
on both.

The paper prints neither its points nor its limits, and one draw of noise. So our points are such that their
conditions are as near as possible to the paper's, noise is drawn many times, and what is compared does not
depend on the size of the noise: the bound (12) or (13) by the error. An entry agrees if it is in the range of
our draws, widened by the factor that other points of the same condition make. Exit status 0 if everything
agrees.

Run it with:  python papers/gautier_khalil_1992.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
from gk1992_excitation import Effort, print_table_2
from gk1992_points import BASE, ROBOT, Points, optimised, random_points, random_with_condition
from gk1992_tables import (
    CONDITION,
    IDENTIFICATIONS,
    KEYS,
    MISPRINTS,
    NAMES,
    NOISE,
    OF_BOTH,
    OF_COLUMNS,
    OF_EFFORTS,
    SCALING,
    X,
)

from dynid.fit.perturbation import Norm, column_error, condition_number, effort_error, scaling
from dynid.fit.recursive import nothing_known
from dynid.fit.solve import least_squares

DRAWS = 40  # of noise
RANGE = (0.02, 0.98)  # of the draws
OTHER_POINTS = 2.0  # the factor between sequences of one condition
NORMS: tuple[Norm, ...] = ("1", "2", "inf")
EXCITATION = Effort((15, 20, 30), 8, 400, 1)  # for Table 2; `gk1992_excitation.py` has the whole study
MANY = (50, 100, 200, 300, 500)  # further numbers of points, of Table 2
TRUE = np.array(X)

Key = tuple[int, str]

# --- the report ---------------------------------------------------------------------------------------


def main(excitation: Effort = EXCITATION) -> int:
    """Print the report; 0 if everything agrees."""
    table_2, _ = print_table_2(excitation)
    print()
    found = {
        (r, kind): (optimised if kind == "optimum" else random_with_condition)(r, CONDITION[r, kind])
        for r, kind in KEYS
    }
    verdicts = [
        table_2,
        print_parameters(),
        print_sequences(found),
        print_errors("Errors of Y alone, Tables 3 and 8", found, of_efforts, OF_EFFORTS),
        print_errors("Errors of W alone, Tables 4 and 9", found, of_columns, OF_COLUMNS),
        print_errors("Errors of Y and W, Tables 5 and 10", found, of_both, OF_BOTH),
        print_bounds(found),
        print_deviations(found),
        print_printed_tables(),
        print_number_of_points(found),
        print_sequential(found),
        print_appendix(),
    ]
    print("\nKnown misprints, corrected above")
    for remark in MISPRINTS:
        print(f"  {remark}")
    agree = all(verdicts)
    print("\nEverything agrees." if agree else "\nNot everything agrees.")
    return 0 if agree else 1


def print_parameters() -> bool:
    """Table 6, X, and the built-in robot."""
    ours = BASE.values(ROBOT.parameters)
    same = BASE.names == NAMES and bool(np.abs(ours - TRUE).max() < 1e-12)
    print(f"The {len(NAMES)} base parameters of gk3 are X of Table 6  {verdict(same)}")
    return same


def print_sequences(found: dict[Key, Points]) -> bool:
    """Conditions in three norms. In p norms they differ by at most sqrt(15 r)."""
    print("\nThe sequences of points\n")
    print("            Cond_2(W)           Cond_1    Cond_inf    S, Eq. (19)")
    print("            paper     dynid     dynid     dynid       paper     dynid")
    good = True
    for (r, kind), points in found.items():
        one, two, infinity = (condition_number(points.W, norm) for norm in NORMS)
        apart = np.sqrt(len(NAMES) * r)
        near = abs(np.log(two / CONDITION[r, kind])) < np.log(1.3)
        good &= bool(near and all(two / apart <= c <= apart * two for c in (one, infinity)))
        print(
            f"  {r} {kind:7} {CONDITION[r, kind]:9.4g} {two:9.4g} {one:9.4g} {infinity:9.4g}"
            f"   {SCALING[r, kind]:9.3g} {scaling(points.W):9.3g}"
        )
    print(f"  conditions within 30 % of the paper's, and alike in all norms  {verdict(good)}")
    return good


# --- errors -------------------------------------------------------------------------------------------

Draw = tuple[float, float, float]  # |dY|/|Y| + |dW|/|W|, |dX|/|X|, Cond(W + dW)


def of_efforts(points: Points, k: float, rng: np.random.Generator) -> Draw:
    dY = points.effort_noise(k, rng)
    return share(dY, points.Y), relative_error(points.W, points.Y + dY), points.condition


def of_columns(points: Points, k: float, rng: np.random.Generator) -> Draw:
    dW = points.column_noise(k, rng)
    return share(dW, points.W), relative_error(points.W + dW, points.Y), condition_number(points.W + dW)


def of_both(points: Points, k: float, rng: np.random.Generator) -> Draw:
    dY, dW = points.effort_noise(k, rng), points.column_noise(k, rng)
    sizes = share(dY, points.Y) + share(dW, points.W)
    return sizes, relative_error(points.W + dW, points.Y + dY), condition_number(points.W + dW)


def relative_error(W: np.ndarray, Y: np.ndarray) -> float:
    return share(least_squares(W, Y) - TRUE, TRUE)


def share(part: np.ndarray, whole: np.ndarray) -> float:
    return float(np.linalg.norm(part, 2) / np.linalg.norm(whole, 2))


def print_errors(
    title: str,
    found: dict[Key, Points],
    draw: Callable[[Points, float, np.random.Generator], Draw],
    printed: dict[Key, Sequence[Sequence[float]]],
) -> bool:
    """One pair of tables: what errors of the data make of the values."""
    print(f"\n{title}\n")
    print(
        "                       error of the data    |dX|/|X|             bound by error        Cond(W + dW)"
    )
    print("   r points       k     paper    dynid       paper    dynid       paper  dynid  (range)  dynid")
    good = True
    for key, points in found.items():
        for k, entries in zip(NOISE, printed[key], strict=True):
            rng = np.random.default_rng(0)
            sizes, errors, conditions = np.array([draw(points, k, rng) for _ in range(DRAWS)]).T
            size, error = (sum(entries[:2]), entries[2]) if draw is of_both else entries[:2]
            theirs, ours = CONDITION[key] * size / error, points.condition * sizes / errors
            low, high = np.quantile(ours, RANGE)
            same = bool(low / OTHER_POINTS <= theirs <= OTHER_POINTS * high)
            good &= same
            print(
                f"  {key[0]} {key[1]:8} {k:5g}  {size:8.3g} {np.median(sizes):8.3g}    "
                f"{error:8.3g} {np.median(errors):8.3g}    {theirs:6.1f} {np.median(ours):6.1f}  "
                f"({low:.3g} - {high:.3g})  {np.median(conditions):.4g}  {verdict(same)}"
            )
    return good


def print_bounds(found: dict[Key, Points]) -> bool:
    """Eqs. (12) and (13) in three norms; with r > b, (13) holds up to terms of the size of dW."""
    print("\nThe bounds (12) and (13) by the error, least and median of the draws, k = 0.001\n")
    print("                  norm      (12)                (13)")
    good = True
    for (r, kind), points in found.items():
        for norm in NORMS:
            rng = np.random.default_rng(1)
            ratios = np.array(
                [
                    (
                        effort_error(points.W, points.Y, points.effort_noise(NOISE[0], rng), norm).ratio,
                        column_error(points.W, points.Y, points.column_noise(NOISE[0], rng), norm).ratio,
                    )
                    for _ in range(DRAWS // 4)
                ]
            )
            least, middle = ratios.min(axis=0), np.median(ratios, axis=0)
            good &= bool((least >= 1.0).all())
            print(
                f"  {r} {kind:8}     {norm:>4} {least[0]:9.3g} {middle[0]:9.3g}"
                f" {least[1]:9.3g} {middle[1]:9.3g}"
            )
    print(f"  no error exceeds its bound  {verdict(good)}")
    return good


def print_deviations(found: dict[Key, Points]) -> bool:
    """Predicted deviations; points differ, so single entries do, but their size is that of the condition."""
    print("\nPredicted deviations, Tables 6, 7, 11 and 12")
    print("\n        " + "  ".join(f"Table {IDENTIFICATIONS[key].number:<2} dynid  " for key in KEYS))
    columns = [
        column
        for key in KEYS
        for column in (IDENTIFICATIONS[key].deviations, found[key].deviations(IDENTIFICATIONS[key].k))
    ]
    for name, row in zip(NAMES, zip(*columns, strict=True), strict=True):
        print(f"  {name:5} " + "  ".join(f"{value:7.4f}" for value in row))
    good = True
    for key, theirs, ours in zip(KEYS, columns[::2], columns[1::2], strict=True):
        ratio = float(np.exp(np.mean(np.log(np.array(ours) / theirs))))
        same = 1.0 / OTHER_POINTS <= ratio <= OTHER_POINTS
        good &= same
        told = insignificant(IDENTIFICATIONS[key].estimates, theirs), insignificant(X, ours)
        print(
            f"  Table {IDENTIFICATIONS[key].number}: ours by the paper's {ratio:.2f} on the geometric mean; "
            f"not significant: {told[0]} there, {told[1]} here  {verdict(same)}"
        )
    return good


def insignificant(values: Sequence[float], deviations: Sequence[float]) -> int:
    """How many values are smaller than two deviations."""
    return int(np.count_nonzero(np.abs(values) < 2.0 * np.asarray(deviations)))


def print_printed_tables() -> bool:
    """What the printed numbers say of each other."""
    print("\nThe printed tables among themselves\n")
    good = True
    for key, rows in OF_EFFORTS.items():
        for size, error, ratio in rows:
            good &= abs(CONDITION[key] * size / error / ratio - 1.0) < 0.06  # of rounded factors
    print(f"  Tables 3 and 8: the ratio columns are Cond |dY|/|Y| |X|/|dX|  {verdict(good)}")
    for key, table in IDENTIFICATIONS.items():
        errors = np.array(table.estimates) - TRUE
        size = share(errors, TRUE)
        stated = OF_EFFORTS[key][NOISE.index(table.k)][1]
        scatter = float(np.sqrt(np.mean((errors / table.deviations) ** 2)))
        same = abs(size / stated - 1.0) < 0.05 and 0.5 < scatter < 1.5
        good &= same
        of_errors = 3 if key[0] == 30 else 8
        print(
            f"  Table {table.number:2}: |dX|/|X| = {size:.4f}, {stated:g} in Table {of_errors}; "
            f"errors by predicted deviations, RMS: {scatter:.2f}  {verdict(same)}"
        )
    return good


def print_number_of_points(found: dict[Key, Points]) -> bool:
    """Relative errors against r and condition: few good points do better than many random ones."""
    k = 0.01
    print(f"\nRelative errors against r and condition, errors of Y alone, k = {k:g}\n")
    print("    r  points    Cond(W)    |dX|/|X|   RMS deviation")
    every = {**found, **{(r, "random"): random_points(r, 0) for r in MANY}}
    errors: dict[Key, float] = {}
    for (r, kind), points in sorted(every.items(), key=lambda pair: (pair[0][1], pair[0][0])):
        rng = np.random.default_rng(2)
        errors[r, kind] = float(np.median([of_efforts(points, k, rng)[1] for _ in range(DRAWS)]))
        rms = float(np.sqrt(np.mean(points.deviations(k) ** 2)))
        print(f"  {r:3d}  {kind:8} {points.condition:8.4g}   {errors[r, kind]:9.4f}   {rms:9.4f}")
    best = errors[30, "optimum"]
    good = all(best < error for key, error in errors.items() if key != (30, "optimum"))
    print(f"  30 optimised points err less than 500 random ones  {verdict(good)}")
    return good


def print_sequential(found: dict[Key, Points]) -> bool:
    """Section 2: the sequential solution, row by row as measurements come, and the batch solution."""
    print("\nSequential by batch estimate, largest difference relative to |X|\n")
    good = True
    for (r, kind), points in found.items():
        Y = points.Y + points.effort_noise(0.01, np.random.default_rng(3))
        known = nothing_known(len(NAMES))
        for row, y in zip(points.W, Y, strict=True):
            known = known.updated(row, y)
        difference = share(known.values - least_squares(points.W, Y), TRUE)
        good &= difference < 1e-10
        print(f"  {r} {kind:8} {difference:.1e}")
    print(f"  the same to 1e-10  {verdict(good)}")
    return good


def print_appendix() -> bool:
    """Examples 1 and 2."""
    A, Y = np.array([[4.1, 2.8], [9.7, 6.6]]), np.array([4.1, 9.7])
    first = effort_error(A, Y, [0.01, 0.0], "1")
    B, Z = np.diag([1.0, 1e-6]), np.array([1.0, 1e-6])
    far, near = (effort_error(B, Z, dY) for dY in ([1e-6, 0.0], [0.0, 1e-6]))
    moved = least_squares(A, Y + np.array([0.01, 0.0]))
    lines = (
        ("1: det A", -0.1, np.linalg.det(A)),
        ("1: Cond_1(A)", 2249.4, first.condition),
        ("1: |dY|/|Y|", 7.246e-4, first.data_error),
        ("1: X + dX, first", 0.34, moved[0]),
        ("1: X + dX, second", 0.97, moved[1]),
        ("1: |dX|/|X|", 1.63, first.error),
        ("1: the bound", 1.63, first.bound),
        ("2: Cond_2(A)", 1e6, far.condition),
        ("2: |dX|/|X|, dY = (1e-6, 0)", 1e-6 / np.sqrt(2.0), far.error),
        ("2: |dX|/|X|, dY = (0, 1e-6)", 1.0 / np.sqrt(2.0), near.error),
        ("2: the bound", 1.0, near.bound),
    )
    print("\nAppendix, examples 1 and 2\n")
    good = True
    for what, printed, ours in lines:
        same = abs(ours / printed - 1.0) < 2e-4
        good &= bool(same)
        print(f"  {what:28} paper {printed:<12.6g} dynid {ours:<14.9g} {verdict(bool(same))}")
    return good


def verdict(same: bool) -> str:
    return "agrees" if same else "DIFFERS"


if __name__ == "__main__":
    sys.exit(main())
