# SPDX-License-Identifier: GPL-2.0-only
"""The units of systemd: qv.service and qv-cell@NAME.service."""

import json
from collections.abc import Iterator

import pytest

from lab import images
from lab.machine import Machine
from product import Product
from test_watching import until

UNIT = "qv-cell@quest"
FILE = "/etc/qv/cells/quest.yaml"


@pytest.fixture
def unit(qv: Product) -> Iterator[Product]:
    qv.sh(f"mkdir -p /etc/qv/cells; cp {qv.config('quest', 3)} {FILE}; cp /etc/qv/qv.conf /run/qv.conf; systemctl daemon-reload")
    yield qv
    qv.sh(f"cp /run/qv.conf /etc/qv/qv.conf; qvctl cell disable --now quest; systemctl stop qv-cell@*; qvctl cell destroy quest; "
          f"systemctl stop qv.service; systemctl reset-failed; rm -f /etc/qv/cells/* /run/qv/*.cell", timeout=300)


def asked(qv: Product, what: str) -> str:
    return qv.sh(f"systemctl show -P {what} {UNIT}").strip()


def test_unit_keeps_a_cell_running(unit: Product) -> None:
    """A unit starts QV and the cell. It starts a cell that fails again, and takes a cell over whose
    process was killed. It ends both in order."""
    unit.sh("echo QV_POOL=100M >>/etc/qv/qv.conf")
    unit.sh(f"qvctl cell enable quest --now; test -L /etc/systemd/system/multi-user.target.wants/{UNIT}.service")
    assert asked(unit, "ActiveState") == "active"
    assert unit.show()["state"] == "running"
    assert unit.ask("pool")["lent"] == 66 << 20 and unit.ask("pool")["size"] == 100 << 20
    unit.quesh("count")
    until(lambda: "running: " in asked(unit, "StatusText"), "a status with heartbeats")

    assert "remedy: systemctl restart qv-cell@quest.service" in unit.refused("cell restart quest")
    assert "cell quest is ready" in unit.do("cell wait quest --state ready --timeout 30")

    process = asked(unit, "MainPID")
    unit.machine.run("quesh quest -c 'crash memory'")
    until(lambda: unit.show()["failures"] == 1 and unit.show()["state"] == "running", "it runs again")
    assert asked(unit, "MainPID") == process
    unit.sh("journalctl --update-catalog")
    until(lambda: "failed: it touched memory outside the cell; it starts again in 100 ms" in
          unit.sh(f"journalctl -x QV_CELL=quest -u {UNIT}"), "the journal")
    entry = json.loads(unit.sh(f"journalctl -o json -u {UNIT} QV_EVENT=failed"))
    assert (entry["QV_CELL"], entry["QV_FAILURE"], entry["QV_CPU"], entry["PRIORITY"]) == ("quest", "memory", "3", "3")
    assert entry["QV_RIP"] == unit.show()["last_failure"]["rip"]
    said = unit.sh(f"journalctl -x -u {UNIT}")
    assert "Subject: A cell failed and starts again" in said and "of the cell quest" in said
    until(lambda: "count" in unit.sh(f"journalctl -o cat -t qv-console -u {UNIT}").splitlines(), "lines of the console")

    unit.quesh("count")
    started = unit.show()["started_ns"]
    unit.sh(f"systemctl kill -s KILL {UNIT}")
    until(lambda: asked(unit, "MainPID") not in (process, "0"), "another process")
    until(lambda: asked(unit, "ActiveState") == "active", "the cell is taken over")
    assert unit.show()["started_ns"] == started
    unit.assert_counting()

    unit.sh("systemctl stop qv.service", timeout=300)
    assert asked(unit, "ActiveState") == "inactive"
    assert unit.ask("status")["enabled"] is False
    assert unit.ask("pool")["size"] == 0
    assert unit.online() == unit.all_online


def test_unit_gives_up_a_cell_that_fails_again_and_again(unit: Product) -> None:
    """It is left as it is, so that a person can look at it."""
    unit.sh(f"mkdir -p /run/systemd/system/{UNIT}.service.d; printf '[Service]\\nExecStart=\\nExecStart="
            f"/usr/sbin/qvctl cell run --restarts 0 {FILE}\\n' >/run/systemd/system/{UNIT}.service.d/few.conf; systemctl daemon-reload")
    unit.sh(f"systemctl start {UNIT}", timeout=300)
    unit.machine.run("quesh quest -c 'crash memory'")
    until(lambda: asked(unit, "ActiveState") == "failed", "the unit gives up")
    assert asked(unit, "ExecMainStatus") == "3"
    assert unit.show()["state"] == "failed"
    assert unit.show()["failure"]["reason"] == "memory"
    unit.sh(f"rm -r /run/systemd/system/{UNIT}.service.d; systemctl daemon-reload; systemctl restart {UNIT}")
    assert unit.show()["state"] == "running"


def test_unit_of_a_wrong_file_says_what_is_wrong(unit: Product) -> None:
    unit.sh(f"echo 'cpu: 3' >>{FILE}")
    assert unit.machine.run(f"systemctl start {UNIT}", timeout=300).rc == 1
    assert asked(unit, "ExecMainStatus") == "2" and asked(unit, "NRestarts") == "0"
    assert "cpu: is not a known key (perhaps `cpus`)" in unit.sh(f"journalctl -o cat -u {UNIT}")
    said = unit.sh("systemd-analyze verify --man=no qv.service qv-cell@quest.service 2>&1")
    assert "qv" not in said, said


KEXEC = """import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
words = b"console=ttyS0 panic=1 a-kernel-by-kexec\\0"
kernel, initrd = (os.open(path, os.O_RDONLY) for path in ("/run/vmlinuz", "/run/initrd"))
assert not libc.syscall(320, kernel, initrd, len(words), words, 0), os.strerror(ctypes.get_errno())
libc.syscall(169, 0xfee1dead, 672274793, 0x45584543, 0)
sys.exit(os.strerror(ctypes.get_errno()))
"""


@pytest.mark.thorough
@pytest.mark.machine(fresh=True)
@pytest.mark.parametrize("locked", [False, True])
def test_kexec_ends_cells_or_resets_machine(machine: Machine, locked: bool) -> None:
    """Linux executes another kernel without the monitor. It executes none while a cell has locked
    management."""
    qv = Product(machine)
    qv.do(f"cell create {qv.config('quest', 3, more='lock: true' if locked else '')} --start")
    machine.put(images.kernel("6.12").vmlinuz, "/run/vmlinuz")
    machine.put(images.kernel("6.12").initramfs("virtio"), "/run/initrd")
    machine.start(["python3", "-c", KEXEC])
    until(lambda: bool(machine.dead) or "a-kernel-by-kexec" in machine.console_text(), "another kernel, or a reset")
    said = machine.console_text()
    assert ("Linux has the machine to itself again" in said) is not locked
    assert ("a-kernel-by-kexec" in said) is not locked
    assert ("qv: no kexec under the monitor: the machine is reset" in said) is locked
    if locked:
        until(lambda: "it reset" in str(machine.dead), "the reset")
