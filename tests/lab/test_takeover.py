# SPDX-License-Identifier: GPL-2.0-only
"""`enable` and `disable` while Linux works, and the work of Linux while QV is enabled."""

import json
import re

import pytest

from lab.errors import MachineDead
from lab.machine import Machine
from product import Product, module, on_machines, program
from test_watching import until


@on_machines("xapic", slow=["x2apic-8", "6.1-xapic", "intel"])
@pytest.mark.slow
def test_enable_disable_under_load_keeps_programs_intact(qv: Product, name: str) -> None:
    enable_and_disable(qv, 4, own_clock=name == "intel")


@pytest.mark.slow
def test_enable_disable_12_times_under_load_keeps_programs_intact(qv: Product) -> None:
    enable_and_disable(qv, 12)


def enable_and_disable(qv: Product, rounds: int, own_clock: bool = False) -> None:
    """Busy programs keep their registers, including floating point, and the clock never goes back.
    With `own_clock` the machine's clock does not follow the host's clock, as in Bochs."""
    qv.sh("modprobe qv")
    qv.do("status")
    work = qv.busy()
    begin = qv.uptime()
    for i in range(rounds):
        qv.do("enable")
        assert qv.ask("status")["cpus"] == qv.cpus
        if i % 4 == 3:  # every fourth round also runs a cell
            qv.run_cell("quest", qv.cpus - 1)
            assert qv.quesh("echo under load") == "under load\n"
            qv.do("cell destroy quest")
        qv.do("disable")
    end = qv.uptime()
    least, most = end.before - begin.after, end.after - begin.before
    assert own_clock or 0.9 * least - 1 < end.guest - begin.guest < 1.1 * most + 1, "guest and host clocks differ"
    said = qv.calm(work)
    assert len(re.findall(r"vectors rounds=\d+ wrong=0", said)) == qv.cpus, said
    assert re.search(r"clock reads=\d+ backwards=0", said), said
    assert qv.online() == qv.all_online


@pytest.mark.both_vendors(always=True)
def test_single_step_sees_each_instruction(qv: Product) -> None:
    """Single-stepping works for CPUID too, which exits on VT-x. The monitor emulates CPUID, and the
    step ends after it."""
    qv.machine.put(program("steps"), "/run/steps")
    qv.do("enable")
    assert qv.sh("/run/steps").split() == ["0", "2", "4", "5", "6", "7"]
    qv.do("disable")


@pytest.mark.both_vendors
def test_takeover_keeps_segments_and_breakpoints(qv: Product) -> None:
    """`enable` and `disable` keep a segment of an LDT, the base of GS, the port bitmap behind the TSS
    and breakpoints."""
    qv.machine.put(program("segments"), "/run/segments")
    qv.sh("modprobe qv")
    qv.do("status")
    work = qv.machine.start("for cpu in $(seq 0 $(($(nproc) - 1))); do for how in ldt base; do "
                            "taskset -c $cpu /run/segments $how & done; done; echo ready; read -r; kill -TERM $(jobs -p); wait")
    while b"ready\n" not in work.output:
        assert not work.ended.wait(0.1), work.output
    for _ in range(3):
        qv.do("enable")
        qv.do("disable")
    qv.sh("echo 1 >/sys/module/qv/parameters/test_impatient")
    assert "the monitor refused to take over" in qv.refused("enable")
    qv.sh("echo 0 >/sys/module/qv/parameters/test_impatient")
    work.write(b"\n")
    qv.machine.finish(work, 60)
    said = work.output.decode()
    assert len(re.findall(r"segments rounds=[1-9]\d* wrong=0", said)) == 2 * qv.cpus, said


@on_machines("xapic", slow=["x2apic-8", "intel"])
def test_cpu_goes_offline_and_online_while_enabled(qv: Product, name: str) -> None:
    """Linux stops and starts its CPUs by INIT and SIPI, which the monitor emulates."""
    cell = qv.cpus - 1
    qv.run_cell("quest", cell)
    qv.quesh("count")
    for _ in range(3):
        qv.sh("echo 0 >/sys/devices/system/cpu/cpu1/online")
        assert not qv.runs_on(1)
        qv.sh("echo 1 >/sys/devices/system/cpu/cpu1/online")
        assert qv.runs_on(1)
    refused = qv.machine.run(f"""now() {{ cut -d' ' -f1 /proc/uptime; }}
now; echo 1 >/sys/devices/system/cpu/cpu{cell}/online; rc=$?; now; exit $rc""")
    assert refused.rc == 1 and "Operation not permitted" in refused.out, "Linux started a CPU of a cell"
    begin, end = map(float, re.findall(r"(?m)^[\d.]+$", refused.out))
    assert end - begin < 5, "Linux waits 10 s for a CPU that does not come"
    qv.assert_counting()
    qv.do("cell destroy quest")
    assert qv.online() == qv.all_online


