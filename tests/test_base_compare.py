"""Equivalence of sets of base parameters (Corollary 6 of Lin 1994) and minimal combinations (Theorem 1)."""

from __future__ import annotations

import numpy as np
import pytest

from dynid import ArgumentError, load_robot
from dynid.base import base_parameters
from dynid.base.compare import compare, convert, minimal_combinations
from dynid.base.result import BaseParameters, linear_text, regrouped_name
from helpers_rank import effort_rows, random_robot


@pytest.fixture(scope="module")
def puma() -> BaseParameters:
    return base_parameters(load_robot("puma560"), armature=True)


@pytest.fixture(scope="module")
def puma_numeric() -> BaseParameters:
    """The same robot's set with other parameters kept: what the order of columns is for."""
    return base_parameters(load_robot("puma560"), method="numeric", armature=True)


def as_user_set(base: BaseParameters) -> dict[str, dict[str, float]]:
    """The base parameters as a set of one's own."""
    return {
        name: {column: c for column, c in zip(base.columns, row, strict=True) if c}
        for name, row in zip(base.names, base.matrix, strict=True)
    }


# --- Corollary 6 ------------------------------------------------------------------------------------


def test_m_carries_values_from_one_set_to_the_other(puma, puma_numeric):
    M, back = puma.map_to(puma_numeric), puma_numeric.map_to(puma)
    assert M.shape == (40, 40)
    assert np.allclose(M @ back, np.eye(40), atol=1e-8)
    rng = np.random.default_rng(0)
    for _ in range(5):
        phi = rng.normal(size=len(puma.columns))
        assert np.allclose(M @ puma.values(phi), puma_numeric.values(phi), atol=1e-9)


def test_a_set_without_pivots_is_mapped_too(puma):
    mixing = np.random.default_rng(1).normal(size=(40, 40))
    mixed = BaseParameters(
        method="mixed",
        model="torque",
        columns=puma.columns,
        matrix=mixing @ puma.matrix,
        names=tuple(f"b{k}" for k in range(40)),
    )
    assert np.allclose(puma.map_to(mixed), mixing)
    assert np.allclose(mixed.map_to(puma), np.linalg.inv(mixing), atol=1e-9)
    phi = np.random.default_rng(2).normal(size=len(puma.columns))
    assert np.allclose(puma.values(mixed.completion(mixed.values(phi))), puma.values(phi), atol=1e-8)


def test_covariance_goes_with_the_values(puma, puma_numeric):
    rng = np.random.default_rng(3)
    beta = rng.normal(size=40)
    root = rng.normal(size=(40, 40))
    values, covariance = convert(beta, root @ root.T, puma, puma_numeric)
    M = puma.map_to(puma_numeric)
    assert np.allclose(values, M @ beta)
    # A linear function of the new set has the variance that the same function has in the old one.
    weight = rng.normal(size=40)
    assert weight @ covariance @ weight == pytest.approx(np.sum((root.T @ M.T @ weight) ** 2))
    again = convert(values, covariance, puma_numeric, puma)
    assert np.allclose(again[0], beta, atol=1e-7)
    assert np.allclose(again[1], root @ root.T, atol=1e-6)
    with pytest.raises(ArgumentError, match="40"):
        convert(beta[:3], root, puma, puma_numeric)


def test_the_table_writes_their_parameters_in_ours(puma):
    own = as_user_set(puma)
    own["inertia at joint 6"] = own.pop("ZZ6")
    own["sum"] = {name: own["MX6"].get(name, 0) + 2 * own["MY6"].get(name, 0) for name in ("MX6", "MY6")}
    del own["MY6"]
    table = dict(compare(puma, own).table())
    assert table["inertia at joint 6"] == "ZZ6"
    assert table["sum"] == "MX6 + 2 MY6"
    assert table["XXR6"] == "XXR6"


def test_a_missing_parameter_is_named(puma):
    own = as_user_set(puma)
    del own["YZ3"]
    found = compare(puma, own)
    assert not found.equivalent
    assert (found.missing, found.foreign, found.redundant) == (("YZ3",), (), ())
    with pytest.raises(ArgumentError, match=r"missing.*YZ3"):
        puma.map_to(own)


def test_a_redundant_parameter_is_named(puma):
    own = as_user_set(puma)
    own["extra"] = {"XX6": 2.0, "YY6": -2.0, "MX6": 1.0}
    found = compare(puma, own)
    assert (found.missing, found.foreign, found.redundant) == ((), (), ("extra",))


def test_what_the_model_does_not_determine_is_named(puma):
    own = as_user_set(puma)
    own["XX6 alone"] = {"XX6": 1.0}
    del own["XXR6"]
    found = compare(puma, own)
    assert found.foreign == ("XX6 alone",)
    assert found.missing == ("XXR6",)
    assert "40 given, 40 needed" in found.explain()


