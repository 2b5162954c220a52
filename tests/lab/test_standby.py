# SPDX-License-Identifier: GPL-2.0-only
"""A cell on standby begins again by itself after failures, also while Linux is dead."""

import re
import socket
import urllib.request

import pytest

from devices import given
from lab.machine import Machine
from product import HERE, TEST_IMAGE, Product, on_machines
from test_cell_net import CELL, CELL_IP
from test_iommu import QEMU, dma
from test_watching import until

COMM = 0x2000  # offset of the comm page in the console's pages
HEARTBEAT, ENTERED = COMM, COMM + 120

# An argument of Quest's shell command `crash`, and the reason
CRASHES = (("memory", "memory"), ("fault", "panic"))


@on_machines("xapic", slow=["intel"])
def test_failed_cell_begins_again_by_itself(qv: Product, name: str) -> None:
    """Each kind of failure is recorded, the cell's shell answers again, and the limit holds."""
    file = qv.config("quest", 3, TEST_IMAGE, f"standby: {len(CRASHES)}/60m")
    qv.do(f"cell create {file} --start")
    started = qv.show()
    for number, (crash, reason) in enumerate(CRASHES, 1):
        qv.machine.run(["quesh", "quest", "-t", "20", "-c", f"crash {crash}"])
        until(lambda: qv.show()["failures"] == number, f"failure {number}")
        shown = qv.show()
        assert (shown["state"], shown["standby"]["restarts"], shown["failure"]) == ("running", number, None), shown
        assert shown["last_failure"]["reason"] == reason
        assert shown["started_ns"] == started["started_ns"]
        assert 0 < shown["standby"]["restart_ns"]
        assert qv.quesh("echo back") == "back\n"
    log = qv.do("log")
    assert re.search(r"failed, and runs again after \d+ us: the inmate panicked: exception #PF ", log), log
    qv.machine.run(["quesh", "quest", "-t", "20", "-c", "crash fault"])
    until(lambda: qv.show()["state"] == "failed", "the last failure")
    shown = qv.show()
    assert (shown["failure"]["reason"], shown["failures"]) == ("panic", len(CRASHES) + 1)
    qv.do("cell start quest")
    assert (qv.quesh("echo back"), qv.show()["standby"]["restarts"]) == ("back\n", 0)
    qv.do("cell destroy quest")


# The component ends 1 s after each start, and the cell with it
VITAL = """standby: 16/60s
recovery: |
  vital  1ms/40ms  cell : faulty crash 1000
"""


@pytest.mark.slow
@pytest.mark.machine(reboots=True, fresh=True)
def test_cell_begins_again_after_linux_has_died(machine: Machine) -> None:
    """Linux's kernel panics, and its CPUs loop. QEMU reads the words of the cell out of the memory."""
    qv = Product(machine)
    machine.put(HERE / "inside/physical", "/run/physical")
    qv.do("enable")
    file = qv.config("quest", 3, TEST_IMAGE)
    qv.sh(f"cat >>{file} <<'END'\n{VITAL}END")
    qv.do(f"cell create {file} --start")

    def word(offset: int) -> int:
        place = int(places[offset], 16)
        said = machine.qmp("human-monitor-command", **{"command-line": f"xp /1gx {place:#x}"})
        return int(said.split(":")[1], 16)

    places = {offset: qv.sh(f"/run/physical /dev/qv-cell/quest/console {offset:#x}") for offset in (HEARTBEAT, ENTERED)}
    until(lambda: qv.show()["standby"]["restarts"] >= 2, "two restarts while Linux lives")
    machine.start("echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger")
    until(lambda: "end Kernel panic" in machine.console_text(), "the panic")
    for _ in range(3):
        before = word(ENTERED)
        until(lambda: word(ENTERED) > before, "a restart after Linux's death")
        first = word(HEARTBEAT)
        until(lambda: word(HEARTBEAT) != first, "its heartbeat")


@pytest.mark.slow
@pytest.mark.machine(icount=True)
def test_restart_takes_milliseconds(qv: Product) -> None:
    """One instruction takes 1 ns of virtual time. The cell has 64 MiB, which are copied or cleared."""
    file = qv.config("quest", 3, TEST_IMAGE, "standby: 9/60m")
    qv.do(f"cell create {file} --start")
    found = []
    for number, crash in enumerate(("memory", "fault", "triple"), 1):
        qv.machine.run(["quesh", "quest", "-t", "20", "-c", f"crash {crash}"])
        until(lambda: qv.show()["failures"] == number, f"failure {number}")
        found.append(qv.show()["standby"]["restart_ns"])
    print(f"{found} ns until the image began again")
    assert max(found) < 10_000_000


# As above, but each life serves pages for 4 s before the component ends
SERVER = """standby: 16/120s
recovery: |
  httpd  20ms/100ms  restart=8/60s : httpd
  vital  1ms/100ms   cell          : faulty crash 4000
"""


@pytest.mark.slow
@pytest.mark.machine(iommu="amd", qemu_args=QEMU, boot_args=("iommu=pt",), reboots=True, fresh=True)
def test_web_server_of_a_cell_is_back_after_linux_has_died(machine: Machine) -> None:
    """The cell has a network function, and the host is the client: QEMU forwards a port to the cell."""
    qv = Product(machine)
    qv.do("enable --strict --iommu")
    path = given(qv, dma(CELL, "protected"), more="admission: exact\\n")
    qv.sh(f"sed -i 's,^cmdline:.*,cmdline: net={CELL_IP}/24,' {path}; cat >>{path} <<'END'\n{SERVER}END")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    machine.qmp("human-monitor-command", **{"command-line": f"hostfwd_add host tcp:127.0.0.1:{port}-{CELL_IP}:80"})
    qv.do(f"cell create {path} --start")

    def served() -> int:
        """Returns how many requests this life of the server has had, or 0 if it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
                found = re.search(r"Quest, cell quest.*; (\d+) requests", page.read().decode(), re.DOTALL)
        except OSError:
            return 0
        return int(found[1]) if found else 0

    until(served, "the server")
    machine.start("echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger")
    until(lambda: "end Kernel panic" in machine.console_text(), "the panic")
    lives = 0
    for _ in range(3):
        until(lambda: served() == 1, "the first page of a life", 120)
        until(lambda: served() > 1, "the next page", 120)
        lives += 1
    print(f"{lives} lives of the server after Linux's death")
