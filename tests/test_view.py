"""`dynid view`: what is put into the scene is where Pinocchio has it; the command serves until Ctrl-C."""

import signal
import subprocess
import sys
import time

import numpy as np
import pinocchio as pin
import pytest

from dynid import load_robot
from dynid.commands.view import Scene
from dynid.trajectory import make_trajectory, write_trajectory
from helpers_robots import PinocchioTwin


class Recorder:
    """A scene that remembers what it is told."""

    def __init__(self):
        self.lines, self.handles = None, []

    def add_grid(self, name, **_):
        pass

    def add_line_segments(self, name, points, **_):
        self.lines = points

    def add_icosphere(self, name, radius, **_):
        self.handles.append(type("Handle", (), {"position": None, "radius": radius})())
        return self.handles[-1]


def test_lines_and_spheres_follow_the_pose():
    robot = load_robot("puma560")
    scene = Scene(drawn := Recorder(), robot, 0.05)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, robot.dof)
    scene.show(q)
    model = PinocchioTwin(robot).model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    origins = np.array([data.oMi[k + 1].translation for k in range(robot.dof)])
    assert np.allclose(drawn.lines[:, 1], origins, atol=1e-12)
    assert np.allclose(drawn.lines[1:, 0], origins[:-1], atol=1e-12)
    # the spheres of a link lie along the line to the next joint
    body = [k for _, k, _ in scene.balls]
    first = drawn.handles[body.index(1)].position
    along = origins[2] - origins[1]
    assert np.linalg.norm(np.cross(first - origins[1], along)) < 1e-12


@pytest.mark.parametrize("moving", [False, True])
def test_the_command_serves_until_it_is_interrupted(moving, tmp_path):
    pytest.importorskip("viser")
    command = [sys.executable, "-u", "-m", "dynid", "view", "--port", "18080", "planar2"]
    if moving:
        times, q = np.linspace(0.0, 0.2, 21), np.zeros((21, 2))
        write_trajectory(make_trajectory(("shoulder", "elbow"), times, q), tmp_path / "t.csv")
        command.append(str(tmp_path / "t.csv"))
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    line = process.stderr.readline()
    assert "http://127.0.0.1:" in line
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
