# SPDX-License-Identifier: GPL-2.0-only
"""Paths in the tree."""

from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
TOP = LAB.parents[1]
CACHE = TOP / ".cache"
ROOTS = CACHE / "roots"
BUILD = TOP / "build"
