"""The doctor's look at efforts against a rigid robot with friction: suspicions, with their evidence.

Three kinds of evidence, none of which needs the robot's parameters to better than a factor of two: the
robot's own parameters where it has them, the couplings (all joints share the base parameters, so one joint's
effort of the wrong sign spoils the common fit), and friction, which must take power out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.log.check_names import place_finding, swapped_efforts
from dynid.log.effort_model import factor, stacked, triangle
from dynid.log.efforts import LEAST_ROWS, ROWS_PER_COLUMN, Efforts, basis
from dynid.log.findings import Finding
from dynid.log.lags import delay_text, later_than, vertex
from dynid.log.samples import Samples
from dynid.robot import Robot
from dynid.signals.filters import Decimator
from dynid.signals.masks import widened
from dynid.spatial import Array

SCALE_LOW, SCALE_HIGH = 0.5, 2.0
BEYOND_LIMIT, TOO_SMALL = 3.0, 0.04  # times the limit, times the predicted RMS
LEAST_MULTIPLE = 1e-4  # by less no unit or gear differs: the common fit merely has no use for this effort
SHARE = 0.8  # of the variance that friction leaves, to be explained before a sign or a scale is judged
BETTER = 2.0  # times less residual variance, before signs or names are doubted
LONGEST_LAG_S = 0.25
LEAST_DELAY_PERIODS, LEAST_DELAY_S = 1.5, 0.005
LATER_BETTER = 1.5  # times less residual variance of one joint at another lag
ALL_BETTER = 1.1  # of all joints at the same lag, in the geometric mean
ALONE_BETTER = 10.0  # of a joint that moves alone: few columns vary, and friction mimics a delay
LEAST_MISFIT = 1e-6  # share of the variance; less is the same
WELL_FITTED = 0.03  # of the variance at most unexplained, for a delay to be what is wrong
REVERSAL = 0.2  # of the RMS speed; slower, friction is not a matter of speed alone and mimics a delay


def model_findings(
    samples: Samples, efforts: Efforts, robot: Robot, period: float, spoiled: frozenset[str]
) -> list[Finding]:
    """Wrong positions, which leave nothing else to judge; or swapped efforts, and faults of the others."""
    misplaced = place_finding(samples, efforts, robot)
    swapped = swapped_efforts(efforts)
    if misplaced is not None and misplaced.gain > max((swap.gain for swap in swapped), default=0.0):
        return [misplaced.finding]
    found = [swap.finding for swap in swapped]
    gone = {joint for swap in swapped for joint in swap.joints}
    rest = tuple(j for j in efforts.joints if j not in gone)
    trusted = replace(efforts, joints=rest)
    timed = replace(trusted, joints=tuple(j for j in rest if efforts.names[j] not in spoiled))
    lags = _lags(samples, timed, period)
    turned = _signs(trusted, late=set(rest) if None in lags else set(lags))
    found += [_sign_finding(trusted, j, why) for j, why in turned.items()]
    limits = [robot.joints[j].limits.effort for j in robot.free]
    found += [finding for j in rest if j not in turned for finding in _scale(trusted, j, limits[j])]
    return [*found, *_delay_findings(timed, lags)]


# --- signs and scales -----------------------------------------------------------------------------


def _signs(efforts: Efforts, late: Collection[int | None]) -> dict[int, str]:
    """Joints whose effort seems to have the wrong sign, and why; a late one's power proves nothing."""
    turned: dict[int, str] = {}
    for joint in efforts.joints:
        if efforts.predicted is not None:
            slope, share = _against_prediction(efforts, joint, rotor_free=False)
            if share > SHARE:
                if slope < 0:
                    turned[joint] = (
                        f"{slope:.2g} times the effort that the robot's own parameters predict "
                        f"explains {100 * share:.0f} % of what friction leaves"
                    )
                continue
        if joint in late:
            continue
        power, error = _friction_power(efforts, joint)
        if power < -8.0 * error and power < -0.05 * _power_size(efforts, joint):
            turned[joint] = f"its friction would put {-power:.3g} W into the joint, not take power out"
    for joint, gain in _turned_by_coupling(efforts).items():
        turned.setdefault(joint, f"turned round, the common fit of all joints leaves {gain:.2g} times less")
    return turned