@pytest.mark.slow
def test_disable_with_offline_cpu_is_refused(qv: Product) -> None:
    qv.do("enable")
    qv.sh("echo 0 >/sys/devices/system/cpu/cpu2/online")
    said = qv.refused("disable")
    assert "CPU 2 is offline" in said and "echo 1 > /sys/devices/system/cpu/cpu" in said
    assert "CPU 2" in qv.refused(f"cell create {qv.config('quest', 2)}")
    assert qv.online() == "0-1,3", "as it was"
    qv.sh("echo 1 >/sys/devices/system/cpu/cpu2/online")
    qv.do("disable")


@on_machines("xapic", slow=["intel"])
@pytest.mark.slow
def test_cpu_offline_at_enable_is_brought_under_monitor(qv: Product, name: str) -> None:
    """`enable` takes the offline CPU under the monitor and puts it offline again, so that no CPU of
    Linux runs outside the monitor."""
    online = "/sys/devices/system/cpu/cpu2/online"
    qv.sh(f"echo 0 >{online}")
    qv.do("enable --strict")
    status = qv.ask("status")
    assert (status["cpus"], status["cpus_outside"]) == (qv.cpus, 0)
    assert qv.online() == "0-1,3", "as it was"
    assert "CPU 2 is offline" in qv.refused(f"cell create {qv.config('quest', 2)}")
    qv.sh(f"echo 1 >{online}")
    qv.run_cell("quest", 2)
    assert qv.quesh("echo on it") == "on it\n"
    qv.do("cell destroy quest")
    qv.sh(f"echo 0 >{online}")
    qv.do("disable")
    assert qv.online() == "0-1,3", "as it was"
    qv.sh(f"echo 1 >{online}")
    assert qv.runs_on(2)


@pytest.mark.machine(boot_args=("nosmt",), qemu_args=("-smp", "threads=2"))
@pytest.mark.slow
def test_cpus_disabled_by_nosmt_stay_outside(machine: Machine) -> None:
    """The CPUs stay outside the monitor. qvctl names the level, --strict and direct IPIs
    are refused, and Linux cannot bring one of them online while QV is enabled."""
    qv = Product(machine)
    qv.begin()
    assert qv.online() == "0,2"
    before = next(c for c in json.loads(qv.qvctl("--json doctor").out)["checks"] if c["check"] == "offline-cpus")
    assert before["status"] == "warn" and "CPUs outside the monitor" in before["what"]
    said = qv.refused("enable --strict")
    assert "2 CPUs are offline and Linux does not let them come" in said and "nosmt" in said
    assert "2 CPUs are offline and Linux does not let them come" in qv.refused("enable --ipi direct")
    assert qv.ask("status")["enabled"] is False
    assert "level: CPUs outside (2): offline" in qv.do("enable")
    status = qv.ask("status")
    assert (status["cpus"], status["cpus_outside"]) == (2, 2)
    after = next(c for c in json.loads(qv.qvctl("--json doctor").out)["checks"] if c["check"] == "offline-cpus")
    assert after["status"] == "warn" and after["what"].startswith("level: CPUs outside (2)")
    assert "level: CPUs outside (2)" in qv.do("log")
    direct = qv.config("quest", 2, more="ipi: direct")
    assert "could start 2 CPUs that are outside the monitor" in qv.refused(f"cell create {direct}")
    # Linux now permits these CPUs
    qv.sh("echo on >/sys/devices/system/cpu/smt/control || true")
    assert qv.online() == "0,2"
    assert "it is outside the monitor" in qv.do("log")
    qv.do("disable")
    qv.sh("rmmod qv")
    qv.check_kernel_log()


