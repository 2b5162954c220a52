# SPDX-License-Identifier: GPL-2.0-only
"""Machines for tests: see Documentation/how-to/lab.md. A pytest plugin; `qvlab test` loads it."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from product import Product

from .config import Config
from .errors import MachineDead
from .machine import Machine
from .parts import part_of
from .record import CONSOLE, EMULATORS_FAULT, EVIDENCE, LINES, Recorder, plain
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
        if machine and not (machine.spoilt or machine.found):
            self._check(machine)
        if machine and (new or machine.config != config or machine.spoilt or
                        machine.found and (machine.dead or not self._answers(machine))):
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

    def _check(self, machine: Machine) -> None:
        """Fails the next test if the machine has died, or hangs, after a test that passed: else
        its evidence would be lost with it."""
        try:
            if machine.dead:
                raise MachineDead(machine.evidence(f"the machine died after the test before: {machine.dead}"))
            machine.run("true", 20)
        except Exception:  # the machine is useless, and the tests after the next one get another
            self.stop()
            raise

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
    new = fresh(request.node) or request.config.getoption("--alone")
    m = machines.get(wanted(request.node), new)
    request.node.stash[MACHINE] = m
    m.forget_evidence()
    yield m
    if new:
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
MOST = 40_000  # characters of the evidence that are printed


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    m = item.stash.get(MACHINE, None)
    if report.failed and m:
        m.spoilt = True
        report.user_properties.append((EMULATORS_FAULT, m.emulators_fault))
        report.sections.append((f"{CONSOLE} ({m.console})", m.console_tail(LINES)))
        if m.found:  # where only the output is kept, as in CI, the file is lost
            report.sections.append((EVIDENCE, m.found.read_text(encoding="utf-8")[:MOST]))


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
    parser.addoption("--slow", action="store_true", help="the tests marked slow, too")
    parser.addoption("--part", type=part_of, metavar="K/N", help="a part of the tests, by a hash of the name")
    parser.addoption("--alone", action="store_true", help="only the tests in machines, each in a machine of its own")
    parser.addoption("--soak", type=int, default=0, metavar="N", help="rounds of test_soak.py (50), of which N/5 with crashes; failures of test_service_soak.py (6)")
    parser.addoption("--only", type=Path, metavar="FILE", help="only the tests that this file names, one per line")
    parser.addoption("--names-to", type=Path, metavar="FILE", help="write the names of the tests")
    parser.addoption("--record", type=Path, metavar="FILE", help="append a line of JSON for each test that is done")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test with @pytest.mark.both_vendors once on AMD-V and once on VT-x. The latter is slow,
    unless the mark says always=True."""
    if mark := metafunc.definition.get_closest_marker("both_vendors"):
        intel = [pytest.mark.machine(machine="intel"), *([] if mark.kwargs.get("always") else [pytest.mark.slow])]
        metafunc.fixturenames.append("vendor")
        metafunc.parametrize("vendor", [pytest.param("amd", id="amd", marks=pytest.mark.machine(machine="amd")),
                                        pytest.param("intel", id="intel", marks=intel)])


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Failures(config))
    # xdist's workers have this attribute
    if config.getoption("--record") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config.getoption("--record")))
    config.addinivalue_line("markers", "both_vendors(always=False): done on AMD-V, and, as a slow test unless always, on VT-x")
    config.addinivalue_line("markers", "follows: needs what the test before it has left in the machine")
    config.addinivalue_line("markers", "machine(machine, cpus, memory, kernel, iommu, icount, shift, cpu_flags, "
                            "boot_args, qemu_args, fresh): the machine a test runs in")


def names_in(path: Path | None) -> set[str]:
    return set(path.read_text(encoding="utf-8").splitlines()) if path else set()


@pytest.hookimpl(tryfirst=True)  # runs before the hook of xdist, which reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sorts the tests so that all tests of a machine are adjacent and on one worker. Each machine
    boots once."""
    only, slow, part = config.getoption("--machine"), config.getoption("--slow"), config.getoption("--part")
    named = names_in(config.getoption("--only"))

    def wants(item: pytest.Item) -> bool:
        if named and item.nodeid not in named:
            return False
        if item.get_closest_marker("slow") and not slow and not named:
            return False
        if config.getoption("--alone") and not in_machine(item):
            return False
        return not only or not _on_machine(item) or wanted(item).machine == only
    chosen = [item for item in items if wants(item)]
    if part:
        mine = {item.nodeid for item in chosen if part.has(item.nodeid)}
        groups = {group(item) for item in chosen if item.nodeid in mine}
        # a test that follows others goes with them to each part
        chosen = [item for item in chosen if item.nodeid in mine
                  or item.get_closest_marker("follows") and group(item) in groups]
    keep = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in keep])
    # The sort is stable: the order within a file does not change
    items[:] = sorted(chosen, key=lambda item: (not on_slow(item), group(item)))
    many = workers() > FEW
    for item in items:
        if name := group(item, many):
            item.add_marker(pytest.mark.xdist_group(name))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Writes the names of the tests, sorted. With xdist, its first worker does that."""
    worker = getattr(session.config, "workerinput", {"workerid": "gw0"})["workerid"]
    path = session.config.getoption("--names-to")
    if path and session.items and worker == "gw0":
        path.write_text("".join(f"{name}\n" for name in sorted(plain(item.nodeid) for item in session.items)),
                        encoding="utf-8")


def pytest_report_teststatus(report: pytest.TestReport,
                             config: pytest.Config) -> tuple[str, str, str] | None:
    """Prints nothing for a test that passed where results are recorded: `make check` prints how far
    it is every half minute."""
    quiet = config.getoption("--record") and report.passed and report.when == "call"
    return ("passed", "", "") if quiet else None


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

    The tests of one machine are a group. With many workers the tests of a file on one machine are a
    group: more boots, but no worker waits for another."""
    if not _on_machine(item):
        return ""
    config = repr(wanted(item))
    if many:
        config = f"{item.path.name} {config}"
    return f"{SLOW}{config}" if on_slow(item) else config


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Returns the scheduler that assigns groups to workers."""
    if config.getoption("dist") != "loadgroup":
        return None
    from .schedule import SlowFirst
    return SlowFirst(config, log)


def in_machine(item: pytest.Item) -> bool:
    """Returns whether a test runs in an emulated machine: of the lab, or of Quest alone (bare.py)."""
    return _on_machine(item) or item.path.parents[1].name == "inmates"


def _on_machine(item: pytest.Item) -> bool:
    return "machine" in getattr(item, "fixturenames", ())
