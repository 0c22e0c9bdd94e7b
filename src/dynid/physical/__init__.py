"""From base parameters to bodies that can exist."""

from __future__ import annotations

from dynid.physical.bounds import Bounds, Box, Ellipsoid, LinkBounds
from dynid.physical.collision import collision_bounds
from dynid.physical.fit import PhysicalFit, physical_fit
from dynid.physical.weight import WeightChoice, choose_prior_weight

__all__ = [
    "Bounds",
    "Box",
    "Ellipsoid",
    "LinkBounds",
    "PhysicalFit",
    "WeightChoice",
    "choose_prior_weight",
    "collision_bounds",
    "physical_fit",
]
