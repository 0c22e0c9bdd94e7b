"""Random MJCF models that use what the reader must understand, and MuJoCo as the judge of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import mujoco
import numpy as np

from dynid.spatial import parameters_from_com

# Random models may be near singular, which is of no concern here; MuJoCo would log it where the tests run.
mujoco.set_mju_user_warning(lambda _: None)


def numbers(values) -> str:
    return " ".join(repr(float(value)) for value in np.atleast_1d(values))


def attributes(**given) -> str:
    """Attributes of a tag; arrays become numbers."""
    texts = {
        key.rstrip("_"): value if isinstance(value, str) else numbers(value) for key, value in given.items()
    }
    return "".join(f' {key}="{value}"' for key, value in texts.items())


@dataclass
class Writer:
    """Writes one random model; whatever can be said in several ways is said in a random one."""

    rng: np.random.Generator
    bodies: int = 6
    degrees: bool = True
    from_geom: str = "auto"
    classes: tuple[str, ...] = ()
    count: int = 0
    joints: int = 0
    lines: list[str] = field(default_factory=list)

    def model(self) -> str:
        rng = self.rng
        self.degrees = bool(rng.random() < 0.5)
        self.from_geom = str(rng.choice(["auto", "auto", "true", "false"]))
        compiler = {
            "angle": "degree" if self.degrees else "radian",
            "eulerseq": "".join(rng.choice(list("xyzXYZ"), 3)),
            "inertiafromgeom": self.from_geom,
            "inertiagrouprange": "0 3",
        }
        if rng.random() < 0.3:
            compiler |= {"balanceinertia": "true", "boundmass": "0.8", "boundinertia": "0.3"}
        self.lines = [f"<mujoco model='random'><compiler{attributes(**compiler)}/>", self.defaults()]
        self.lines.append(f"<option{attributes(gravity=rng.normal(size=3) * 5)}/><worldbody>")
        while self.count < self.bodies or self.joints == 0:
            self.body(depth=0)
        return "\n".join([*self.lines, "</worldbody></mujoco>"])

    def defaults(self) -> str:
        """An outermost class, one inside it, and one inside that; each says only some of the attributes."""
        self.classes = ("outer", "inner")
        rng = self.rng
        main = f"<joint{attributes(axis=rng.normal(size=3), damping=rng.random())}/><geom density='700'/>"
        outer = f"<joint{attributes(armature=rng.random(), pos=rng.normal(size=3))}/>"
        outer += f"<geom{self.orientation()}{attributes(size=rng.uniform(0.1, 0.3, 3))}/>"
        inner = "<geom type='box' density='300'/><joint type='slide' frictionloss='0.3'/>"
        nested = f"<default class='outer'>{outer}<default class='inner'>{inner}</default></default>"
        return f"<default>{main}{nested}</default>"

    def body(self, depth: int) -> None:
        rng = self.rng
        self.count += 1
        name = f"b{self.count}"
        in_frame = rng.random() < 0.3
        if in_frame:
            self.lines.append(f"<frame{self.pose()}{self.maybe_childclass()}>")
        self.lines.append(f"<body{attributes(name=name)}{self.pose()}{self.maybe_childclass()}>")
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            self.joint()
        self.inertia()
        for _ in range(rng.integers(0, 3)):
            if depth < 5 and self.count < self.bodies:
                self.body(depth + 1)
        self.lines.append("</body>")
        if in_frame:
            self.lines.append("</frame>")

    def maybe_childclass(self) -> str:
        return attributes(childclass=str(self.rng.choice(self.classes))) if self.rng.random() < 0.3 else ""

    def maybe_class(self) -> str:
        return attributes(class_=str(self.rng.choice(self.classes))) if self.rng.random() < 0.3 else ""

    def joint(self) -> None:
        rng = self.rng
        given: dict[str, object] = {"name": f"j{self.joints + 1}"}
        self.joints += 1
        if rng.random() < 0.8:
            given["type"] = str(rng.choice(["hinge", "hinge", "slide"]))
        if rng.random() < 0.8:
            given["axis"] = rng.normal(size=3) if rng.random() < 0.7 else np.eye(3)[rng.integers(3)]
        if rng.random() < 0.5:
            given["pos"] = rng.normal(size=3)
        if rng.random() < 0.4:
            given["ref"] = rng.normal() * (50 if self.degrees else 1)
        if rng.random() < 0.5:
            given["range"] = np.sort(rng.normal(size=2)) * 50
        if rng.random() < 0.3:
            given["actuatorfrcrange"] = [-rng.uniform(1, 9), rng.uniform(1, 9)]
        self.framed(f"<joint{self.maybe_class()}{attributes(**given)}/>")

    def framed(self, line: str) -> None:
        """A line of a body, sometimes inside a <frame>, or a <frame> in a <frame>."""
        while self.rng.random() < 0.2:
            line = f"<frame{self.pose()}>{line}</frame>"
        self.lines.append(line)

    def inertia(self) -> None:
        """An <inertial>, geoms or both, so that the body has mass whatever the compiler prefers."""
        rng = self.rng
        if self.from_geom == "false" or rng.random() < 0.5:
            self.lines.append(f"<inertial{attributes(pos=rng.normal(size=3) * 0.3)}{self.moments()}/>")
        if self.from_geom != "false":
            self.geom()
            for _ in range(rng.integers(0, 3)):
                self.geom(massless=rng.random() < 0.2)
            group = attributes(type="sphere", size=1.0, group="4")
            self.lines.append(f"<geom{group}/><site name='s{self.count}'/>")

    def moments(self) -> str:
        """Mass and moments that some rigid body has."""
        rng = self.rng
        J = np.diag(rng.uniform(0.05, 1.0, 3))
        moments = np.trace(J) * np.eye(3) - J
        mass = attributes(mass=rng.uniform(0.5, 3))
        if rng.random() < 0.5:
            return mass + attributes(diaginertia=np.diag(moments)) + self.orientation()
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        A = R @ moments @ R.T
        return mass + attributes(fullinertia=[A[0, 0], A[1, 1], A[2, 2], A[0, 1], A[0, 2], A[1, 2]])

    def geom(self, massless: bool = False) -> None:
        rng = self.rng
        kind = str(rng.choice(["sphere", "capsule", "cylinder", "ellipsoid", "box"]))
        given: dict[str, object] = {"type": kind}
        if rng.random() < 0.3:
            given = {"class_": str(rng.choice(self.classes))}
            if rng.random() < 0.5:
                given["size"] = rng.uniform(0.1, 0.3)
            place = self.pose()
        else:
            given["size"] = rng.uniform(0.1, 0.4, 3 if kind in ("ellipsoid", "box") else 2)
            place = self.pose()
            if kind != "sphere" and rng.random() < 0.3:
                place = attributes(fromto=rng.normal(size=6))
        if rng.random() < 0.5:
            given[str(rng.choice(["mass", "density"]))] = rng.uniform(0.5, 3)
        if massless:
            given |= {"mass": 0.0}
        self.framed(f"<geom{attributes(**given)}{place}/>")

    def pose(self) -> str:
        return attributes(pos=self.rng.normal(size=3)) * (self.rng.random() < 0.8) + self.orientation()

    def orientation(self) -> str:
        rng = self.rng
        kind = str(rng.choice(["", "quat", "axisangle", "xyaxes", "zaxis", "euler"]))
        length = {"": 0, "quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}[kind]
        values = rng.normal(size=length)
        if kind == "euler" and self.degrees:
            values *= 57.0
        return attributes(**{kind: values}) if kind else ""


def random_mjcf(seed: int, bodies: int = 6) -> str:
    return Writer(np.random.default_rng(seed), bodies).model()


# --- MuJoCo's answers ---------------------------------------------------------------------------


def rigid_model(text: str) -> mujoco.MjModel:
    """The compiled model without what is no rigid-body term."""
    model = mujoco.MjModel.from_xml_string(text)
    for extra in (model.dof_armature, model.dof_damping, model.dof_frictionloss, model.jnt_stiffness):
        extra[:] = 0.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return model


def inverse_dynamics(model: mujoco.MjModel, q, qd, qdd) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy()


def names(model: mujoco.MjModel, kind: str) -> list[str]:
    number = {"body": model.nbody, "joint": model.njnt}[kind]
    return [getattr(model, kind)(k).name for k in range(number)]


def body_parameters(model: mujoco.MjModel, name: str) -> np.ndarray:
    """Ten parameters of a body about and in its own frame."""
    body = model.body(name)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, body.iquat)
    R = R.reshape(3, 3)
    return parameters_from_com(float(body.mass[0]), body.ipos, R @ np.diag(body.inertia) @ R.T)


def rewritten(text: str) -> str:
    """The model as MuJoCo itself would write it to a file."""
    spec = mujoco.MjSpec.from_string(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # near singular, see above
        spec.compile()
        return spec.to_xml()


def schema() -> dict[str, set[str]]:
    """Attributes of <compiler>, <body> and what stands inside <body>, from MuJoCo's printed schema."""
    found: dict[str, set[str]] = {}
    section = tag = ""
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head, words = line[:27], line[27:].split()
        if head.strip():
            depth = len(head) - len(head.lstrip())
            tag = head.split()[0].replace("(world)", "")
            section = tag if depth == 3 else section
        if tag == section == "compiler" or section == "body":
            found.setdefault(tag, set()).update(words)
    return found