def _against_prediction(efforts: Efforts, joint: int, rotor_free: bool) -> tuple[float, float]:
    """Measured effort per predicted one, and the share of the variance left by friction that it explains.

    With `rotor_free` any motor inertia may come on top.
    """
    if efforts.predicted is None:
        return np.nan, 0.0
    rows = efforts.rows(joint)
    drive = efforts.model.drive[rows, joint][:, 0 if rotor_free else 1 :]
    joined = np.column_stack([drive, efforts.predicted[rows, joint], efforts.model.tau[rows, joint]])
    size = np.linalg.norm(joined, axis=0)
    size[size == 0.0] = 1.0
    R = triangle(joined / size)
    own, along, across = R[-2, -2], R[-2, -1], R[-1, -1]
    if abs(own) < 0.01:  # the prediction is friction and inertia of the joint itself: nothing to compare
        return np.nan, 0.0
    return float(along / own * size[-1] / size[-2]), float(along**2 / (along**2 + across**2))


def _friction_power(efforts: Efforts, joint: int) -> tuple[float, float]:
    """Mean power that the joint's own fit assigns to viscous and Coulomb friction, and its standard error."""
    rows = efforts.rows(joint)
    columns = np.column_stack([efforts.model.columns(joint)[rows], efforts.model.tau[rows, joint]])
    columns = columns[:, np.linalg.norm(columns, axis=0) > 0]
    size = np.linalg.norm(columns, axis=0)
    R = triangle(columns / size)
    U, s, Vt = np.linalg.svd(R[:-1, :-1])
    inverse = Vt.T * np.where(s > 1e-6 * s[0], 1.0 / s, 0.0)
    beta = inverse @ (U.T @ R[:-1, -1])
    sigma2 = R[-1, -1] ** 2 / max(len(rows) - len(s), 1)
    weight = np.zeros(len(s))  # power per coefficient; viscous, Coulomb and offset are the last three
    qd = efforts.model.drive[rows, joint, 1]
    weight[-3], weight[-2] = np.mean(qd**2), np.mean(qd * efforts.model.drive[rows, joint, 2])
    weight *= size[-1] / size[:-1]
    return float(weight @ beta), float(np.sqrt(sigma2 * np.sum((weight @ inverse) ** 2)))


def _power_size(efforts: Efforts, joint: int) -> float:
    rows = efforts.rows(joint)
    power: Array = efforts.model.tau[rows, joint] * efforts.model.drive[rows, joint, 1]
    return float(np.mean(np.abs(power)))


def coupling(efforts: Efforts) -> Array:
    """G (k, k) for the k judged joints: s' G s is what the common fit leaves of efforts multiplied by s.

    Each joint's equations are weighted by what its own fit, which signs and scales do not touch, leaves.
    """
    factors: list[Array] = []
    for joint in efforts.joints:
        rows = efforts.rows(joint)
        factors.append(factor(efforts.model.columns(joint)[rows], efforts.model.tau[rows, joint]))
    sigma = np.array([max(abs(R[-1, -1]), 0.02 * float(np.linalg.norm(R[:, -1]))) for R in factors])
    joined = stacked(factors, sigma)
    of_joint = np.repeat(np.arange(len(factors)), [len(R) for R in factors])
    tau = np.where(of_joint[:, None] == np.arange(len(factors)), joined[:, -1:], 0.0)
    Q = basis(joined[:, :-1])
    left = tau - Q @ (Q.T @ tau)
    return left.T @ left


