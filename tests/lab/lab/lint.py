# SPDX-License-Identifier: GPL-2.0-only
"""`make lint`: style and types. `make check` prints it, but is never red for it alone."""

import os
import subprocess
import sys

from . import build, enter, roots
from .paths import TOP


def git(*words: str) -> str:
    """Runs git and returns its output, or nothing where git or the history is missing."""
    try:
        return subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True,
                              check=False).stdout.strip()
    except OSError:
        return ""


def base() -> str:
    """Returns the commit on which the change is based: QV_BASE, or else the commit where this branch
    left origin/main."""
    return os.environ.get("QV_BASE", "") or git("merge-base", "HEAD", "origin/main")


def english() -> str:
    """Returns which rules the added lines and the commits break."""
    since = base()
    if not since:
        return "not checked, since there is no origin/main: name a commit by QV_BASE=COMMIT\n"
    done = subprocess.run([sys.executable, str(TOP / "scripts/plain-english"), "--added", since],
                          capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def types() -> str:
    """Returns what mypy finds in the Python code. pyproject.toml names the folders, and the one of
    the module that make generates."""
    build.abi()
    done = enter.run(roots.ensure("types"), ["mypy"])
    return done.stdout if done.returncode else ""


def main() -> int:
    """Returns the exit status of `make lint`."""
    found = {"plain English": english(), "types of Python": types()}
    for name, text in found.items():
        print(f"lint: {name}: {'to mend' if text else 'fine'}\n{text}", end="" if text else "\n", flush=True)
    return 1 if any(found.values()) else 0
