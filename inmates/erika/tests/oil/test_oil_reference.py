# SPDX-License-Identifier: GPL-2.0-only
"""Documentation/reference/oil.md has the tables of the compiler."""

from pathlib import Path

import pytest
from golden import golden
from oil.dialect import DIALECTS, schema
from oil.problems import Problems


@pytest.mark.parametrize("path, text", golden().items(), ids=lambda value: getattr(value, "name", ""))
def test_golden_file_is_current(path: Path, text: str) -> None:
    """`make -C inmates/erika golden` writes it."""
    assert path.read_text() == text


def test_own_files_have_no_problems() -> None:
    for dialect in DIALECTS:
        problems = Problems()
        assert schema(dialect, problems).kinds and not problems.found
