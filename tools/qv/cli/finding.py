# SPDX-License-Identifier: GPL-2.0-only
"""A finding of the doctor."""

from __future__ import annotations

from ..record import dataclass

OK, WARN, FAIL = "ok", "warn", "FAIL"


@dataclass(frozen=True)
class Finding:
    """One line of the doctor: a finding and its remedy."""

    check: str
    status: str
    what: str
    remedy: str = ""
