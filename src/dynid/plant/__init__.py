"""An independent plant: the robot in MuJoCo, its drives, a controller, and the faults of sensors.

The rigid bodies are MuJoCo's affair from their frames to their inertia matrix and bias efforts; none of
dynid's own equations of motion is used. What is ours is what a rigid body simulator does not have: gear boxes
that couple joints, motor inertia behind them, friction by a known formula, and an integrator that bears it.
"""

from dynid.plant.simulation import Run, Setup, Truth, run, simulate

__all__ = ["Run", "Setup", "Truth", "run", "simulate"]