def _turned_by_coupling(efforts: Efforts) -> dict[int, float]:
    """Joints, fewer than half, that fit the others far better with the other sign, found one at a time."""
    k = len(efforts.joints)
    if k < 3:
        return {}
    G = coupling(efforts)
    signs = np.ones(k)
    while np.sum(signs < 0) < k // 2:
        flipped = signs * (1.0 - 2.0 * np.eye(k))
        cost = np.einsum("si,ij,sj->s", flipped, G, flipped)
        best = int(np.argmin(cost))
        if cost[best] > 0.99 * (signs @ G @ signs):
            break
        signs = flipped[best]
    turned: dict[int, float] = {}
    for j in np.flatnonzero(signs < 0):
        back = signs.copy()
        back[j] = 1.0
        gain = float(back @ G @ back / max(signs @ G @ signs, np.finfo(float).tiny))
        if gain > BETTER:
            turned[efforts.joints[j]] = gain
    return turned


def _sign_finding(efforts: Efforts, joint: int, why: str) -> Finding:
    return Finding(
        "effort_sign", "error", why, "turn its sign (--sign), or check the joint's axis", efforts.names[joint]
    )


def _scale(efforts: Efforts, joint: int, limit: float) -> list[Finding]:
    """An effort that is another multiple of what it should be than rough parameters can excuse."""
    evidence = _other_slope(efforts, joint) or _other_size(efforts, joint, limit)
    if not evidence:
        return []
    return [
        Finding(
            "effort_scale",
            "warning",
            evidence,
            "is it motor current (--effort current --gain) or motor torque (--effort motor_torque), or is a "
            "gear ratio wrong? If not, the robot's file is",
            efforts.names[joint],
        )
    ]


def _other_slope(efforts: Efforts, joint: int) -> str:
    """Evidence from what the effort follows; empty without any."""
    slope, share = _against_prediction(efforts, joint, rotor_free=not efforts.rotors_known[joint])
    source = "the effort that the robot's own parameters predict"
    if efforts.predicted is None:
        slope, share = _relative_scale(efforts, joint)
        source = "what the other joints' efforts and the couplings ask for"
    if not share > SHARE or SCALE_LOW < slope < SCALE_HIGH or slope <= 0:
        return ""
    return f"effort is {slope:.3g} times {source}"


def _other_size(efforts: Efforts, joint: int, limit: float) -> str:
    """Evidence from how large the effort is, be it mostly friction; empty without any."""
    tau: Array = efforts.model.tau[efforts.rows(joint), joint]
    most, size = float(np.abs(tau).max()), float(np.sqrt(np.mean(tau**2)))
    if most > BEYOND_LIMIT * limit > 0.0:
        return f"effort reaches {most:.3g}, {most / limit:.3g} times the joint's limit"
    if efforts.predicted is None:
        return ""
    predicted: Array = efforts.predicted[efforts.rows(joint), joint]
    wanted = float(np.sqrt(np.mean(predicted**2)))
    if size > TOO_SMALL * wanted:
        return ""
    return f"effort's RMS is {size / wanted:.2g} times that of what the robot's own parameters predict"


def _relative_scale(efforts: Efforts, joint: int) -> tuple[float, float]:
    """Effort over its best multiple for the common fit, and the share of the misfit that this removes."""
    if len(efforts.joints) < 3:
        return np.nan, 0.0
    G = coupling(efforts)
    ones = np.ones(len(G))
    total = float(ones @ G @ ones)
    removed = (G @ ones) ** 2 / np.diag(G)  # by the best multiple of each joint alone
    j = efforts.joints.index(joint)
    if removed[j] < removed.max() or removed[j] < (1.0 - 1.0 / BETTER) * total:
        return np.nan, 0.0
    multiple = 1.0 - (G[j] @ ones) / G[j, j]
    if abs(multiple) < LEAST_MULTIPLE:
        return np.nan, 0.0
    return float(1.0 / multiple), float(removed[j] / total)


# --- delays ---------------------------------------------------------------------------------------


