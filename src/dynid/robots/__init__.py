"""The robots that come with dynid: one DH file each, whose comments say where every figure comes from."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "stanford": "Stanford arm, 6 joints (one prismatic), figures of Lin 1992",
        "puma560": "Unimation PUMA 560, 6 joints, geometry of Gautier and Khalil 1990, literature inertia",
        "puma260": "Unimation PUMA 260, 6 joints, completion of the set of Izaguirre et al. 1992",
        "gk3": "3-joint arm of Gautier and Khalil 1992, completion of their base parameters",
        "panda": "Franka Emika Panda, 7 joints, published identified parameters",
        "scara": "SCARA, 4 joints (one prismatic), chosen figures",
        "planar2": "planar arm with 2 joints, chosen figures, for first steps",
    }
)


def built_in_text(name: str) -> str:
    """The DH file of the built-in robot `name`, a key of `BUILT_IN`."""
    return resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
