"""The files of the demonstration."""

from __future__ import annotations

from dynid.export.write import Format

ESTIMATE, REPORT = "estimate.json", "report.html"
FORMATS: dict[str, Format] = {"identified.urdf": "urdf", "identified.xml": "mjcf", "identified.toml": "toml"}
FILES = (REPORT, ESTIMATE, *FORMATS)
MOTION, LOG = "motion-{}.csv", "log-{}.csv"  # two for training, then one for validation
LOGS = tuple(name.format(k) for name in (MOTION, LOG) for k in (1, 2, 3))
CODE, PREFIX = "c", "arm"  # a directory, and what begins the names in it
