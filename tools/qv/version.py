# SPDX-License-Identifier: GPL-2.0-only
"""The version of these modules, and the commit that they are built from."""

from __future__ import annotations

from . import VERSION


def commit() -> str:
    """Returns the commit; empty if it is not known, as in a tree that is not built."""
    try:
        from . import built
    except ImportError:
        return ""
    return str(built.COMMIT)


def shown(version: str, built_from: str) -> str:
    return f"{version} (commit {built_from})" if built_from else version


def own() -> str:
    return shown(VERSION, commit())
