# SPDX-License-Identifier: GPL-2.0-only
"""Each inmate includes only its own files and public headers, and so does the library."""

import re
from pathlib import Path

import pytest

from lab.paths import TOP

INMATES = TOP / "inmates"
FOLDERS = sorted(f for f in INMATES.iterdir() if f.is_dir() and f.name != "tests")
QUOTED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# The library's public headers are included as <inmate/cpu.h>, those of the tree as <qv/cell.h>.


def foreign_includes(folder: Path) -> list[str]:
    """Returns the includes of files outside `folder`."""
    sources = (p for p in sorted(folder.rglob("*")) if p.suffix in (".c", ".h", ".S"))
    return [f"{source.relative_to(folder)}: {name}" for source in sources
            for name in QUOTED.findall(source.read_text())
            if not (source.parent / name).resolve().is_relative_to(folder.resolve())]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_no_inmate_includes_another(folder: Path) -> None:
    assert not foreign_includes(folder)


def test_foreign_include_is_found(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/a.c").write_text('#include "b.h"\n#include <inmate/cpu.h>\n')
    assert not foreign_includes(tmp_path / "own")
    (tmp_path / "own/a.c").write_text('#  include "../quest/sched.h"\n')
    assert foreign_includes(tmp_path / "own") == ["a.c: ../quest/sched.h"]
