# SPDX-License-Identifier: GPL-2.0-only
"""Why a command cannot read the console of a cell."""

from __future__ import annotations

from ..errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..system import System


def unreadable(system: System, name: str, otherwise: Refused) -> Refused:
    """Returns `otherwise`, unless the cell has a console and this user may not open it."""
    if system.console_denied(name):
        return Refused(
            f"you may not open the console of {name}",
            "run it with sudo, or join the group qv-console",
        )
    return otherwise
