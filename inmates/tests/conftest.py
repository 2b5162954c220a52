# SPDX-License-Identifier: GPL-2.0-only
"""What the machine tests of Quest share. Documentation/lab.md says how they are run."""
import pytest

import machine as m


@pytest.fixture(scope="session")
def built() -> None:
    """Quest and the fake cell are as the sources are."""
    m.build()


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a machine are one worker's: it boots once."""
    for item in items:
        if "shell" in getattr(item, "fixturenames", ()):
            where = getattr(item, "callspec", None) and item.callspec.params.get("shell")
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {where.__name__ if where else 'alone'}"))
