"""`dynid validate`: how well an estimate predicts logs that it has not seen."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from dynid.commands.logs import read_together
from dynid.commands.output import print_json
from dynid.estimate_file import load_estimate
from dynid.fit.given import loaded
from dynid.fit.judge import POOR
from dynid.summary import score_table


def run(options: argparse.Namespace) -> int:
    estimate = load_estimate(options.estimate)
    logs = {path: loaded(read_together(options, [path], estimate.robot)) for path in options.logs}
    found = {path: estimate.validate(of_path) for path, of_path in logs.items()}
    poor = any(score.percent_moving > POOR for scores in found.values() for score in scores.values())
    if options.json:
        first = next(iter(found.values()))
        by_joint = {joint: asdict(score) for joint, score in first.items()}
        record = {path: {joint: asdict(s) for joint, s in scores.items()} for path, scores in found.items()}
        print_json(by_joint if len(found) == 1 else record)
    else:
        for path, scores in found.items():
            print("\n".join(score_table(path, scores)))
    return int(poor)
