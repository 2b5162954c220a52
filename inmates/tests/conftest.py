# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of Quest's machine tests. Documentation/how-to/lab.md says how they are run."""
from collections.abc import Callable, Iterator

import pytest

from lab import bare as m

# makes a machine; returns it and the pattern of its shell's prompt
Way = Callable[[], tuple[m.Machine, str]]


@pytest.fixture(scope="session")
def built() -> None:
    """Builds Quest and the fake cell from the current sources."""
    m.build()


class Kept:
    """Machines that tests share. There is one for each function that makes machines."""

    def __init__(self) -> None:
        self._shells: dict[Way, m.Shell] = {}

    def shell(self, way: Way, kind: type[m.Shell] = m.Shell) -> m.Shell:
        """Returns the shell of the running machine, or of a new machine if a test has failed with
        the old one."""
        shell = self._shells.get(way)
        if shell and shell.machine.spoilt:
            self._stop(way)
        if way not in self._shells:
            machine, ready = way()
            try:
                self._shells[way] = kind(machine, ready)
            except BaseException:
                machine.__exit__()
                raise
        return self._shells[way]

    def _stop(self, way: Way) -> None:
        self._shells.pop(way).machine.__exit__()

    def stop(self) -> None:
        for way in list(self._shells):
            self._stop(way)


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    """Stops the machines after the tests of a file."""
    held = Kept()
    yield held
    held.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Marks the machines after a failed test, so that the next test gets a new one."""
    outcome = yield
    shell = getattr(item, "funcargs", {}).get("shell")
    if outcome.get_result().failed and isinstance(shell, m.Shell):  # type: ignore[attr-defined]
        shell.machine.spoilt = True


@pytest.hookimpl(tryfirst=True)  # run this hook before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Assigns tests that share a machine to one worker, so that the machine boots only once."""
    for item in items:
        if "shell" in getattr(item, "fixturenames", ()):
            where = getattr(item, "callspec", None) and item.callspec.params.get("shell")
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {where.__name__ if where else 'alone'}"))
