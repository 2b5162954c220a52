# SPDX-License-Identifier: GPL-2.0-only
"""Machines for tests: see Documentation/how-to/lab.md. A pytest plugin; `qvlab test` loads it."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from product import Product

from . import cost
from .config import Config
from .errors import GuestTimeout, MachineDead
from .machine import Machine
from .record import CPU, Recorder, plain
from .thorough import rarely
from .workers import workers

FIELDS = {f.name for f in dataclasses.fields(Config)}


def wanted(node: pytest.Item) -> Config:
    """Returns the machine that the marks of a test request. Marks nearer to the test win."""
    settings: dict[str, object] = {}
    for mark in reversed(list(node.iter_markers("machine"))):
        settings.update(mark.kwargs)
    unknown = set(settings) - FIELDS - {"fresh"}
    if unknown:
        raise pytest.UsageError(f"{node.nodeid}: @pytest.mark.machine knows no {sorted(unknown)} "
                                f"(it knows {sorted(FIELDS | {'fresh'})})")
    settings.pop("fresh", None)
    for name in ("boot_args", "qemu_args"):
        settings[name] = tuple(settings.get(name, ()))  # type: ignore[arg-type]
    return Config(**settings)  # type: ignore[arg-type]


def fresh(node: pytest.Item) -> bool:
    """Returns whether the test needs a machine that no other test has used or will use."""
    return any(m.kwargs.get("fresh") for m in node.iter_markers("machine"))


class Machines:
    """The running machine, one at a time, and the kernels for which QV was built."""

    def __init__(self) -> None:
        self._machine: Machine | None = None
        self._built: set[str] = set()

    def get(self, config: Config, new: bool) -> Machine:
        machine = self._machine
        if machine and (new or machine.config != config or machine.spoilt or machine.dead or not self._answers(machine)):
            self.stop()
        if not self._machine:
            self._machine = self._boot(config)
            self._built.add(config.kernel)
        return self._machine

    def _boot(self, config: Config) -> Machine:
        # On a busy host a stock kernel may find that its emulated timer "doesn't work through the
        # IO-APIC" and panic. QV is not loaded then, so the boot is tried again.
        for _ in range(2):
            try:
                return Machine(config, compile=config.kernel not in self._built).__enter__()
            except MachineDead as error:
                print(f"boot failed, once more: {error}")
        return Machine(config, compile=config.kernel not in self._built).__enter__()

    @staticmethod
    def _answers(machine: Machine) -> bool:
        try:
            return machine.run("true", 20).rc == 0
        except Exception:  # after any error this machine is useless
            return False

    def stop(self) -> None:
        if self._machine:
            self._machine.close()
            self._machine = None


@pytest.fixture(scope="session")
def machines() -> Iterator[Machines]:
    """Keeps one machine running between tests."""
    held = Machines()
    yield held
    held.stop()


@pytest.fixture
def machine(request: pytest.FixtureRequest, machines: Machines) -> Iterator[Machine]:
    """A machine with the settings of @pytest.mark.machine(cpus=8, iommu="intel", ...), if marked.

    Tests with the same marks share one boot. After a test that failed or killed its machine, the
    next test gets a new machine.
    """
    m = machines.get(wanted(request.node), fresh(request.node))
    request.node.stash[MACHINE] = m
    yield m
    if fresh(request.node):
        machines.stop()


@pytest.fixture
def qv(machine: Machine, machines: Machines) -> Iterator[Product]:
    """QV in the machine. After the test, its cells are destroyed, QV is disabled and unloaded. All
    of that must succeed, and the kernel log must be clean."""
    product = Product(machine)
    product.begin()
    yield product
    try:
        product.end()
    except BaseException:
        machines.stop()  # destroy and disable, so that the next test is not affected
        raise


MACHINE = pytest.StashKey[Machine]()
BEGAN = pytest.StashKey[float]()  # CPU seconds of this worker when the test began


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[BEGAN] = cost.so_far()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    if call.when == "teardown":
        item.user_properties.append((CPU, round(cost.so_far() - item.stash.get(BEGAN, 0.0), 1)))
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    m = item.stash.get(MACHINE, None)
    if report.failed and m:
        m.spoilt = True
        report.sections.append((f"console ({m.console})", m.console_tail()))
        if call.excinfo and call.excinfo.errisinstance(GuestTimeout) and not m.dead:
            report.sections.append(("where the CPUs are", m.whereabouts()))


class Failures:
    """Prints the name of a failed test at once, since a run may be long."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal:  # xdist's workers have no terminal
            terminal.write_line(f"\nFAILED {plain(report.nodeid)} ({report.when})")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--machine", choices=["amd", "intel"],
                     help="only the tests on this kind of machine (default: all)")
    parser.addoption("--thorough", action="store_true",
                     help="every test and every attack on Intel's machine too, which is slow")
    parser.addoption("--soak", type=int, default=50, metavar="N", help="rounds of test_soak.py (50), of which N/5 with crashes")
    parser.addoption("--only", type=Path, metavar="FILE", help="only the tests that this file names, one per line")
    parser.addoption("--also", type=Path, metavar="FILE",
                     help="in addition the tests that this file names, which need --thorough otherwise")
    parser.addoption("--list-to", type=Path, metavar="FILE", help="write what there is to do, in order, as JSON")
    parser.addoption("--record", type=Path, metavar="FILE", help="append a line of JSON for each test that is done")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test with @pytest.mark.both_vendors once on AMD-V and once on VT-x."""
    if metafunc.definition.get_closest_marker("both_vendors"):
        metafunc.fixturenames.append("vendor")
        metafunc.parametrize("vendor", [pytest.param(name, id=name, marks=pytest.mark.machine(machine=name))
                                        for name in ("amd", "intel")])


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Failures(config))
    # xdist's workers have this attribute
    if config.getoption("--record") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config.getoption("--record")))
    config.addinivalue_line("markers", "both_vendors: the test is done on AMD-V and on VT-x")
    config.addinivalue_line("markers", "thorough: done with --thorough only")
    config.addinivalue_line("markers", "follows: needs what the test before it has left in the machine")
    config.addinivalue_line("markers", "machine(machine, cpus, memory, kernel, iommu, icount, cpu_flags, "
                            "boot_args, qemu_args, fresh): the machine a test runs in")


def names_in(path: Path | None) -> set[str]:
    return set(path.read_text(encoding="utf-8").splitlines()) if path else set()


def rare(item: pytest.Item) -> bool:
    """Whether the test needs --thorough."""
    return bool(item.get_closest_marker("thorough") or rarely(item.name, on_slow(item)))


@pytest.hookimpl(tryfirst=True)  # runs before the hook of xdist, which reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sorts the tests so that all tests of a machine are adjacent and on one worker. Each machine
    boots once."""
    only, thorough = config.getoption("--machine"), config.getoption("--thorough")
    named, also = names_in(config.getoption("--only")), names_in(config.getoption("--also"))

    def wants(item: pytest.Item) -> bool:
        if named and item.nodeid not in named:
            return False
        if rare(item) and not thorough and item.nodeid not in also:
            return False
        return not only or not _on_machine(item) or wanted(item).machine == only
    config.hook.pytest_deselected(items=[item for item in items if not wants(item)])
    items[:] = [item for item in items if wants(item)]
    # The sort is stable: the order within a file does not change
    items.sort(key=lambda item: (not on_slow(item), group(item)))
    many = workers() > FEW
    for item in items:
        if name := group(item, many):
            item.add_marker(pytest.mark.xdist_group(name))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Writes all tests in their order and the machine kind of each, for `make check-all`."""
    if path := session.config.getoption("--list-to"):
        path.write_text(json.dumps([{
            "name": plain(item.nodeid), "machine": wanted(item).machine.partition("-")[0] if _on_machine(item) else "",
            "boot": plain(item.nodeid) if _on_machine(item) and fresh(item) else group(item),
            "follows": bool(item.get_closest_marker("follows")), "rare": rare(item) or not item.path.name.startswith("test_"),
        } for item in session.items], indent=1) + "\n", encoding="utf-8")


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Returns the number of workers for `-n auto`."""
    return workers()


SLOW = "slow "  # prefix of the names of groups in Bochs


def on_slow(item: pytest.Item) -> bool:
    """Returns whether a test runs in Bochs."""
    return _on_machine(item) and wanted(item).machine == "intel"


FEW = 4  # number of workers; with more workers, the tests of a file are a group


def group(item: pytest.Item, many: bool = False) -> str:
    """Returns the name of a test's group, which one worker runs in a row. Empty: no group.

    The tests of one machine are a group. Those in Bochs are a group for each folder, and with many
    workers all tests are a group for each file: more boots, but no worker waits for another."""
    if not _on_machine(item):
        return ""
    config = repr(wanted(item))
    if many:
        config = f"{item.path.name} {config}"
    return f"{SLOW}{item.path.parent.name} {config}" if on_slow(item) else config


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Returns the scheduler that assigns groups to workers."""
    if config.getoption("dist") != "loadgroup":
        return None
    from .schedule import SlowFirst
    return SlowFirst(config, log)


def _on_machine(item: pytest.Item) -> bool:
    return "machine" in getattr(item, "fixturenames", ())
