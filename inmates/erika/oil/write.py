# SPDX-License-Identifier: GPL-2.0-only
"""Writes generated files so that a reader never sees half of one."""

from __future__ import annotations

import os
from pathlib import Path


def write(path: Path, text: str) -> bool:
    """Writes a file, unless it has this text already. Returns whether it was written."""
    try:
        if path.read_text() == text:
            return False
    except (OSError, ValueError):
        pass
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text(text)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return True
