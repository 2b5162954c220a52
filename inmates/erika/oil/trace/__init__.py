# SPDX-License-Identifier: GPL-2.0-only
"""The reader of traces: records, the rules that they must keep, pictures."""

from __future__ import annotations

from .objects import Objects, WrongMap
from .read import Log, read
from .replay import Replay, replay

__all__ = ["Log", "Objects", "Replay", "WrongMap", "read", "replay"]
