"""dynid: the dynamic model of a robot arm, from its description and its logs.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dynid.base import BaseParameters, base_parameters
    from dynid.errors import ArgumentError, DynidError, MissingExtraError, RobotError
    from dynid.estimate import Estimate
    from dynid.estimate_file import load_estimate
    from dynid.excite.optimise import exciting_trajectory
    from dynid.fit.identify import identify
    from dynid.formats.load import load_robot
    from dynid.log.log import Log, LogError
    from dynid.log.read import read_log, stream_log
    from dynid.robot import Robot

_HOMES = {
    "ArgumentError": "dynid.errors",
    "BaseParameters": "dynid.base",
    "DynidError": "dynid.errors",
    "Estimate": "dynid.estimate",
    "Log": "dynid.log.log",
    "LogError": "dynid.log.log",
    "MissingExtraError": "dynid.errors",
    "Robot": "dynid.robot",
    "RobotError": "dynid.errors",
    "base_parameters": "dynid.base",
    "exciting_trajectory": "dynid.excite.optimise",
    "identify": "dynid.fit.identify",
    "load_estimate": "dynid.estimate_file",
    "load_robot": "dynid.formats.load",
    "read_log": "dynid.log.read",
    "stream_log": "dynid.log.read",
}

__all__ = [
    "ArgumentError",
    "BaseParameters",
    "DynidError",
    "Estimate",
    "Log",
    "LogError",
    "MissingExtraError",
    "Robot",
    "RobotError",
    "base_parameters",
    "exciting_trajectory",
    "identify",
    "load_estimate",
    "load_robot",
    "read_log",
    "stream_log",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dynid' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
