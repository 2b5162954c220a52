# SPDX-License-Identifier: GPL-2.0-only
"""QV in the kernel log of Linux; forced unloading of the module; affinity of tasks and interrupts."""

import re

import pytest

from product import Product
from test_watchdog import run
from test_watching import until


def kernel_said(qv: Product) -> list[str]:
    """Returns the lines of QV in the kernel log, without time stamps."""
    lines = re.findall(r"^\[[^]]*\] (qv: .*)$", qv.sh("dmesg"), re.MULTILINE)
    return [line for line in lines if "out-of-tree" not in line and "signature" not in line]


@pytest.mark.both_vendors
def test_kernel_log_has_one_line_per_event(qv: Product) -> None:
    last = qv.cpus - 1
    qv.run_cell("quest", last)
    assert qv.machine.run(f"echo 1 >/sys/devices/system/cpu/cpu{last}/online").rc == 1
    qv.machine.run("quesh quest -c 'crash triple'")
    until(lambda: qv.show("quest")["state"] == "failed", "quest is failed")
    qv.do("cell destroy quest")
    qv.do("disable")
    enabled, refused, fails, disabled = kernel_said(qv)
    assert enabled == f"qv: the monitor runs on {qv.cpus} CPUs"
    assert refused == f"qv: CPU {last} stays offline: a cell has it (qvctl cell list)"
    assert fails.startswith("qv: quest: failed: ") and "triple fault" in fails
    assert disabled == "qv: Linux has the machine to itself again"


def test_forced_unload_destroys_cells_first(qv: Product) -> None:
    """Linux once panicked here, because the module left a timer and devices in freed memory."""
    qv.run_cell("quest", qv.cpus - 1)
    qv.quesh("count")
    qv.sh("rmmod -f qv")
    assert qv.sh("grep -c '^qv ' /proc/modules; true").strip() == "0"
    assert qv.online() == qv.all_online
    assert qv.sh("ls -d /dev/qv* 2>/dev/null; true") == ""
    qv.sh("sleep 1")  # by now a timer that the module left would have expired
    qv.check_kernel_log()
    qv.run_cell("quest", qv.cpus - 1)
    assert qv.quesh("echo again") == "again\n"


@pytest.mark.slow
def test_forced_unload_waits_for_open_files_and_locked_cells(qv: Product) -> None:
    run(qv, "quest", qv.cpus - 1, "off", "lock: may\\n")
    qv.quesh("lock")
    held = qv.machine.start("exec 4>/dev/qv-cell/quest/console; echo open; read x; printf 'unlock\\r' >&4; read x")
    until(lambda: b"open" in held.output, "an open console", 60)
    qv.machine.run("sh -c 'rmmod -f qv; echo done >/run/rmmod.out' >/dev/null 2>&1 &")
    waits = "qv: forced unloading waits: "
    until(lambda: kernel_said(qv)[-1].startswith(waits), "a line in the kernel's log", 60)
    assert "cell 'quest' has locked management" in kernel_said(qv)[-1]
    assert not qv.runs_on(qv.cpus - 1), "the cell lost its CPU"
    held.write(b"\n")
    until(lambda: kernel_said(qv)[-1] == f"{waits}a program has /dev/qv, a console or a channel open", "the cell's end", 60)
    assert qv.online() == qv.all_online
    held.write(b"\n")
    qv.machine.finish(held, 120)
    until(lambda: "done" in qv.sh("cat /run/rmmod.out 2>/dev/null; true"), "rmmod's end", 60)
    assert qv.sh("grep -c '^qv ' /proc/modules; true").strip() == "0"


PINNED = """
spin() { while :; do :; done; }
taskset -pc 3 $$ >/dev/null
spin & echo $! >/run/loose
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/kept && echo 3 >/sys/fs/cgroup/kept/cpuset.cpus
spin & echo $! >/run/kept
echo $(cat /run/kept) >/sys/fs/cgroup/kept/cgroup.procs
echo 3 >/proc/irq/4/smp_affinity_list
"""
UNPINNED = """
kill $(cat /run/loose /run/kept); sleep 1
rmdir /sys/fs/cgroup/kept; echo -cpuset >/sys/fs/cgroup/cgroup.subtree_control
"""


def allowed(qv: Product) -> tuple[str, str]:
    """Returns the CPUs of a busy thread in a cpuset of CPU 3, and the CPUs of interrupt 4."""
    kept = qv.sh("grep Cpus_allowed_list /proc/$(cat /run/kept)/status").split()[1]
    return kept, qv.sh("cat /proc/irq/4/smp_affinity_list").strip()


def test_cpuset_affinity_returns_and_irq_affinity_does_not(qv: Product) -> None:
    """Linux changes the affinity when a CPU goes offline and comes back.
    Documentation/reference/qvctl.md describes this."""
    before = qv.sh("cat /proc/irq/4/smp_affinity_list").strip()
    qv.sh(PINNED)
    try:
        assert allowed(qv) == ("3", "3")
        qv.do(f"cell create {qv.config('quest', 3)}")
        while_away = allowed(qv)
        qv.do("cell destroy quest")
        until(lambda: allowed(qv)[0] == "3", "the thread's CPU", 60)
    finally:
        qv.sh(UNPINNED)
        irq = qv.sh("cat /proc/irq/4/smp_affinity_list").strip()
        qv.sh(f"echo {before} >/proc/irq/4/smp_affinity_list")
    assert while_away == ("0-2", "0-3")
    assert irq == "0-3"
