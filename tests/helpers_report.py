"""A report of a robot whose names are all attacks, as an identification would write it."""

from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np

from dynid import identify, load_robot
from dynid.log.check import check
from dynid.log.log import Provenance
from dynid.report.from_estimate import report_data
from dynid.report.page import render
from dynid.tracking import Tracking
from helpers_signals import log_of, truth

HOSTILE = (
    "<img src=x onerror='hacked=1'>",
    '"></script><script>hacked=2</script>',
    "%{x}<b>$hacked</b>{{ 7*7 }}",
    "a\x00\x1b[31m\u202e&lt;svg onload=hacked=3&gt;",
)
NAME = "<script>hacked=4</script>"
TRAINING, UNSEEN = "logs/<i>training</i>.csv", 'logs/"unseen" & <b>new</b>.csv'


def hostile_robot():
    """The SCARA, with a slide among its joints, under names that want to run."""
    robot = load_robot("scara")
    joints = tuple(replace(joint, name=name) for joint, name in zip(robot.joints, HOSTILE, strict=True))
    links = tuple(replace(link, name=f"link {name}") for link, name in zip(robot.links, HOSTILE, strict=True))
    return replace(robot, name=NAME, joints=joints, links=links)


def recorded(robot, source, seed, seconds=10.0):
    motion = truth(robot, np.arange(0.0, seconds, 0.01), seed)
    return replace(log_of(robot, motion, seed), provenance=Provenance(source, "0" * 64))


@cache
def estimate():
    robot = hostile_robot()
    logs = recorded(robot, TRAINING, 1), recorded(robot, UNSEEN, 2)
    return identify(robot, logs[0], validate=logs[1], physical=True), logs


@cache
def data():
    found, (training, unseen) = estimate()
    health = check(found.robot, [training])
    return report_data(
        found,
        [training],
        [unseen],
        health,
        others={"irls": found, "<b>ols</b>": found},
        tracking={"identified": followed(unseen, 0.01), "<b>nominal</b>": followed(unseen, 0.2)},
        command="dynid identify '<u>robot</u>'",
    )


def followed(log, error):
    """The log's motion, and one that strays from it ever more."""
    grows = error * (log.time - log.time[0])[:, None]
    return Tracking(
        joint_names=log.joint_names, times=log.time, wanted=log.position, actual=log.position + grows
    )


@cache
def page():
    return render(data())


class Reader(HTMLParser):
    """What a browser would see of a page: elements with attributes, the text of scripts, tables."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.scripts, self.tables, self.text = [], [], [], []
        self._within = None

    @classmethod
    def of(cls, text):
        reader = cls()
        reader.feed(text)
        reader.close()
        return reader

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag == "script":
            self.scripts.append("")
            self._within = "script"
        elif tag == "style":
            self._within = "style"
        elif tag == "table":
            self.tables.append((attributes, []))
        elif tag == "tr" and self.tables:
            self.tables[-1][1].append([])
        elif tag in ("th", "td") and self.tables:
            self.tables[-1][1][-1].append("")
        elif tag == "data" and self.tables:
            self.tables[-1][1][-1][-1] = float(attributes["value"])

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._within = None

    def handle_data(self, data):
        if self._within == "script":
            self.scripts[-1] += data
        elif self._within is None:
            self.text.append(data)
            rows = self.tables[-1][1] if self.tables else None
            if rows and rows[-1] and isinstance(rows[-1][-1], str):
                rows[-1][-1] += data

    def table(self, **wanted):
        """Body rows of the table with these attributes; figures as numbers, the rest as text."""
        for attributes, rows in self.tables:
            if all(attributes.get(key.replace("_", "-")) == value for key, value in wanted.items()):
                return rows[1:]
        raise KeyError(wanted)
