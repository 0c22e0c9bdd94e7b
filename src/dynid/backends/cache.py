"""Compiled kernels on disk, so that the second run of a command need not compile again.

An entry is named by the hash of all that decides its machine code (the module's text, the host, LLVM's
version) and begins with the hash of the rest, so that a damaged file is noticed and ignored. Machine code is
only ever loaded from a folder that belongs to the user and that nobody else can write to.
`DYNID_CACHE` names another folder, or turns the cache off when it is empty.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def folder() -> Path | None:
    """The cache's folder, made if need be; None if there is none that can be trusted."""
    chosen = os.environ.get("DYNID_CACHE")
    if chosen == "":
        return None
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        path = Path(chosen) if chosen else Path(base) / "dynid" / "kernels"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError):
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & OTHERS_WRITE):
        return None
    return path


def _path(key: str) -> Path | None:
    where = folder()
    return where / f"{hashlib.sha256(key.encode()).hexdigest()}.o" if where else None


def load_object(key: str) -> bytes | None:
    """The object code stored under this key, if it is there and whole."""
    path = _path(key)
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, code = content[:32], content[32:]
    return code if hashlib.sha256(code).digest() == digest else None


def store_object(key: str, code: bytes) -> None:
    """Keep object code for the next run; a disk that is full or read-only is no reason to fail."""
    path = _path(key)
    if path is None:
        return
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            temporary = file.name
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(temporary, path)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
