# SPDX-License-Identifier: GPL-2.0-only
"""qv: the modules of qvctl, and `qv.open` for channels."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = "0.3"

# Names of qvchannel. It is loaded at the first use, so qvctl does not wait for it.
CHANNEL_NAMES = frozenset(
    (
        "Absent",
        "Busy",
        "Channel",
        "Corrupt",
        "Empty",
        "Error",
        "Failed",
        "Full",
        "Lapped",
        "Layout",
        "Mismatch",
        "NotFound",
        "PeerGone",
        "Permission",
        "Restarted",
        "Size",
        "Status",
        "Stopped",
        "Timeout",
        "Usage",
        "create_file",
        "open",
        "open_file",
        "remove_file",
        "set_state",
        "start",
    )
)


def __dir__() -> list[str]:
    return sorted(CHANNEL_NAMES.union(name for name in globals() if name[:1] == "_"))


def __getattr__(name: str) -> Any:
    if name not in CHANNEL_NAMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    import qvchannel

    return getattr(qvchannel, name)
