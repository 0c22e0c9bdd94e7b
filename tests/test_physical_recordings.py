"""A full physical set from recordings of a real arm, judged on motions that it has not seen."""

import numpy as np
import pytest

from dynid.estimate import Estimate
from dynid.export.exported import motions
from dynid.export.write import export
from dynid.fit.identify import identify
from dynid.spatial import pseudo_inertia
from helpers_export import by_mujoco, by_pinocchio, without_numbers
from helpers_recordings import UR10E, needs_recordings, ur10e, ur10e_log

pytestmark = needs_recordings
UNSEEN = ("02_12-40sec_12harm", "02_05-20sec_8harm")


@pytest.fixture(scope="module")
def estimates() -> tuple[Estimate, Estimate]:
    """Without and with the demand that bodies can exist, on one run of the UR10e."""
    robot = ur10e()
    training, unseen = ur10e_log(robot, "02_10-30sec_12harm"), [ur10e_log(robot, name) for name in UNSEEN]
    free, physical = (identify(robot, training, validate=unseen, physical=asked) for asked in (False, True))
    return free, physical


def test_all_bodies_can_exist(estimates: tuple[Estimate, Estimate]) -> None:
    physical = estimates[1]
    assert physical.physical is True
    assert physical.parameters.shape == (60,)
    P = pseudo_inertia(physical.parameters.reshape(-1, 10))
    assert (np.linalg.eigvalsh(P)[:, 0] >= 1e-9 * np.trace(P, axis1=1, axis2=2)).all()
    assert (physical.model.armature >= 0.0).all()
    assert set(physical.origins) == {"measured", "grouped", "prior"}


def test_unseen_motions_are_predicted_as_well_as_without_constraints(
    estimates: tuple[Estimate, Estimate],
) -> None:
    free, physical = estimates
    for log, scores in free.validation.items():
        errors = [
            np.linalg.norm([score.rmse for score in found.values()])
            for found in (scores, physical.validation[log])
        ]
        assert errors[1] < 1.1 * errors[0]
    assert physical.choices["physical"]["prediction_change_percent"] < 2.0


def test_its_urdf_is_the_user_s_with_other_numbers(estimates: tuple[Estimate, Estimate]) -> None:
    physical = estimates[1]
    robot, text = physical.robot, export(physical, "urdf").text
    assert without_numbers(text) == without_numbers((UR10E / "ur10e.urdf").read_bytes().decode())
    expected = robot.inverse_dynamics(*motions(robot), physical.parameters)
    size = np.abs(expected).max()
    assert np.abs(by_pinocchio(text, robot) - expected).max() <= 1e-9 * size
    assert np.abs(by_mujoco(export(physical, "mjcf").text, robot)[0] - expected).max() <= 1e-9 * size
