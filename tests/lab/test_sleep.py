# SPDX-License-Identifier: GPL-2.0-only
"""Sleep of a machine with D-Bus, so with logind. test_systemd.py has the machine without."""

import pytest

from lab import packages, roots
from product import Product
from test_systemd import UNIT, unit  # noqa: F401  (a fixture)
from test_watching import until

WHY = ("sleep would power off the CPUs of the monitor and of the cells; "
       "systemctl stop qv.service ends them")


@pytest.mark.slow
@pytest.mark.machine(fresh=True)
def test_logind_refuses_sleep_with_a_sentence(unit: Product) -> None:  # noqa: F811
    """The lock is there while QV is enabled, with and without cells, and no longer. If its process
    is killed, it comes again."""
    debs = roots.ensure(f"kernel-{packages.TARGET}") / "srv/debs"
    for deb in sorted(debs.glob("*dbus*.deb")):
        unit.machine.put(deb, f"/run/dbus-debs/{deb.name}")
    unit.sh("dpkg -i /run/dbus-debs/*.deb && systemctl daemon-reload && "
            "systemctl start dbus.socket && systemctl restart systemd-logind", timeout=300)

    def locks() -> str:
        return unit.sh("systemd-inhibit --list --no-legend")
    assert "QV" not in locks()
    unit.sh(f"systemctl start {UNIT}", timeout=300)
    unit.quesh("count")
    until(lambda: WHY in locks(), "the lock")
    (line,) = [line for line in locks().splitlines() if WHY in line]
    assert line.split()[0] == "QV" and line.split()[-1] == "block" and " sleep " in line
    for kind in ("suspend", "hibernate", "hybrid-sleep"):
        # systemctl looks at locks itself on a terminal, or if told to. Else logind refuses, without
        # the reason
        terminal = unit.machine.start(f"systemctl {kind}", tty=(30, 250))
        unit.machine.finish(terminal, 60)
        asks = unit.machine.run(f"systemctl {kind} --check-inhibitors=yes", 60)
        for rc, said in ((terminal.rc, terminal.output.decode()), (asks.rc, asks.out)):
            assert rc and 'inhibited by "QV"' in said and WHY in said, (kind, rc, said)
        assert unit.machine.run(f"systemctl {kind}", 60).rc, kind
    unit.assert_counting()

    def process() -> str:
        return unit.sh("systemctl show -P MainPID qv-awake").strip()
    first = process()
    unit.sh(f"kill -9 {first}")
    until(lambda: process() not in ("0", first) and WHY in locks(), "the next lock")
    unit.sh(f"systemctl stop {UNIT}", timeout=300)
    assert WHY in locks()
    unit.sh("systemctl stop qv.service", timeout=300)
    until(lambda: "QV" not in locks(), "no lock")
    # the lock goes with the process, before systemd has seen it end
    until(lambda: unit.sh("systemctl is-active qv-awake || true") == "inactive\n", "an inactive unit")
