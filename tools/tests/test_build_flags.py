# SPDX-License-Identifier: GPL-2.0-only
"""make with the flags of an engineer's shell or of a distribution's build."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
OWN = "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"


@pytest.mark.parametrize(("folder", "made"), [("tools", "tools/quesh/buf.o"), ("lib", "lib/libqv.so.1")])
@pytest.mark.parametrize("flags", [
    {}, {"CFLAGS": "-g -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=3"},
], ids=["own", "given"])
def test_build_keeps_the_environment_s_hardening(tmp_path: Path, folder: str, made: str,
                                                 flags: dict[str, str]) -> None:
    clean = {name: value for name, value in os.environ.items()
             if name not in ("CFLAGS", "CPPFLAGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "-C", TOP / folder, f"O={tmp_path}", "V=1", tmp_path / made],
                          env=clean | flags, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (OWN in done.stdout) == ("FORTIFY" not in str(flags))
