"""`dynid view`: a robot, or its motion along a trajectory, in the browser, by viser."""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from typing import Any

import numpy as np

from dynid.commands.output import remark
from dynid.errors import MissingExtraError
from dynid.excite.space import spheres_of
from dynid.formats.load import load_robot
from dynid.mechanism import mechanism
from dynid.report.arm import poses, usual_posture
from dynid.robot import Robot
from dynid.spatial import Array, Frame
from dynid.trajectory import Trajectory, read_trajectory

FRAMES_PER_SECOND = 30.0
LINE, BALL = (10, 92, 173), (118, 131, 143)


def run(options: argparse.Namespace) -> int:
    try:
        viser: Any = import_module("viser")
    except ImportError:
        raise MissingExtraError("dynid view", "viser", "view") from None
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    trajectory = None if options.trajectory is None else read_trajectory(options.trajectory, robot)
    server = viser.ViserServer(host=options.host, port=options.port, verbose=False)
    scene = Scene(server.scene, robot, options.link_radius)
    scene.show(usual_posture(robot) if trajectory is None else trajectory.q[0])
    remark(f"http://{options.host}:{server.get_port()}  (Ctrl-C ends it)", options.quiet)
    try:
        if trajectory is None:
            server.sleep_forever()
        else:
            play(server, scene, trajectory)
    except KeyboardInterrupt:
        server.stop()
    return 0


def play(server: Any, scene: Scene, trajectory: Trajectory) -> None:
    """The motion over and over, with a slider to look at single instants."""
    first, last = float(trajectory.times[0]), float(trajectory.times[-1])
    slider = server.gui.add_slider("time, s", first, last, 0.01, first)
    playing = server.gui.add_checkbox("play", True)
    while True:
        time.sleep(1.0 / FRAMES_PER_SECOND)
        if playing.value:
            slider.value = first + (slider.value - first + 1.0 / FRAMES_PER_SECOND) % (last - first)
        scene.show(trajectory.at(slider.value)[0])


class Scene:
    """The robot as lines from joint to joint, and the spheres that collisions are judged by."""

    def __init__(self, scene: Any, robot: Robot, radius: float) -> None:
        self.scene, self.robot = scene, robot
        scene.add_grid("/floor", width=4.0, height=4.0)
        links = mechanism(robot).bodies
        self.balls: list[tuple[Any, int, Array]] = []
        for k, sphere in enumerate(spheres_of(robot, radius)):
            handle = scene.add_icosphere(f"/spheres/{k}", radius=sphere.radius, color=BALL, opacity=0.25)
            frame = links[sphere.body].link.inverse() if sphere.body >= 0 else Frame()
            self.balls.append((handle, sphere.body, frame.apply(sphere.centre)))

    def show(self, q: Array) -> None:
        """Draw the robot in a pose (n,)."""
        placed = poses(self.robot, q)
        joints = [seat.translation for seat, _ in placed]
        parents = [joints[joint.parent] if joint.parent >= 0 else np.zeros(3) for joint in self.robot.joints]
        points = np.stack([np.array(parents), np.array(joints)], axis=1)
        self.scene.add_line_segments("/links", points=points, colors=LINE, line_width=6.0)
        for handle, body, centre in self.balls:
            handle.position = placed[body][1].apply(centre) if body >= 0 else centre
