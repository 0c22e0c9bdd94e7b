"""What logs that are recorded already tell of the parameters, as information that a new motion adds to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.errors import ArgumentError
from dynid.excite.criteria import Known
from dynid.excite.observation import Observation
from dynid.log.log import Log
from dynid.log.prepare import prepare


def known_from(observation: Observation, logs: Sequence[Log], duration: float) -> Known:
    """The integral of Y' Y over all logs, beside a motion that takes `duration`."""
    if observation.model == "energy":
        raise ArgumentError(
            "recorded logs count for the models torque and gravity only: differences of energy depend on "
            "how far apart in time they are taken"
        )
    count = observation.base.count
    information = np.zeros((count, count))
    for log in logs:
        samples = prepare(log, observation.robot)
        W = observation.matrix([samples.q, samples.qd, samples.qdd])
        information += W.T @ W / samples.rate_hz
    return Known(information, duration, observation.rows_per_sample)
