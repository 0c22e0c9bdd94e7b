"""Generated C against Pinocchio's C++ templates, both compiled here for this processor, in one run."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pinocchio as pin

import dynid
from benchmarks.measure import Row
from benchmarks.pinocchio_models import pinocchio_model
from dynid.codegen.functions import generate
from dynid.codegen.listing import Listing
from dynid.codegen.package import files_of
from dynid.formats.dh_toml import parse_dh_toml
from dynid.friction import friction_of
from dynid.model import DynamicModel
from dynid.robot import Robot
from dynid.spatial import frozen, parameters_from_com

OPTIMISED = ["-O3", "-march=native", "-DNDEBUG"]
_BOOST = (  # what Pinocchio's templates need of Boost's
    "BOOST_MPL_LIMIT_LIST_SIZE=30",
    "BOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "BOOST_FUSION_INVOKE_MAX_ARITY=12",
)
COMPARED = (("inverse dynamics", 6.0), ("M and g", 9.0))  # and how many times faster is asked for
TWISTS, NORMALS, OFFSETS = (  # modified Denavit-Hartenberg parameters of a UR5: degrees, metres
    (0, 90, 0, 0, 90, -90),
    (0.0, 0.0, -0.425, -0.39225, 0.0, 0.0),
    (0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823),
)

_MAIN = """\
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "pinocchio/algorithm/crba.hpp"
#include "pinocchio/algorithm/rnea.hpp"
#include "arm.h"

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;

static pin::Model model()
{
    pin::Model m;
@MODEL@
    return m;
}

// nanoseconds a sample, the least of many passes over all samples
template <typename Call> static double nanoseconds(int samples, Call call)
{
    double best = 1e99;
    for (int pass = 0; pass < 400; ++pass) {
        const auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < samples; ++k) {
            call(k);
        }
        const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
        best = std::min(best, taken.count() / samples);
    }
    return best;
}

