"""Where an export goes: written beside its target under another name and moved when whole, so that no half file has its name.

What a killed export leaves is beside its target too, and goes when the same target is written again: a lock that ends with its
process says whether somebody is still at it. An old folder that was moved aside for a new one comes back.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex

from graphmem.errors import ExportError, InvalidInput

if sys.platform != "win32":  # where there are no such locks, what is left stays
    import fcntl


@contextmanager
def file_target(path: Path, overwrite: bool) -> Iterator[Path]:
    """The path to write to; what is there after the block is moved to `path`, and nothing is left if the block fails.

    Raises `InvalidInput` if `path` exists and `overwrite` is not set, and `ExportError` if it cannot be written.
    """
    part = _part(path, overwrite)
    try:
        with _told(path), ExitStack() as held:
            part.touch(exist_ok=False)
            held.enter_context(_locked(part))
            yield part
            _move(part, path, overwrite)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def folder_target(path: Path, overwrite: bool) -> Iterator[Path]:
    """As `file_target`, for a folder: the block writes into the folder given; `overwrite` replaces the whole folder,
    which is moved aside first and is there again if that fails."""
    part = _part(path, overwrite)
    former = part.with_suffix(_FORMER)
    try:
        with _told(path), ExitStack() as held:
            part.mkdir()
            held.enter_context(_locked(part))
            yield part
            if overwrite and (path.exists() or path.is_symlink()):
                held.enter_context(_locked(path))
                path.rename(former)
            try:
                part.rename(path)
            except OSError:
                if former.exists() or former.is_symlink():
                    former.rename(path)
                raise
            _remove(former)
    finally:
        _remove(part)


_PART, _FORMER = ".part", ".former"


def _part(path: Path, overwrite: bool) -> Path:
    if "\0" in str(path):
        raise InvalidInput("path", str(path), "must be a path without a null character")
    mark = f".graphmem-{blake2b(os.fsencode(path.name), digest_size=8).hexdigest()}-"
    with _told(path):
        if not path.parent.is_dir():
            raise InvalidInput("path", str(path), f"its folder {str(path.parent)!r} does not exist; make it first")
        if path.name in ("", ".."):
            raise InvalidInput("path", str(path), "is the present folder or one around it; give a file or folder of its own")
        _clean(path, mark)
        taken = path.exists() or path.is_symlink()
    if taken and not overwrite:
        raise InvalidInput("path", str(path), "exists already; give another path, or overwrite=True to replace it")
    return path.with_name(f"{mark}{token_hex(8)}{_PART}")


def _clean(path: Path, mark: str) -> None:
    """Remove what a killed export to the same target left; the folder that it was about to replace comes back."""
    for left in sorted(path.parent.glob(f"{mark}*")):
        if not _is_dead(left):
            continue
        if left.suffix == _FORMER and not (path.exists() or path.is_symlink()):
            left.rename(path)
        elif left.suffix in (_PART, _FORMER):
            _remove(left)


def _is_dead(left: Path) -> bool:
    """Whether no process is at it any more."""
    if sys.platform == "win32":
        return False
    try:
        with _locked(left):
            return True
    except OSError:
        return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock on a file or folder, also where it is moved to, until the block or the process ends. Raises `OSError` if
    somebody else has it."""
    if sys.platform == "win32" or path.is_symlink():
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _remove(left: Path) -> None:
    if left.is_dir() and not left.is_symlink():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportError(f"{path}: cannot be written ({error.strerror or error}); nothing is left there") from error


def _move(part: Path, path: Path, overwrite: bool) -> None:
    if overwrite:
        part.replace(path)
        return
    try:
        path.hardlink_to(part)  # unlike a rename, it never replaces what somebody else put there meanwhile
    except FileExistsError:
        raise InvalidInput("path", str(path), "was made by somebody else meanwhile; give another path") from None
    except OSError:
        part.rename(path)  # a file system without links