def test_a_forgotten_term_is_found_whatever_the_unit(puma):
    # Without the 2 R3 MZ3 of ZZR1 the set is wrong by one small coefficient; in millimetres by a large one.
    for factor in (1.0, 1e3):
        powers = np.array([2, 2, 2, 2, 2, 2, 1, 1, 1, 0] * 6 + [2] * 6)
        scale = factor ** powers.astype(float)
        lead = scale[[puma.columns.index(name) for name in puma.kept]]
        rescaled = BaseParameters(
            method="exact",
            model="torque",
            columns=puma.columns,
            matrix=puma.matrix / scale * lead[:, None],
            names=puma.names,
            kept=puma.kept,
        )
        assert compare(rescaled, as_user_set(rescaled)).equivalent
        own = as_user_set(rescaled)
        del own["ZZR1"]["MZ3"]
        assert compare(rescaled, own).foreign == ("ZZR1",)


def test_printed_coefficients_need_a_wider_tolerance(puma):
    own = {
        name: {k: float(f"{c:.5g}") for k, c in terms.items()} for name, terms in as_user_set(puma).items()
    }
    assert not compare(puma, own).equivalent
    assert compare(puma, own, tolerance=1e-4).equivalent


def test_sets_of_different_models_are_not_equivalent(puma):
    gravity = base_parameters(load_robot("puma560"), "gravity")
    assert compare(puma, gravity).foreign == ()  # gravity's are among the torque's
    assert len(compare(puma, gravity).missing) == 30
    assert len(compare(gravity, puma).foreign) > 0


def test_bad_sets_are_refused(puma):
    with pytest.raises(ArgumentError, match="empty"):
        puma.map_to({})
    with pytest.raises(ArgumentError, match="MX66"):
        puma.map_to({"a": {"MX66": 1.0}})
    with pytest.raises(ArgumentError, match="finite"):
        puma.map_to({"a": {"MX6": np.nan}})
    with pytest.raises(ArgumentError, match="expected 66"):
        puma.values(np.zeros(3))
    with pytest.raises(ArgumentError, match="expected 40"):
        puma.completion(np.zeros(3))


# --- Theorem 1 --------------------------------------------------------------------------------------


def test_any_linear_model_is_reduced():
    # y = x1 cos t + x2 (1 - cos 2t) + x3 sin(t)^2 + x4 + x5 cos(t)^2 + 0 x6: two of the six are free.
    def model(theta):
        t = theta[0]
        return [[np.cos(t), 1 - np.cos(2 * t), np.sin(t) ** 2, 1.0, np.cos(t) ** 2, 0.0]]

    found = minimal_combinations(model, ["a", "b", "c", "d", "e", "f"], 1, order=["d", "c"])
    assert found.expressions == ("d + e", "c + 2 b - e", "a")
    assert found.names == ("dR", "cR", "a")
    assert found.no_effect == ("f",)
    assert found.regrouped == {"b": ("cR",), "e": ("dR", "cR")}
    drawn = minimal_combinations(model, list("abcdef"), lambda rng: rng.uniform(0, 3, 1), order=["d", "c"])
    assert np.allclose(drawn.matrix, found.matrix)


def test_theorem_1_finds_the_base_parameters_of_a_robot():
    robot = random_robot(12, serial=True, kind="right", joints=4)
    exact = base_parameters(robot)

    def model(theta):
        return effort_rows(robot, "torque", np.random.default_rng(abs(int(1e6 * theta[0]))), 1)

    found = minimal_combinations(model, exact.columns, 1, order=exact.kept)
    assert found.names == exact.names
    assert np.allclose(found.matrix, exact.matrix, atol=1e-8)


def test_models_and_orders_are_checked():
    with pytest.raises(ArgumentError, match="2 columns"):
        minimal_combinations(lambda theta: [[1.0]], ["a", "b"], 1)
    with pytest.raises(ArgumentError, match="finite"):
        minimal_combinations(lambda theta: [[np.nan, 1.0]], ["a", "b"], 1)
    with pytest.raises(ArgumentError, match="'c'"):
        minimal_combinations(lambda theta: [[1.0, theta[0]]], ["a", "b"], 1, order=["c"])


# --- texts ------------------------------------------------------------------------------------------


def test_texts():
    assert linear_text([0.0, 1.0, -1.0, 0.186], ("a", "b", "c", "d")) == "b - c + 0.186 d"
    assert linear_text([2.0, 1.0], ("a", "b"), "b") == "b + 2 a"
    assert linear_text([-0.5, 0.0], ("a", "b")) == "-0.5 a"
    assert linear_text([0.0], ("a",)) == "0"
    assert [regrouped_name(name) for name in ("ZZ1", "M12", "Ia3", "spring")] == [
        "ZZR1",
        "MR12",
        "IaR3",
        "springR",
    ]
