"""Whether an estimate can be trusted, and what speaks for and against it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dynid.estimate import Estimate
from dynid.fit.judge import ILL, INSIGNIFICANT, OVERFITTED, POOR, listed
from dynid.log.check import Report as Health
from dynid.report.data import Compared, Mark, Reason, Verdict
from dynid.report.text import number, shown
from dynid.validation import Score


def verdict(estimate: Estimate, compared: Sequence[Compared], health: Health | None) -> Verdict:
    """The estimate's own verdict, and what speaks for and against it."""
    unseen = [one for one in compared if one.role == "validation"]
    return Verdict(
        status=estimate.status,
        advice=estimate.advice,
        reasons=(
            _validated(unseen),
            *_held_out(estimate),
            *_determined(estimate),
            _physical(estimate),
            *([] if health is None else [_healthy(health)]),
        ),
        figures=tuple(_first(estimate, unseen)),
    )


def _validated(unseen: Sequence[Compared]) -> Reason:
    if not unseen:
        return Reason(
            mark="open", text="No validation log was given: record another motion and pass it along."
        )
    worst = max(_percents(unseen), key=lambda entry: entry[0], default=(float("nan"), ""))
    good = all(score.percent_moving <= POOR for one in unseen for score in one.scores.values())
    return Reason(
        mark="good" if good else "bad",
        text=f"On {_logs(len(unseen))} that the fit has not seen, efforts are predicted with an error of "
        f"{number(_median(unseen), 3)} % (median joint); worst is {worst[1]} with {number(worst[0], 3)} %.",
    )


def _percents(compared: Sequence[Compared]) -> list[tuple[float, str]]:
    found = [(score.percent, joint) for one in compared for joint, score in one.scores.items()]
    return [(percent, shown(joint)) for percent, joint in found if np.isfinite(percent)]


def _median(compared: Sequence[Compared]) -> float:
    percents = [percent for percent, _ in _percents(compared)]
    return float(np.median(percents)) if percents else float("nan")


def _logs(count: int) -> str:
    return "a log" if count == 1 else f"{count} logs"


def _held_out(estimate: Estimate) -> Iterator[Reason]:
    """Parts of the training logs that were left out in turn."""
    pairs = [
        (held, estimate.train[joint].percent_moving)
        for joint, held in estimate.held_out.items()
        if joint in estimate.train and np.isfinite(held)
    ]
    if pairs:
        held, inside = np.median(pairs, axis=0)
        yield Reason(
            mark="good" if held <= max(OVERFITTED * inside, 20.0) else "caution",
            text=f"Held-out parts of the training logs are predicted with {number(float(held), 3)} %, "
            f"the logs themselves with {number(float(inside), 3)} % (median joint, while moving).",
        )


def _determined(estimate: Estimate) -> Iterator[Reason]:
    total = len(estimate.names)
    lost = [name for name, std in zip(estimate.names, estimate.std, strict=True) if not np.isfinite(std)]
    if lost:
        yield Reason(mark="bad", text=f"{len(lost)} of {total} values are not determined: {listed(lost)}.")
    else:
        beyond = int(np.count_nonzero(np.abs(estimate.values) >= INSIGNIFICANT * estimate.std))
        yield Reason(
            mark="good",
            text=f"All {total} values are determined; {beyond} differ from zero beyond doubt.",
        )
    well = estimate.scaled_condition <= ILL
    yield Reason(
        mark="good" if well else "caution",
        text=f"With columns of one length the condition is {number(estimate.scaled_condition, 3)}: "
        + ("the motion tells the parameters apart." if well else "small errors grow by as much."),
    )


def _physical(estimate: Estimate) -> Reason:
    if estimate.physical is None:
        text = "Nobody asked for a set of parameters that bodies can have (--physical)."
        return Reason(mark="open", text=text)
    if estimate.physical:
        return Reason(mark="good", text="Bodies with these masses and inertias can exist.")
    return Reason(mark="bad", text="No bodies have these masses and inertias.")


def _healthy(health: Health) -> Reason:
    counts = dict.fromkeys(("error", "warning", "hint"), 0)
    for finding in health.findings:
        counts[finding.severity] += 1
    said = (
        ", ".join(f"{n} {level}{'s' if n != 1 else ''}" for level, n in counts.items() if n) or "no findings"
    )
    marks: dict[str, Mark] = {"good": "good", "usable": "caution", "bad": "bad"}
    return Reason(mark=marks[health.verdict], text=f"The log doctor calls the logs {health.verdict}: {said}.")


def _first(estimate: Estimate, unseen: Sequence[Compared]) -> Iterator[tuple[str, str]]:
    if unseen:
        percents = _percents(unseen)
        yield "validation error, median joint", f"{number(_median(unseen), 3)} %"
        yield "validation error, worst joint", f"{number(max(percents)[0], 3)} %" if percents else "–"
    elif estimate.train:
        yield "training error, median joint", f"{number(_middle(estimate.train), 3)} %"
    yield "values", str(len(estimate.names))
    yield "condition (columns of one length)", number(estimate.scaled_condition, 3)
    yield "samples", str(estimate.samples)
    yield "physical", {True: "yes", False: "no", None: "not asked for"}[estimate.physical]


def _middle(train: Mapping[str, Score]) -> float:
    return float(np.median([score.percent for score in train.values()]))