def _lags(samples: Samples, efforts: Efforts, period: float) -> dict[int | None, float]:
    """By how much (s) efforts come later than the motion asks for: of joints, or under None of all."""
    profiles = _misfit_by_lag(samples, efforts)
    least = max(LEAST_DELAY_PERIODS * period, LEAST_DELAY_S)
    together = np.sum(list(profiles.values()), axis=0)
    if len(profiles) > 1 and _gain(together) > len(profiles) * np.log(ALL_BETTER):
        lag = _best_lag(together, samples.rate_hz)
        agree = [
            abs(_best_lag(p, samples.rate_hz) - lag) < max(0.3 * abs(lag), least) for p in profiles.values()
        ]
        if abs(lag) > least and np.mean(agree) > 0.5:
            return {None: lag}
    needed = np.log(LATER_BETTER if len(profiles) > 1 else ALONE_BETTER)
    lags = {j: _best_lag(p, samples.rate_hz) if _gain(p) > needed else 0.0 for j, p in profiles.items()}
    return later_than(lags, least)


def _misfit_by_lag(samples: Samples, efforts: Efforts) -> dict[int, Array]:
    """Of joints that some lag fits well: logarithm of the variance left at every lag up to the longest."""
    longest = int(np.ceil(LONGEST_LAG_S * samples.rate_hz))
    shifted = _shifted(samples, Decimator(samples.rate_hz, samples.cutoff_hz), longest)
    profiles: dict[int, Array] = {}
    for joint in efforts.joints:
        rows = _away_from_reversals(samples, efforts, joint)
        columns = efforts.model.columns(joint)[rows]
        if len(rows) < LEAST_ROWS + ROWS_PER_COLUMN * columns.shape[1]:
            continue
        Q = basis(columns)
        T = shifted[:, rows, joint]
        left = (T**2).sum(axis=1) - ((T @ Q) ** 2).sum(axis=1)
        variance = len(rows) * float(np.var(T[longest]))
        if 0.0 < left.min() < WELL_FITTED * variance:
            profiles[joint] = np.log(np.maximum(left / variance, LEAST_MISFIT))
    return profiles


def _gain(profile: Array) -> float:
    """By how much the best of all lags is better than none; 0 if it is the longest, so no best one at all."""
    best = int(np.argmin(profile))
    return float(profile[len(profile) // 2] - profile[best]) if 0 < best < len(profile) - 1 else 0.0


def _best_lag(profile: Array, rate_hz: float) -> float:
    best = int(np.argmin(profile))
    return (best - len(profile) // 2 + vertex(profile, best)) / rate_hz


def _delay_findings(efforts: Efforts, lags: Mapping[int | None, float]) -> list[Finding]:
    """Efforts that fit the motion better when they are shifted in time."""
    return [
        Finding(
            "delay",
            "warning",
            f"effort comes {delay_text(lag)} than the motion asks for",
            "efforts and positions seem to be stamped at different times; shift one of them",
            None if joint is None else efforts.names[joint],
        )
        for joint, lag in lags.items()
    ]


def _away_from_reversals(samples: Samples, efforts: Efforts, joint: int) -> NDArray[np.intp]:
    """The rows that see little of the joint's reversals."""
    speed = np.abs(samples.qd[:, joint])
    slow = widened(speed < REVERSAL * np.sqrt(np.mean(speed**2)), samples.parallel.half // 3)
    rows = efforts.rows(joint)
    return rows[~slow[samples.rows[rows]]]


def _shifted(samples: Samples, full: Decimator, longest: int) -> Array:
    """The filtered efforts at the rows, taken later by each lag, (2 longest + 1, M, n)."""
    lags = np.arange(-longest, longest + 1)
    pieces: list[Array] = []
    for first, last in samples.segments:
        efforts = full.apply(samples.tau[first:last])
        at = np.arange(last - first)[samples.parallel.middles(last - first)] - full.half
        pieces.append(efforts[np.clip(at + lags[:, None], 0, len(efforts) - 1)])
    return np.concatenate(pieces, axis=1)
