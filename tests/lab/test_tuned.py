# SPDX-License-Identifier: GPL-2.0-only
"""Cells on a Linux that an engineer has tuned, traces, or gives to threads of real time. They run on,
and Linux has its CPUs again."""

import pytest

from product import Product
from test_watching import until

TUNED = ("isolcpus=nohz,domain,managed_irq,2-3", "nohz_full=2-3", "rcu_nocbs=2-3", "idle=poll",
         "threadirqs", "skew_tick=1", "irqaffinity=0", "mitigations=off")
TRACE = "/sys/kernel/tracing"
TRACERS = f"""mountpoint -q {TRACE} || mount -t tracefs tracefs {TRACE}
cd {TRACE}
echo 'try_to_wake_up schedule cpu_*' >set_ftrace_filter
echo function >current_tracer
echo 'p:qv_opens do_sys_openat2' >kprobe_events
echo 1 >events/kprobes/qv_opens/enable
echo 1 >events/sched/sched_switch/enable"""
NO_TRACERS = f"""cd {TRACE}
echo 0 >events/enable
echo >kprobe_events
echo nop >current_tracer
echo >set_ftrace_filter"""
SERVICES = """systemctl daemon-reexec
systemctl restart systemd-journald
date -s '+1 hour' >/dev/null
date -s '-1 hour' >/dev/null
rm -rf /run/qv"""


@pytest.mark.slow
@pytest.mark.machine(boot_args=TUNED)
def test_tuned_command_line(qv: Product) -> None:
    assert "nohz_full=2-3" in qv.sh("cat /proc/cmdline")
    qv.run_cell("quest", 3)
    qv.run_cell("erika", 2)
    qv.quesh("count")
    qv.assert_counting()
    qv.do("cell destroy quest erika")
    qv.do("disable")
    assert qv.online() == qv.all_online


@pytest.mark.slow
@pytest.mark.machine(boot_args=("maxcpus=2",))
def test_cpus_that_linux_has_not_started(qv: Product) -> None:
    """The sentence and the remedy are those for a CPU that was taken offline."""
    assert qv.online() == "0-1"
    qv.do("enable")
    start = "echo 1 > /sys/devices/system/cpu/cpu3/online"
    assert start in qv.refused(f"cell create {qv.config('quest', 3)}")
    qv.sh(start)
    qv.run_cell("quest", 3)
    qv.quesh("count")
    qv.assert_counting()
    qv.do("cell destroy quest")
    qv.do("disable")
    assert qv.online() == "0-1,3"
    qv.sh(start.replace("cpu3", "cpu2"))


@pytest.mark.slow
def test_tracers_hugepages_and_services(qv: Product) -> None:
    """All are there before `enable`, and stay until after `disable`."""
    qv.sh(TRACERS)
    qv.sh("echo 32 >/proc/sys/vm/nr_hugepages")
    spinner = qv.machine.start("exec chrt -f 99 taskset -c 3 sh -c 'while :; do sleep 0.001; done'")
    try:
        qv.run_cell("quest", 3)
        qv.quesh("count")
        qv.sh(SERVICES)
        qv.assert_counting()
        assert qv.show()["state"] == "running"
        qv.do("cell destroy quest")
        qv.do("disable")
        assert qv.sh(f"grep -c . {TRACE}/trace").strip() != "0"
    finally:
        spinner.kill(9)
        qv.machine.finish(spinner, 60)
        qv.sh(f"echo 0 >/proc/sys/vm/nr_hugepages; {NO_TRACERS}")
    assert qv.online() == qv.all_online


@pytest.mark.slow
def test_cpu_whose_deadlines_do_not_fit_elsewhere_stays(qv: Product) -> None:
    """Four threads with 80 % of a CPU each fit on four CPUs, and not on three."""
    qv.do("enable")
    qv.do(f"cell create {qv.config('quest', 3)}")
    qv.do("cell destroy quest")
    threads = [qv.machine.start("exec chrt -d --sched-runtime 80000000 --sched-deadline 100000000 "
                                "--sched-period 100000000 0 sleep 1000") for _ in range(qv.cpus)]
    until(lambda: qv.sh("ps -eo cls= | grep -c DLN; true").strip() == str(qv.cpus), "all threads")
    pages = qv.pages_kib()
    said = qv.refused(f"cell create {qv.config('quest', 3)}")
    assert "Linux keeps CPU 3: the deadlines of SCHED_DEADLINE threads do not fit" in said and "grep DLN" in said
    assert qv.online() == qv.all_online and qv.ask("cell list")["cells"] == []
    assert qv.pages_kib() - pages < 2048
    for thread in threads:
        thread.kill(9)
        qv.machine.finish(thread, 60)
    qv.run_cell("quest", 3)
    qv.do("cell destroy quest")
    qv.do("disable")
