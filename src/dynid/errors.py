"""What dynid says when it cannot go on.

Every error a caller may want to catch derives from `DynidError`. Messages name the place, what is
wrong there, and what would have been valid; `choices` writes that last part.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class DynidError(Exception):
    """Base of all errors raised on purpose."""


class RobotError(DynidError):
    """The description of a robot cannot be used."""


class ArgumentError(DynidError, ValueError):
    """An argument has the wrong shape, type or value."""


class MissingExtraError(DynidError, ImportError):
    """An optional package is needed; the message names the extra that installs it."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed: pip install 'dynid[{extra}]'"
        )


def quote(text: object, limit: int = 80) -> str:
    """Text from a file, made fit for one line of a message: escaped, quoted and shortened."""
    shown = ascii(str(text))
    return shown if len(shown) <= limit else f"{shown[: limit - 4]}...'"


def quote_path(path: object) -> str:
    """A path as the user gave it: escaped and quoted, but whole, since the file's name is its end."""
    return repr(str(path))


def choices(wrong: object, valid: Iterable[str]) -> str:
    """'unknown x; did you mean y? Valid: ...' for a name that is not one of `valid`."""
    names = list(valid)
    near = get_close_matches(str(wrong), names, n=1)
    hint = f" Did you mean {quote(near[0])}?" if near else ""
    listed = ", ".join(quote(name, 40) for name in names[:40])
    more = f" and {len(names) - 40} more" if len(names) > 40 else ""
    return f"{quote(wrong)} is unknown.{hint} Valid: {listed or '(none)'}{more}."
