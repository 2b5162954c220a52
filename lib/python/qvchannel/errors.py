# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""An exception for each result of libqv."""

from ._libqv import ffi, lib  # type: ignore[import-not-found]


class Error(Exception):
    """A call could not be carried out. The text has the reason and a remedy."""


class Empty(Error):
    """There is no newer item."""


class Full(Error):
    """There is no free slot, or it is the peer's turn."""


class Corrupt(Error):
    """The peer wrote something that cannot be."""


class Restarted(Error):
    """The peer has a new life. Items that it had not delivered are gone."""


class PeerGone(Error):
    """The peer is stopped, failed, or absent."""


class Stopped(PeerGone):
    """The peer is stopped."""


class Failed(PeerGone):
    """The peer failed."""


class Absent(PeerGone):
    """The peer does not exist, or has not attached yet."""


class Lapped(Error):
    """Items are overwritten faster than they can be read."""


class Size(Error, ValueError):
    """The data does not have the size of an item."""


class Usage(Error, ValueError):
    """This end of the channel has no such call, or not now."""


class Layout(Error):
    """The channel has an unknown format."""


class Timeout(Error, TimeoutError):
    """The time-out passed."""


class NotFound(Error, FileNotFoundError):
    """There is no such channel."""


class Busy(Error):
    """Another program uses this end."""


class Permission(Error, PermissionError):
    """This user may not open the channel."""


class Mismatch(Error, ValueError):
    """The channel has another type, item or schema than the program expects."""


TIMEOUT, INTERRUPTED = -100, -101      # QV_LIB_TIMEOUT, QV_LIB_INTERRUPTED
RESULTS: dict[int, type[Error]] = {
    -1: Empty, -2: Full, -3: Corrupt, -4: Restarted, -5: Stopped, -6: Failed, -7: Absent,
    -8: Lapped, -9: Size, -10: Usage, -11: Layout, -12: Layout,
    TIMEOUT: Timeout, -103: NotFound, -104: Busy, -105: Permission, -106: Mismatch,
}


def checked(result: int) -> None:
    """Raises the exception of a result below 0."""
    if result < 0:
        sentence = ffi.string(lib.qv_strerror(result)).decode()
        detail = ffi.string(lib.qv_detail()).decode(errors="replace")
        # a detail with a remedy of its own, behind `; `, needs no general one
        whole = sentence in detail or "; " in detail
        raise RESULTS.get(result, Error)(detail if whole else f"{detail}: {sentence}")


def timed_out(name: str, seconds: float) -> Timeout:
    """A time-out of a call that took several waits: libqv knows the last of them only."""
    sentence = ffi.string(lib.qv_strerror(TIMEOUT)).decode()
    return Timeout(f"{name}: no success in {seconds * 1000:.0f} ms: {sentence}")
