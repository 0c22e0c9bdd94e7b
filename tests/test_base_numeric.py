"""Sampled base parameters: Izaguirre's elimination, QR with pivoting, and agreement with the structure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid import ArgumentError, dynamics, load_robot
from dynid.base import base_parameters
from dynid.base.compare import compare
from dynid.spatial import Frame
from helpers_rank import random_robot


@pytest.fixture(autouse=True, scope="module")
def _numpy_back_end():
    """A few hundred samples of many robots: compiling a kernel for each would take longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNID_BACKEND", "numpy")
        dynamics.back_end.cache_clear()
        yield
    dynamics.back_end.cache_clear()


# Table 1 of the 1992 paper, in its order: ia fs ds, and m x y z a b c d e f of links 6 to 2.
TABLE_1 = {
    "ia": "123456",
    "6": "mxyzabcdef",
    "5": "xyacdef",
    "4": "xyacdef",
    "3": "xyadef",
    "2": "xyde",
    "fs": "123456",
    "ds": "123456",
}
MOMENTS = dict(zip("mxyzabcdef", ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "YZ", "XZ"), strict=True))


def table_1() -> list[str]:
    """The table's parameters by our names."""
    drives = {"ia": "Ia", "fs": "Fc", "ds": "Fv"}
    return [
        f"{drives[group]}{item}" if group in drives else f"{MOMENTS[item]}{group}"
        for group, items in TABLE_1.items()
        for item in items
    ]


def test_puma260_has_the_52_parameters_of_table_1():
    base = base_parameters(load_robot("puma260"), method="numeric", armature=True, friction=True)
    assert len(base.columns) == 78
    assert base.count == 52
    assert list(base.kept) == table_1()
    assert sum(name[0] in "MXYZ" for name in base.kept) == 34
    assert base.gap is not None
    assert base.gap[0] > 1e-3
    assert base.gap[1] < 1e-12


def test_the_motors_that_absorb_moments_are_the_first_two():
    base = base_parameters(load_robot("puma260"), method="numeric", armature=True)
    absorbing = [name for name in base.names if name.startswith("IaR")]
    assert absorbing == ["IaR1", "IaR2"]


def test_the_user_chooses_which_parameters_stay():
    robot = load_robot("puma560")
    base = base_parameters(robot, method="numeric", order=["YY6", "YY5", "M2", "ZZ1"])
    assert base.kept[:2] == ("YY6", "YY5")  # in this order; XX6 then goes with YY6
    assert "M2" not in base.kept  # no order can make it identifiable
    assert base.count == 36
    exact = base_parameters(robot)
    same = base_parameters(robot, method="numeric", order=exact.kept)
    assert same.names == exact.names
    assert np.allclose(same.matrix, exact.matrix, rtol=1e-9, atol=1e-12)


def test_orders_must_name_parameters():
    with pytest.raises(ArgumentError, match="YY7"):
        base_parameters(load_robot("puma560"), method="numeric", order=["YY7"])
    with pytest.raises(ArgumentError, match="'qr'"):
        base_parameters(load_robot("puma560"), method="numeric", order="svd")


@pytest.mark.parametrize("model", ["torque", "inertia", "gravity", "energy"])
@pytest.mark.parametrize("order", ["paper", "qr"])
def test_built_in_robots_agree_with_the_structure(model, order):
    for name in ("puma560", "stanford", "scara", "gk3"):
        robot = load_robot(name)
        drives = {"armature": True, "friction": True, "offset": True}
        numeric = base_parameters(robot, model, "numeric", **drives, order=order)
        exact = base_parameters(robot, model, **drives)
        assert compare(exact, numeric).equivalent, name
        assert numeric.no_effect == exact.no_effect


@pytest.mark.parametrize("seed", range(18))
def test_random_robots_agree_with_the_structure(seed):
    kind = ("right", "rational", "oblique")[seed % 3]
    robot = random_robot(seed, serial=seed % 2 == 0, kind=kind, joints=4)
    for model, armature in (("torque", True), ("gravity", False)):
        numeric = base_parameters(robot, model, "numeric", armature=armature)
        exact = base_parameters(robot, model, armature=armature)
        assert compare(exact, numeric).equivalent
        assert compare(numeric, exact).equivalent


@pytest.mark.parametrize("side", ["joint", "motor"])
def test_a_transmission_is_sampled_as_the_structure_sees_it(side):
    T = np.eye(6)
    T[4, 3], T[5, 4] = 0.5, -0.25
    robot = replace(load_robot("puma560"), transmission=T, friction_side=side)
    drives = {"armature": True, "friction": True, "offset": True}
    exact = base_parameters(robot, **drives)
    assert compare(exact, base_parameters(robot, method="numeric", **drives)).equivalent


def test_the_unit_of_length_does_not_matter():
    robot = load_robot("stanford")
    millimetres = tuple(
        replace(joint, before=Frame(joint.before.rotation, 1000 * joint.before.translation))
        for joint in robot.joints
    )
    small = replace(robot, joints=millimetres, gravity=1000 * robot.gravity)
    a, b = (base_parameters(r, method="numeric", armature=True) for r in (robot, small))
    assert a.names == b.names
    assert a.gap is not None
    assert b.gap is not None
    assert a.gap[0] == pytest.approx(b.gap[0], rel=1e-6)


def test_samples_are_the_same_in_every_run():
    robot = load_robot("scara")
    first, second = (base_parameters(robot, method="numeric") for _ in range(2))
    assert np.array_equal(first.matrix, second.matrix)


@pytest.mark.parametrize("name", ["puma560", "panda", "scara"])
def test_torques_from_the_kept_columns_are_the_full_models(name: str) -> None:
    """In the paper's order coefficients reach 2400 on the PUMA 560; digits left off them would show here."""
    robot = load_robot(name)
    base = base_parameters(robot, method="numeric")
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 50, robot.dof))
    tau = robot.inverse_dynamics(q, qd, qdd)
    columns = [base.columns.index(kept) for kept in base.kept]
    ours = robot.regressor(q, qd, qdd)[..., columns] @ base.values(robot.parameters)
    np.testing.assert_allclose(ours, tau, rtol=0, atol=1e-10 * np.abs(tau).max())
