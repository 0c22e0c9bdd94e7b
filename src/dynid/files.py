"""Output files: whole or not at all, and never in the place of another without being told so."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from dynid.errors import ArgumentError, quote_path


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool = False) -> Generator[Path]:
    """A path to write to; it becomes `path` when the block ends well, and vanishes when it does not."""
    target = Path(path)
    refuse_existing(target, force)
    try:
        handle, name = tempfile.mkstemp(prefix=".dynid-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
    except OSError as problem:
        raise _not_written(target, problem) from problem
    try:
        yield Path(name)
        refuse_existing(target, force)  # another program may have been faster
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as problem:
        raise _not_written(target, problem) from problem
    finally:
        Path(name).unlink(missing_ok=True)


def directory_for(name: str | os.PathLike[str], files: Iterable[str], *, force: bool = False) -> Path:
    """The directory `name`, made if it is not there; refused if it has one of these files already."""
    directory = Path(name)
    if directory.exists() and not directory.is_dir():
        raise ArgumentError(f"{quote_path(name)} is a file; a directory is needed for the results")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ArgumentError(f"{quote_path(name)} cannot be made: {problem.strerror or problem}") from problem
    for file in files:
        refuse_existing(directory / file, force)
    return directory


def refuse_existing(target: Path, force: bool) -> None:
    """Raise if there is something at `target` that must not be overwritten."""
    if not target.parent.is_dir():
        raise ArgumentError(
            f"{quote_path(target)} cannot be written: there is no directory {quote_path(target.parent)}"
        )
    if target.is_dir():
        raise ArgumentError(f"{quote_path(target)} is a directory; the name of a file is needed")
    if target.exists() and not force:
        raise ArgumentError(f"{quote_path(target)} exists; --force (force=True) overwrites it")


def _not_written(target: Path, problem: OSError) -> ArgumentError:
    return ArgumentError(f"{quote_path(target)} cannot be written: {problem.strerror or problem}")


def _umask() -> int:
    """The permissions new files lack; the only way to read them is to set them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
