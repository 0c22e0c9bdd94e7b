"""Random URDF texts: chains and trees of all joint types, with the awkward cases in them on purpose."""

from __future__ import annotations

import numpy as np

KINDS = ("revolute", "continuous", "prismatic")


def random_urdf(
    rng: np.random.Generator,
    moving: int,
    *,
    tree: bool = True,
    kinds: tuple[str, ...] = KINDS,
    fixed: bool = True,
    mimic: bool = True,
    name: str = "random",
) -> str:
    """A URDF with `moving` moving joints, mimic ones among them.

    `tree` allows branches; `fixed` puts fixed links, with and without inertia, between the others, at the
    ends and on the base; `mimic` couples some joints, in chains too. Names are numbered at random and the
    elements shuffled, so that no order can be read off either.
    """
    numbers = iter(rng.permutation(10 * (moving + 2)))
    links = [_link(rng, f"base_{next(numbers)}", rng.random() < 0.5)]
    names = [links[0][0]]
    ends = [names[0]]  # where the next link of a chain goes
    joints: list[str] = []
    masters: list[str] = []

    def attach(parent: str, kind: str, inertial: bool) -> str:
        child, text = _link(rng, f"link_{next(numbers)}", inertial)
        links.append((child, text))
        joint = f"joint_{next(numbers)}"
        master = str(rng.choice(masters)) if masters and mimic and rng.random() < 0.25 else None
        joints.append(_joint(rng, joint, kind, parent, child, None if kind == "fixed" else master))
        if kind != "fixed":
            masters.append(joint)
        names.append(child)
        return child

    for _ in range(moving):
        parent = str(rng.choice(names)) if tree and rng.random() < 0.4 else ends[-1]
        while fixed and rng.random() < 0.35:
            parent = attach(parent, "fixed", rng.random() < 0.6)
        ends.append(attach(parent, str(rng.choice(kinds)), True))
    for _ in range(int(rng.integers(0, 3)) if fixed else 0):
        attach(str(rng.choice(names)), "fixed", rng.random() < 0.6)
    body = [text for _, text in links] + joints
    return "\n".join([f'<robot name="{name}">', *(body[k] for k in rng.permutation(len(body))), "</robot>"])


def _link(rng: np.random.Generator, name: str, inertial: bool) -> tuple[str, str]:
    if not inertial:
        return name, f'<link name="{name}"/>'
    A = rng.normal(size=(3, 3)) * rng.uniform(0.05, 0.5)
    J = A @ A.T  # integral of r r' dm about the centre of mass: physical by construction
    inertia = np.trace(J) * np.eye(3) - J
    entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    moments = " ".join(f'{key}="{float(inertia[at])!r}"' for key, at in entries.items())
    mass = float(rng.uniform(0.1, 5.0))
    return name, (
        f'<link name="{name}"><inertial>{_origin(rng)}<mass value="{mass!r}"/>'
        f"<inertia {moments}/></inertial></link>"
    )


def _joint(
    rng: np.random.Generator, name: str, kind: str, parent: str, child: str, master: str | None
) -> str:
    parts = [f'<parent link="{parent}"/><child link="{child}"/>', _origin(rng)]
    if kind != "fixed" and rng.random() < 0.9:  # the default axis, 1 0 0, where there is none
        parts.append(f'<axis xyz="{_vector(_axis(rng))}"/>')
    if kind != "fixed":
        parts.append('<limit lower="-2.5" upper="2" velocity="3" effort="40"/>')
    if master is not None:
        multiplier, offset = float(rng.uniform(-2, 2)), float(rng.uniform(-1, 1))
        parts.append(f'<mimic joint="{master}" multiplier="{multiplier!r}" offset="{offset!r}"/>')
    return f'<joint name="{name}" type="{kind}">{"".join(parts)}</joint>'


def _axis(rng: np.random.Generator) -> np.ndarray:
    """A coordinate axis, either way round and of any length, or a direction in general."""
    if rng.random() < 0.5:
        return np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0, 2.0])
    return rng.normal(size=3)


def _origin(rng: np.random.Generator) -> str:
    """An <origin>, right-angled half of the time, or none at all."""
    if rng.random() < 0.15:
        return ""
    right = np.pi / 2 * rng.integers(-2, 3, size=3)
    rpy = right if rng.random() < 0.5 else rng.uniform(-3, 3, size=3)
    xyz = rng.uniform(-0.5, 0.5, size=3) * rng.integers(0, 2, size=3)
    return f'<origin xyz="{_vector(xyz)}" rpy="{_vector(rpy)}"/>'


def _vector(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)
