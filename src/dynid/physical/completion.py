"""A full set with exactly the identified base values, as near to the prior as these allow.

Its bodies need not be possible: noise of the values is in them unchanged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.estimate import Estimate
from dynid.friction import armature_of
from dynid.model import DynamicModel
from dynid.physical.estimate import prior_bodies
from dynid.physical.prior import prior_of
from dynid.spatial import frozen, is_physical


def nearest_completion(estimate: Estimate) -> DynamicModel:
    """The estimate's model with bodies of its base values, the nearest to the file's or to neutral ones.

    With phi = X u, u the coordinates in which the prior is u0: the least |u - u0| with B phi = beta.
    """
    robot, base = estimate.robot, estimate.base
    prior = prior_of(robot, prior_bodies(robot)[0])
    width = 10 * len(robot.links)
    motors = [k for k, name in enumerate(base.columns) if name.startswith("Ia")]
    drives = [int(base.columns[k][2:]) - 1 for k in motors]
    links = np.einsum(
        "kli,lij->klj", base.matrix[:, :width].reshape(-1, prior.links, 10), prior.to_parameters
    )
    B = np.concatenate([links.reshape(-1, width), base.matrix[:, motors]], axis=1)
    start = np.concatenate([prior.centre, armature_of(robot)[drives]])
    beta = estimate.values[: base.count] * [not name.startswith("F") for name in base.kept]
    x = start + np.linalg.lstsq(B, beta - B @ start, rcond=None)[0]
    armature = np.zeros(robot.dof)
    armature[drives] = x[width:]
    parameters = prior.standard(x[:width])
    return replace(
        estimate.model,
        parameters=frozen(parameters),
        armature=frozen(armature),
        physical=all(is_physical(ten) for ten in parameters.reshape(-1, 10)),
    )
