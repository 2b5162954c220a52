# SPDX-License-Identifier: GPL-2.0-only
"""Which of these tests are done on VT-x always, and which with --thorough only."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from lab.fixtures import on_slow

# Bochs needs half a minute and more for each of these, and what they look at is code of both vendors:
# on AMD's machines they are done always.
THOROUGH_ON_INTEL: tuple[str, ...] = ()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and on_slow(item) and \
                any(fnmatchcase(item.name, pattern) for pattern in THOROUGH_ON_INTEL):
            item.add_marker(pytest.mark.thorough)
