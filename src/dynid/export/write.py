"""An estimate in the format of another program: the text, checked, and what a user should know of it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from dynid.errors import ArgumentError, choices, quote_path
from dynid.estimate import Estimate
from dynid.export.dh_toml import write_dh_toml
from dynid.export.exported import Exported, refuse_impossible
from dynid.export.mjcf import write_mjcf
from dynid.export.pinocchio import write_pinocchio
from dynid.export.sdf import write_sdf
from dynid.export.sidecar import write_yaml
from dynid.export.source import checked_source
from dynid.export.table import write_csv, write_latex
from dynid.export.urdf import write_urdf
from dynid.export.urdf_patch import patch_urdf
from dynid.files import whole_file
from dynid.model import DynamicModel
from dynid.physical.completion import nearest_completion

Format = Literal["urdf", "mjcf", "sdf", "toml", "yaml", "pinocchio", "csv", "latex"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[str, Format] = {
    ".urdf": "urdf",
    ".xml": "mjcf",
    ".mjcf": "mjcf",
    ".sdf": "sdf",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".py": "pinocchio",
    ".csv": "csv",
    ".tex": "latex",
}
IDENTIFIED_URDF = "identified.urdf"  # as `dynid identify` calls it


def export(
    estimate: Estimate,
    format: Format,
    *,
    allow_impossible: bool = False,
    original: str | os.PathLike[str] | None = None,
    urdf: str = IDENTIFIED_URDF,
) -> Exported:
    """The estimate as a text in `format`, read back and compared.

    Formats that describe bodies take a physical set; `allow_impossible` exports any other as the completion
    of its base values that is nearest to the robot's file. `original` names the URDF to patch, which must be
    the one that was identified; `urdf` is what a Pinocchio snippet loads.
    """
    if format not in FORMATS:
        raise ArgumentError(f"format {choices(format, FORMATS)}")
    if original is not None and format != "urdf":
        raise ArgumentError("an original is patched by the format urdf only")
    if estimate.status == "failed":
        raise ArgumentError(
            f"the identification failed, so there is no model to export: {' '.join(estimate.advice)}"
        )
    if format == "csv":
        return write_csv(estimate)
    if format == "latex":
        return write_latex(estimate)
    model = _model(estimate, allow_impossible)
    found = _written(estimate, model, format, original, urdf)
    notes: list[str] = []
    if estimate.status != "trusted":
        notes.append(f"the estimate is {estimate.status}: {' '.join(estimate.advice)}")
    if estimate.terms.extra:
        notes.append(f"the extra columns {', '.join(estimate.terms.extra)} have no place in {format}")
    if format == "mjcf" and estimate.source is None and estimate.robot.source.lower().endswith(".xml"):
        notes.append("a new file of bodies, joints and drives, without shapes, sensors and actuators")
    return replace(found, notes=(*notes, *found.notes))


def save(exported: Exported, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write the text, whole or not at all."""
    with whole_file(path, force=force) as temporary:
        temporary.write_bytes(exported.text.encode("utf-8"))


def format_of(path: str | os.PathLike[str]) -> Format:
    """The format that a file's suffix stands for."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ArgumentError(
            f"{quote_path(path)}: --format is needed, one of {', '.join(FORMATS)}: the suffix does not tell"
        )
    return SUFFIXES[suffix]


def _model(estimate: Estimate, allow_impossible: bool) -> DynamicModel:
    if estimate.parameters is not None:
        refuse_impossible(estimate.model)
        return estimate.model
    if not allow_impossible:
        raise ArgumentError(
            f"{estimate.robot.name}: only base values were identified, not full bodies: --physical exports "
            "the nearest bodies that can exist, --allow-impossible ones with these very values that need not"
        )
    return nearest_completion(estimate)


def _written(
    estimate: Estimate,
    model: DynamicModel,
    format: Format,
    original: str | os.PathLike[str] | None,
    urdf: str,
) -> Exported:
    match format:
        case "urdf":
            source = checked_source(estimate.source, original)
            if source is not None and source.format == "urdf":
                return patch_urdf(model, source.text, "the robot's file")
            return write_urdf(model)
        case "mjcf":
            return write_mjcf(model)
        case "sdf":
            return write_sdf(model)
        case "toml":
            return write_dh_toml(model)
        case "yaml":
            return write_yaml(model)
        case _:
            return write_pinocchio(model, urdf)
