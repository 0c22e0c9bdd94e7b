"""Loads and gains of drives found again: simulated runs of an arm like a UR5e without and with 2.805 kg.

Encoders of 17 bits behind the gear, 2 % of noise on efforts in steps of 0.05 Nm, a clock that wanders by
0.2 ms, another motion and other noise each time; everything else is chosen by default from the logs.

Run it with:  python -m benchmarks.loads [runs]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.measure import Row
from dynid.gains import gains
from dynid.payload import payload

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the arm and its logs are those of the tests
from helpers_load import COM, INERTIA, MASS, quick_logs, ur_like

RUNS = 20
GAIN = np.array([14.9, 13.3, 11.1, 10.6, 11.0, 11.5])  # Nm/A
TRUTH = np.array([MASS, *COM, INERTIA[0, 0], INERTIA[1, 1], INERTIA[2, 2], 0.0, 0.0, 0.0])


def rows(runs: int = RUNS) -> list[Row]:
    arm = ur_like()
    mass, centre, covered = [], [], []
    errors, told = [], []
    for seed in range(runs):
        logs = quick_logs(arm, seed)
        load = payload(arm, *logs)
        interval = load.as_dict()["interval"]
        ends = np.vstack([interval["mass"], interval["com"], interval["inertia"]])
        mass.append(abs(load.mass / MASS - 1.0))
        centre.append(np.linalg.norm(load.com - COM))
        covered.append((ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH))
        found = gains(arm, *(replace(log, effort=log.effort / GAIN) for log in logs), MASS)
        errors.append(np.abs(found.values / GAIN - 1.0))
        told.append((found.interval[:, 0] <= GAIN) & (found.interval[:, 1] >= GAIN))
    worst = 100.0 * np.max(errors, axis=0)
    of_load, of_gains = 100.0 * np.mean(covered), 100.0 * np.mean(told)
    return [
        Row(f"mass of a load, worst of {runs} runs", f"{100 * max(mass):.2f} %", "< 2 %", max(mass) < 0.02),
        Row("... its centre", f"{1e3 * max(centre):.2f} mm", "< 5 mm", max(centre) < 0.005),
        Row("... 95 % intervals that contain the truth", f"{of_load:.1f} %", ">= 92 %", of_load >= 92.0),
        Row("... of the mass alone", f"{100.0 * np.mean([one[0] for one in covered]):.1f} %", ">= 92 %"),
        Row("gains of joints 1 to 5, worst", f"{worst[:5].max():.2f} %"),
        Row("... of joint 6, 14 mm beside which the load is", f"{worst[5]:.2f} %"),
        Row("... 95 % intervals that contain the truth", f"{of_gains:.1f} %"),
    ]


if __name__ == "__main__":
    for row in rows(*map(int, sys.argv[1:])):
        print(f"{row.what}: {row.figure} {row.goal}")
