# SPDX-License-Identifier: GPL-2.0-only
"""For programs that run in the source tree: adds what make generates to the package qv.

These are qv.abi and qv.built, in the build folder $O. `make install` puts them next to the other
modules."""

import os
from pathlib import Path

import qv

BUILD = os.environ.get("O") or str(Path(__file__).resolve().parents[1] / "build")
qv.__path__.append(f"{BUILD}/tools/qv")
