"""Robots of ours as Pinocchio's models, for a fair comparison of the same arm."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from dynid import Robot
from dynid.spatial import parameters_to_com


def pinocchio_model(robot: Robot) -> pin.Model:
    """The same tree, joint by joint; joints that turn about z get Pinocchio's special, faster kind."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    numbers = {-1: 0}
    for number, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        along_z = np.array_equal(joint.axis, (0, 0, 1))
        if joint.prismatic:
            kind = pin.JointModelPZ() if along_z else pin.JointModelPrismaticUnaligned(np.array(joint.axis))
        else:
            kind = pin.JointModelRZ() if along_z else pin.JointModelRevoluteUnaligned(np.array(joint.axis))
        placement = pin.SE3(np.array(joint.before.rotation), np.array(joint.before.translation))
        numbers[number] = model.addJoint(numbers[joint.parent], kind, placement, joint.name)
        mass, com, inertia = parameters_to_com(link.parameters)
        body = pin.Inertia(mass, com, inertia)
        model.appendBodyToJoint(numbers[number], body, pin.SE3.Identity())
    return model
