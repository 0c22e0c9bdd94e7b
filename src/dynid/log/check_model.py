"""The doctor's look at efforts against a rigid robot with friction: suspicions, with their evidence.

Three kinds of evidence, none of which needs the robot's parameters to better than a factor of two: the
robot's own parameters where it has them, the couplings (all joints share the base parameters, so one joint's
effort of the wrong sign spoils the common fit), and friction, which must take power out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.log.check_names import name_findings
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
SHARE = 0.8  # of the variance that friction leaves, to be explained before a sign or a scale is judged
BETTER = 2.0  # times less residual variance, before signs or names are doubted
LONGEST_LAG_S = 0.1
LEAST_DELAY_PERIODS, LEAST_DELAY_S = 1.5, 0.005
LATER_BETTER = 1.5  # times less residual variance at another lag
WELL_FITTED = 0.03  # of the variance at most unexplained, for a delay to be what is wrong
REVERSAL = 0.2  # of the RMS speed; slower, friction is not a matter of speed alone and mimics a delay


def model_findings(
    samples: Samples, efforts: Efforts, robot: Robot, period: float, spoiled: frozenset[str]
) -> list[Finding]:
    """Swapped names first; then signs and scales of the other joints, delays of those not spoiled."""
    found, gone = name_findings(samples, efforts, robot)
    rest = tuple(j for j in efforts.joints if j not in gone)
    trusted = replace(efforts, joints=rest)
    turned = _signs(trusted)
    found += [_sign_finding(trusted, j, why) for j, why in turned.items()]
    found += [finding for j in rest if j not in turned for finding in _scale(trusted, j)]
    timed = replace(trusted, joints=tuple(j for j in rest if efforts.names[j] not in spoiled))
    return [*found, *_delays(samples, timed, period)]


# --- signs and scales -----------------------------------------------------------------------------


def _signs(efforts: Efforts) -> dict[int, str]:
    """Joints whose effort seems to have the wrong sign, and why."""
    turned: dict[int, str] = {}
    for joint in efforts.joints:
        if efforts.predicted is not None:
            slope, share = _against_prediction(efforts, joint, rotor_free=False)
            if slope < 0 and share > SHARE:
                turned[joint] = (
                    f"{slope:.2g} times the effort that the robot's own parameters predict "
                    f"explains {100 * share:.0f} % of what friction leaves"
                )
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
    return float(np.mean(np.abs(efforts.model.tau[rows, joint] * efforts.model.drive[rows, joint, 1])))


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


def _scale(efforts: Efforts, joint: int) -> list[Finding]:
    """An effort that is another multiple of the predicted one than rough parameters can excuse."""
    slope, share = _against_prediction(efforts, joint, rotor_free=not efforts.rotors_known[joint])
    source = "the effort that the robot's own parameters predict"
    if efforts.predicted is None:
        slope, share = _relative_scale(efforts, joint)
        source = "what the other joints' efforts and the couplings ask for"
    if not share > SHARE or SCALE_LOW < slope < SCALE_HIGH or slope <= 0:
        return []
    return [
        Finding(
            "effort_scale",
            "warning",
            f"effort is {slope:.3g} times {source}",
            "is it motor current (--effort current --gain) or motor torque (--effort motor_torque), or is a "
            "gear ratio wrong? If not, the robot's file is",
            efforts.names[joint],
        )
    ]


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
    return (1.0 / multiple if multiple else np.nan), float(removed[j] / total)


# --- delays ---------------------------------------------------------------------------------------


def _delays(samples: Samples, efforts: Efforts, period: float) -> list[Finding]:
    """Efforts that fit the motion better when they are shifted in time."""
    longest = int(np.ceil(LONGEST_LAG_S * samples.rate_hz))
    full = Decimator(samples.rate_hz, samples.cutoff_hz)
    shifted = _shifted(samples, full, longest)
    lags: dict[int, float] = {}
    for joint in efforts.joints:
        rows = _away_from_reversals(samples, efforts, joint)
        Q = basis(efforts.model.columns(joint)[rows])
        if len(rows) < LEAST_ROWS + ROWS_PER_COLUMN * Q.shape[1]:
            continue
        T = shifted[:, rows, joint]
        left = (T**2).sum(axis=1) - ((T @ Q) ** 2).sum(axis=1)
        best = int(np.argmin(left))
        fits = left[best] < WELL_FITTED * len(rows) * float(np.var(T[longest]))
        better = fits and left[longest] > LATER_BETTER * left[best] and 0 < best < 2 * longest
        lags[joint] = (best - longest + vertex(left, best)) / samples.rate_hz if better else 0.0
    return [
        Finding(
            "delay",
            "warning",
            f"effort comes {delay_text(lag)} than the motion asks for",
            "efforts and positions seem to be stamped at different times; shift one of them",
            None if joint is None else efforts.names[joint],
        )
        for joint, lag in later_than(lags, max(LEAST_DELAY_PERIODS * period, LEAST_DELAY_S)).items()
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
