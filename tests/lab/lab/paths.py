# SPDX-License-Identifier: GPL-2.0-only
"""Paths in the tree, and of the cache that all clones share."""

import os
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
TOP = LAB.parents[1]
BUILD = TOP / "build"


def cache(environment: "os._Environ[str] | dict[str, str]") -> Path:
    """Returns the folder that all clones share: for Debian trees, kernels, saved machines.

    QV_CACHE names it. Otherwise it is `qv` in the user's cache folder (XDG Base Directory
    Specification: XDG_CACHE_HOME if it is an absolute path, or ~/.cache)."""
    if named := environment.get("QV_CACHE", ""):
        return Path(named).resolve()
    home = Path(environment.get("XDG_CACHE_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".cache").resolve() / "qv"


CACHE = cache(os.environ)
ROOTS = CACHE / "roots"
SOURCES = CACHE / "sources"
