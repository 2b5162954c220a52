# SPDX-License-Identifier: GPL-2.0-only
"""The units of systemd: qv.service and qv-cell@NAME.service."""

from collections.abc import Iterator

import pytest

from product import Product
from test_watching import until

UNIT = "qv-cell@quest"
FILE = "/etc/qv/cells/quest.yaml"


@pytest.fixture
def unit(qv: Product) -> Iterator[Product]:
    qv.sh(f"mkdir -p /etc/qv/cells; cp {qv.config('quest', 3)} {FILE}; cp /etc/qv/qv.conf /run/qv.conf; systemctl daemon-reload")
    yield qv
    qv.sh(f"cp /run/qv.conf /etc/qv/qv.conf; systemctl disable --now {UNIT}; qvctl cell destroy quest; systemctl stop qv.service; systemctl reset-failed; rm -f {FILE} /run/qv/*.cell")


def asked(qv: Product, what: str) -> str:
    return qv.sh(f"systemctl show -P {what} {UNIT}").strip()


def test_unit_keeps_a_cell_running(unit: Product) -> None:
    """A unit starts QV and the cell. It starts a cell that fails again, and takes a cell over whose
    process was killed. It ends both in order."""
    unit.sh(f"systemctl enable --now {UNIT}; test -L /etc/systemd/system/multi-user.target.wants/{UNIT}.service")
    assert asked(unit, "ActiveState") == "active"
    unit.sh("echo QV_POOL=100M >>/etc/qv/qv.conf")
    assert unit.show()["state"] == "running"
    unit.quesh("count")
    until(lambda: "running: " in asked(unit, "StatusText"), "a status with heartbeats")
    assert unit.ask("pool")["lent"] == 66 << 20 and unit.ask("pool")["size"] == 100 << 20

    process = asked(unit, "MainPID")
    unit.machine.run("quesh quest -c 'crash memory'")
    until(lambda: unit.show()["failures"] == 1 and unit.show()["state"] == "running", "it runs again")
    assert asked(unit, "MainPID") == process
    until(lambda: "failed: it touched memory outside the cell; it starts again in 100 ms" in
          unit.sh(f"journalctl -o cat QV_CELL=quest -u {UNIT}"), "the journal")

    unit.quesh("count")
    started = unit.show()["started_ns"]
    unit.sh(f"systemctl kill -s KILL {UNIT}")
    until(lambda: asked(unit, "MainPID") not in (process, "0"), "another process")
    until(lambda: asked(unit, "ActiveState") == "active", "the cell is taken over")
    assert unit.show()["started_ns"] == started
    unit.assert_counting()

    unit.sh("systemctl stop qv.service")
    assert asked(unit, "ActiveState") == "inactive"
    assert unit.ask("status")["enabled"] is False
    assert unit.online() == unit.all_online


def test_unit_gives_up_a_cell_that_fails_again_and_again(unit: Product) -> None:
    """It is left as it is, so that a person can look at it."""
    unit.sh(f"mkdir -p /run/systemd/system/{UNIT}.service.d; printf '[Service]\\nExecStart=\\nExecStart="
            f"/usr/sbin/qvctl cell run --restarts 0 {FILE}\\n' >/run/systemd/system/{UNIT}.service.d/few.conf; systemctl daemon-reload")
    unit.sh(f"systemctl start {UNIT}")
    unit.machine.run("quesh quest -c 'crash memory'")
    assert unit.ask("pool")["size"] == 0
    until(lambda: asked(unit, "ActiveState") == "failed", "the unit gives up")
    assert asked(unit, "ExecMainStatus") == "3"
    assert unit.show()["state"] == "failed"
    assert unit.show()["failure"]["reason"] == "memory"
    unit.sh(f"rm -r /run/systemd/system/{UNIT}.service.d; systemctl daemon-reload; systemctl restart {UNIT}")
    assert unit.show()["state"] == "running"


def test_unit_of_a_wrong_file_says_what_is_wrong(unit: Product) -> None:
    unit.sh(f"echo 'cpu: 3' >>{FILE}")
    assert unit.machine.run(f"systemctl start {UNIT}").rc == 1
    assert asked(unit, "ExecMainStatus") == "2" and asked(unit, "NRestarts") == "0"
    assert "cpu: is not a known key (perhaps `cpus`)" in unit.sh(f"journalctl -o cat -u {UNIT}")
    said = unit.sh("systemd-analyze verify --man=no qv.service qv-cell@quest.service 2>&1")
    assert "qv" not in said, said