@on_machines("xapic", slow=["x2apic-8", "intel"])
def test_nmis_reach_linux_while_cell_runs(qv: Product, name: str) -> None:
    """Linux sends NMIs by IPI for backtraces of all CPUs. QEMU sends an NMI from outside. CPU 1
    belonged to a cell before."""
    qv.do(f"cell create {qv.config('quest', 1)}")
    qv.do("cell destroy quest")
    qv.run_cell("quest", qv.cpus - 1)
    qv.quesh("count")
    qv.sh("dmesg -C; echo 1 >/proc/sys/kernel/sysrq; echo l >/proc/sysrq-trigger")

    def seen() -> set[int]:
        return set(map(int, re.findall(r"NMI backtrace for cpu (\d+)", qv.sh("dmesg"))))
    until(lambda: seen() == set(range(qv.cpus - 1)), "the backtraces of all CPUs of Linux", 60)
    if name != "intel":  # Bochs has no NMI button
        qv.sh("dmesg -C")
        qv.machine.qmp("inject-nmi")
        until(lambda: "NMI received for unknown reason" in qv.sh("dmesg"), "the NMI from outside")
    qv.sh("dmesg -C")
    qv.assert_counting()
    assert qv.show()["state"] == "running"


@on_machines("xapic")
@pytest.mark.slow
def test_nmis_that_meet_an_iret_are_held_back(qv: Product, name: str) -> None:
    """Each other CPU sends 500 NMIs to CPU 0, more than it can handle. Some come between the exit
    of the IRET that ends the handler of another, and that IRET."""
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    qv.do("enable")
    qv.sh("insmod /run/qvtouch.ko")
    qv.sh("taskset -c 1 bash -c 'echo 0 10 500 >/sys/module/qvtouch/parameters/nmis'", timeout=60)
    qv.sh("rmmod qvtouch")
    qv.do("disable")


@pytest.mark.slow
@pytest.mark.machine(machine="intel")
def test_nmis_between_page_faults_lose_nothing(qv: Product) -> None:
    """CPU 0 takes page faults of a program while other CPUs leave Linux and come back, and then
    while 5,000 NMIs come to it, each at another moment. On VT-x each NMI is an exit, so some of
    them come right after the delivery of an exception."""
    qv.machine.put(program("faults"), "/run/faults")
    qv.machine.put(module("qvtouch", qv.machine.config.kernel), "/run/qvtouch.ko")
    qv.do("enable")
    qv.sh("insmod /run/qvtouch.ko")
    work = qv.machine.start("taskset -c 0 /run/faults & echo ready; read -r; kill -TERM $!; wait $!")
    while b"ready\n" not in work.output:
        assert not work.ended.wait(0.1), work.output
    for _ in range(3):
        qv.run_cell("quest", qv.cpus - 1)
        qv.do("cell destroy quest")
    qv.sh("taskset -c 1 bash -c 'echo 0 5000 >/sys/module/qvtouch/parameters/nmis'", timeout=300)
    qv.sh("rmmod qvtouch")
    work.write(b"\n")
    qv.machine.finish(work, 60)
    assert re.search(r"faults rounds=[1-9]\d{3,} wrong=0", work.output.decode()), work.output
    qv.do("disable")
    assert qv.online() == qv.all_online


@pytest.mark.machine(kernel="rt", iommu="intel")  # as MACHINES["rt"]
@pytest.mark.slow
def test_reboot_with_running_cell_resets_machine(machine: Machine) -> None:
    qv = Product(machine)
    qv.run_cell()
    qv.quesh("count")
    with pytest.raises(MachineDead, match="it reset"):
        machine.run("systemctl reboot; sleep 100", timeout=90)
    assert "qv: Linux goes down under the monitor" not in machine.console_text()


@pytest.mark.machine(machine="intel")
@pytest.mark.slow
def test_immediate_reset_works_under_monitor(machine: Machine) -> None:
    """Linux resets the machine without calling any notifier. On VT-x a CPU in VMX operation blocks
    INIT, so the monitor leaves VMX operation before the reset."""
    qv = Product(machine)
    qv.run_cell()
    with pytest.raises(MachineDead, match="it reset"):
        machine.run("echo b >/proc/sysrq-trigger; sleep 100", timeout=90)


PM1 = "port=$(od -An -tu4 -j64 -N4 /sys/firmware/acpi/tables/FACP); put() { printf \"\\\\x$1\" | dd of=/dev/port bs=1 seek=$((port + 1)) conv=notrunc status=none; }; "


@pytest.mark.slow
def test_power_off_port_passes_and_sleep_is_refused(machine: Machine) -> None:
    """Linux writes a byte of the PM1 control register, bypassing its own code and the driver. S5
    (type 0) is allowed, S3 (type 1) is refused. AMD only, since Bochs accepts only words."""
    qv = Product(machine)
    qv.run_cell()
    machine.run(PM1 + "put 24", timeout=30)
    assert "Linux tried to put the machine to sleep by port" in qv.do("log")
    with pytest.raises(MachineDead, match="it switched itself off"):
        machine.run(PM1 + "put 20; sleep 100", timeout=90)