int main()
{
    constexpr int n = ARM_DOF;
    constexpr int samples = 500;
    const pin::Model m = model();
    pin::Data data(m);
    std::vector<Vector> q, qd, qdd;
    std::srand(1);
    for (int k = 0; k < samples; ++k) {
        q.push_back(3.0 * Vector::Random(n));
        qd.push_back(Vector::Random(n));
        qdd.push_back(Vector::Random(n));
    }
    double tau[n], M[n * n], g[n], worst = 0.0;
    for (int k = 0; k < samples; ++k) {
        arm_inverse_dynamics(q[k].data(), qd[k].data(), qdd[k].data(), tau);
        pin::rnea(m, data, q[k], qd[k], qdd[k]);
        arm_inertia_gravity(q[k].data(), M, g);
        pin::crba(m, data, q[k], pin::Convention::LOCAL);
        for (int i = 0; i < n; ++i) {
            worst = std::max(worst, std::abs(tau[i] - data.tau[i]));
            for (int j = i; j < n; ++j) {
                worst = std::max(worst, std::abs(M[n * i + j] - data.M(i, j)));
            }
        }
    }
    double sink = 0.0;
    const double ours_id = nanoseconds(samples, [&](int k) {
        arm_inverse_dynamics(q[k].data(), qd[k].data(), qdd[k].data(), tau);
        sink += tau[0];
    });
    const double theirs_id = nanoseconds(samples, [&](int k) {
        sink += pin::rnea(m, data, q[k], qd[k], qdd[k])[0];
    });
    const double ours_mg = nanoseconds(samples, [&](int k) {
        arm_inertia_gravity(q[k].data(), M, g);
        sink += g[0];
    });
    // the faster of Pinocchio's two conventions, which depends on the compiler
    const auto both = [&](pin::Convention convention) {
        return nanoseconds(samples, [&](int k) {
            pin::crba(m, data, q[k], convention);
            sink += pin::computeGeneralizedGravity(m, data, q[k])[0];
        });
    };
    const double theirs_mg = std::min(both(pin::Convention::LOCAL), both(pin::Convention::WORLD));
    std::printf("%.17g %.17g %.17g %.17g %.17g\\n", ours_id, theirs_id, ours_mg, theirs_mg, worst);
    return std::isnan(sink) ? 1 : 0;
}
"""


@dataclass(frozen=True)
class Timing:
    """Nanoseconds a call, theirs and ours, for each of `COMPARED`, and the largest difference."""

    ours: tuple[float, float]
    theirs: tuple[float, float]
    difference: float


def rows() -> list[Row]:
    """The comparison for two arms, or why there is none."""
    missing = _missing()
    if missing:
        return [Row(f"generated C against Pinocchio's C++: not measured, {missing}", "-")]
    found: list[Row] = []
    for name, robot in (("Panda", dynid.load_robot("panda")), ("UR5", ur5())):
        timing = measured(robot)
        assert timing.difference < 1e-9, "the two programs do not compute the same"
        for (what, goal), ours, theirs in zip(COMPARED, timing.ours, timing.theirs, strict=True):
            ratio = theirs / ours
            text = f"{what} of {name}: generated C {ours:.0f} ns, Pinocchio's C++ {theirs:.0f} ns"
            found.append(Row(text, f"{ratio:.1f}x", f">= {goal:g}x", ratio >= goal))
    return found


def ur5() -> Robot:
    """The geometry of a UR5 with bodies in no special position: all its 36 base parameters have values."""
    joint = '[[joint]]\ntype = "revolute"\nalpha = "{} deg"\na = {}\ntheta = 0.0\nd = {}\n'
    table = "".join(joint.format(*row) for row in zip(TWISTS, NORMALS, OFFSETS, strict=True))
    robot = parse_dh_toml(f'name = "ur5"\nconvention = "modified"\n{table}', "ur5")
    rng = np.random.default_rng(0)
    links = []
    for link in robot.links:
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inertia = turn @ np.diag([0.2, 0.3, 0.4]) @ turn.T
        ten = parameters_from_com(rng.uniform(1.0, 4.0), rng.uniform(-0.2, 0.2, 3), inertia)
        links.append(replace(link, parameters=frozen(ten)))
    return replace(robot, links=tuple(links))


def measured(robot: Robot) -> Timing:
    """Both sides compiled in a folder of their own, and run."""
    zero = np.zeros(robot.dof)
    rigid = replace(friction_of(robot), viscous=zero, coulomb=zero, offset=zero)
    model = DynamicModel(robot=robot, parameters=robot.parameters, armature=zero, friction=rigid)
    files = files_of(Listing(generate(model), "arm", "a benchmark"), ["c"])
    with tempfile.TemporaryDirectory() as folder:
        for name in ("arm.h", "arm.c"):
            Path(folder, name).write_text(files[name], encoding="utf-8")
        text = _MAIN.replace("@MODEL@", _model_in_cpp(robot))
        Path(folder, "main.cpp").write_text(text, encoding="utf-8")
        includes = [word for path in _headers() for word in ("-isystem", str(path))]
        compile_c = ["gcc", "-std=c99", *OPTIMISED, "-c", "arm.c", "-o", "arm.o"]
        definitions = [f"-D{word}" for word in _BOOST]
        link = ["-Wl,--no-as-needed", "-lm"]
        compile_cpp = ["g++", "-std=c++17", *OPTIMISED, *definitions, *includes, "main.cpp", "arm.o", *link]
        for command in (compile_c, [*compile_cpp, "-o", "bench"]):
            subprocess.run(command, check=True, cwd=folder)
        ran = subprocess.run(["./bench"], check=True, cwd=folder, capture_output=True, text=True)
    a, b, c, d, worst = (float(word) for word in ran.stdout.split())
    return Timing((a, c), (b, d), worst)


def _model_in_cpp(robot: Robot) -> str:
    """The statements that build Pinocchio's model, from the one its Python bindings were given."""
    model = pinocchio_model(robot)
    gravity = ", ".join(repr(float(x)) for x in model.gravity.linear)
    lines = [f"m.gravity.linear() = Eigen::Vector3d({gravity});", "pin::JointIndex j = 0;"]
    for k in range(1, model.njoints):
        place, body = model.jointPlacements[k], model.inertias[k]
        kind = "pin::JointModelRZ()"  # as `pinocchio_model` chooses for axes along z
        lines += [
            f"j = m.addJoint(j, {kind}, pin::SE3({_matrix(place.rotation)}, {_vector(place.translation)}), "
            f'"j{k}");',
            f"m.appendBodyToJoint(j, pin::Inertia({body.mass!r}, {_vector(body.lever)}, "
            f"{_matrix(body.inertia)}), pin::SE3::Identity());",
        ]
    return "\n".join(f"    {line}" for line in lines)


def _vector(x: np.ndarray) -> str:
    return f"Eigen::Vector3d({', '.join(repr(float(value)) for value in x)})"


def _matrix(x: np.ndarray) -> str:
    return f"(Eigen::Matrix3d() << {', '.join(repr(float(value)) for value in np.ravel(x))}).finished()"


def _headers() -> list[Path]:
    """Folders of the headers of Pinocchio, Boost and Eigen: of the wheels, or the system's."""
    prefix = Path(pin.__file__).parents[4] / "include"
    packages = Path(pin.__file__).parents[5]
    eigen = [packages / "casadi" / "include" / "eigen3", Path("/usr/include/eigen3")]
    candidates = [prefix, prefix / "eigen3", *eigen]
    return [path for path in candidates if path.is_dir()]


def _missing() -> str:
    """What this machine lacks for the comparison; empty if nothing."""
    if not (shutil.which("gcc") and shutil.which("g++")):
        return "there is no gcc and g++"
    for header in ("pinocchio/algorithm/rnea.hpp", "Eigen/Core", "boost/variant.hpp"):
        if not any((path / header).exists() for path in (*_headers(), Path("/usr/include"))):
            return f"the header {header} is not there"
    return ""
