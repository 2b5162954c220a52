# SPDX-License-Identifier: GPL-2.0-only
"""The lab keeps the promises of Documentation/how-to/lab.md."""

import hashlib
import re
import subprocess
import threading
import time
from pathlib import Path

import pytest

from lab.errors import GuestTimeout, MachineDead
from lab.machine import Machine
from lab.paths import TOP
from product import Product

QVLAB = Path(__file__).with_name("qvlab")


def qvlab(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(QVLAB), *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)


@pytest.mark.both_vendors(always=True)
def test_command_output_and_status_are_returned(machine: Machine) -> None:
    r = machine.run("echo out; echo err >&2; exit 7")
    assert (r.rc, r.out, r.err) == (7, "out\nerr\n", "")
    r = machine.run("echo out; echo err >&2", merge=False)
    assert (r.rc, r.out, r.err) == (0, "out\n", "err\n")
    assert machine.run(["printf", "%s|", "a b", "c"]).out == "a b|c|"
    assert machine.run("cat", stdin=b"x" * 300_000).out == "x" * 300_000
    assert machine.run("kill -9 $$").rc == 137


def test_amd_machine_is_stock_debian(machine: Machine) -> None:
    assert machine.run("uname -r").out.startswith("6.12.")
    assert machine.run("cat /proc/cmdline").out.strip() == "console=ttyS0 sysrq_always_enabled"
    assert machine.run("systemctl is-system-running").out.strip() == "running"
    assert machine.run("nproc").out.strip() == "4"
    assert "svm" in machine.run("cat /proc/cpuinfo").out
    assert machine.run("lsmod | grep kvm").rc != 0, "KVM is loaded at boot"
    assert machine.run("modprobe kvm_amd && rmmod kvm_amd kvm").rc == 0


@pytest.mark.both_vendors
@pytest.mark.slow
def test_files_are_copied_both_ways(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "in/sub/tool").write_bytes(b"#!/bin/sh\necho $((6 * 7))\n")
    (tmp_path / "in/sub/tool").chmod(0o755)
    machine.put(tmp_path / "in", "/tmp/some/folder")
    assert machine.run("/tmp/some/folder/sub/tool").out == "42\n"
    machine.put(tmp_path / "in/sub/tool", "/tmp/alone")
    assert machine.run("/tmp/alone").out == "42\n"
    machine.get("/tmp/some", tmp_path / "back")
    assert (tmp_path / "back/folder/sub/tool").stat().st_mode & 0o111
    machine.get("/etc/hostname", tmp_path / "name")
    assert (tmp_path / "name").read_text() == "qv\n"


@pytest.mark.both_vendors
@pytest.mark.slow
def test_commands_run_concurrently(machine: Machine) -> None:
    counter = machine.start("while sleep 0.1; do echo tick; done")
    assert machine.run("echo meanwhile").out == "meanwhile\n"
    deadline = time.monotonic() + 60
    while counter.output.count(b"tick") <= 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    counter.kill()
    machine.finish(counter, 120)
    assert counter.output.count(b"tick") > 3
    assert machine.run("sleep 1000 & echo left behind").out == "left behind\n"


@pytest.mark.both_vendors
@pytest.mark.slow
def test_command_has_terminal(machine: Machine) -> None:
    shell = machine.start("read line; stty size; echo got $line; exit 3", tty=(30, 100))
    shell.write(b"typed\r")
    machine.finish(shell, 120)
    assert shell.rc == 3
    assert b"30 100" in shell.output and b"got typed" in shell.output


@pytest.mark.slow
def test_commands_that_ended_hold_no_files_in_the_agent(machine: Machine) -> None:
    """A shared machine runs hundreds of commands: a file or thread kept for each would use up the
    agent's limit."""
    count = "ls /proc/$PPID/fd /proc/$PPID/task | wc -l"
    before = int(machine.run(count).out)
    for _ in range(10):
        machine.run("true", merge=False)
        terminal = machine.start("exit 0", tty=(30, 100))
        machine.finish(terminal, 120)
    deadline = time.monotonic() + 60
    while (after := int(machine.run(count).out)) > before + 5 and time.monotonic() < deadline:
        time.sleep(0.1)  # the files are closed soon after the end is reported
    assert after <= before + 5


@pytest.mark.both_vendors
def test_hung_command_leaves_evidence_and_the_machine_alive(qv: Product) -> None:
    qv.do("enable")
    qv.run_cell()
    with pytest.raises(GuestTimeout, match=r"evidence: .*\.evidence\)") as hung:
        qv.machine.run("sleep 1000", timeout=2)
    said = Path(str(hung.value).rpartition("evidence: ")[2].rstrip(")")).read_text(encoding="utf-8")
    for line in (r"(?i)RIP ?=", r"(?i)local.apic", r"instance 0 .*: running", r"instance 1 \(quest\) .*: running",
                 r"CPU 0: running its guest; .*linux_cpu=0x3", r"cpu 2: QV_LOG_ENTERED: CPU is under the monitor",
                 r"QV_LOG_STARTED: cell instance 1 starts", r"sysrq: Show Blocked State", r"sysrq: Show backtrace"):
        assert re.search(line, said), f"{line} is not in:\n{said}"
    assert "(not known: " not in said and "QEMU's defect" not in said
    assert qv.sh("dmesg -C; echo alive") == "alive\n"


@pytest.mark.machine(fresh=True)
@pytest.mark.slow
def test_panic_is_noticed_at_once(machine: Machine) -> None:
    start = time.monotonic()
    with pytest.raises(MachineDead, match="panicked"):
        machine.run("echo c >/proc/sysrq-trigger; sleep 100", timeout=90)
    assert time.monotonic() - start < 20
    assert "sysrq triggered crash" in machine.console_text()


@pytest.mark.machine(machine="intel")
@pytest.mark.slow
def test_intel_machine_is_stock_debian(machine: Machine) -> None:
    assert machine.run("uname -r").out.startswith("6.12.")
    assert machine.run("cat /proc/cmdline").out.strip() == "BOOT_IMAGE=/vmlinuz console=ttyS0,115200 mitigations=off idle=halt sysrq_always_enabled"
    assert machine.run("systemctl is-system-running").out.strip() == "running"
    flags = machine.run("cat /proc/cpuinfo").out
    assert flags.count("\nprocessor") == 3 and all(f" {flag} " in flags for flag in ("vmx", "ept", "vpid"))
    assert "x2apic" not in machine.run("journalctl -k | grep -i 'switched APIC'").out
    ghz = machine.run("journalctl -k | grep 'Refined TSC clocksource'").out
    assert "calibration: 50.0" in ghz or "calibration: 49.9" in ghz, "clock and TSC differ"


@pytest.mark.machine(machine="intel")
@pytest.mark.slow
def test_long_messages_pass_both_ways(machine: Machine) -> None:
    data = bytes(range(256)) * 12_000  # a message that is longer than one slot
    done = machine.run("tee /tmp/there | sha256sum; wc -c </tmp/there", stdin=data)
    assert done.out.split() == [hashlib.sha256(data).hexdigest(), "-", str(len(data))]
    assert len(machine.run("head -c 3000000 /dev/zero | tr '\\0' x").out) == 3_000_000


@pytest.mark.machine(machine="intel")
@pytest.mark.slow
def test_bochs_state_names_each_cpu(machine: Machine) -> None:
    state = machine.emulator.registers()
    assert all(f"CPU {n}: RIP=0x" in state for n in range(4)), state
    assert "in_vmx_guest=false" in state and state.count("apic_id=") == 4
    assert machine.run("echo goes on").out == "goes on\n"


@pytest.mark.machine(machine="intel", fresh=True)
@pytest.mark.slow
def test_reset_in_bochs_is_noticed(machine: Machine) -> None:
    with pytest.raises(MachineDead, match="it reset"):
        machine.run("echo b >/proc/sysrq-trigger; sleep 100", timeout=60)


@pytest.mark.machine(iommu="intel")
def test_intel_iommu_enables_x2apic(machine: Machine) -> None:
    # Reads the journal, since an earlier test may have cleared dmesg
    assert "x2apic enabled" in machine.run("journalctl -k").out


@pytest.mark.machine(cpus=2, iommu="amd", kernel="6.1")
@pytest.mark.slow
def test_amd_iommu_enables_x2apic(machine: Machine) -> None:
    assert machine.run("uname -r").out.startswith("6.1.")
    assert "X2APIC enabled" in machine.console_text()


@pytest.mark.slow
def test_run_copies_in_and_out_and_returns_status(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("#!/usr/bin/python3\nimport sys\nprint('in', open('/root/in').read())\n"
                      "print('err', file=sys.stderr)\nopen('/root/out', 'w').write('42')\nsys.exit(9)\n")
    (tmp_path / "in").write_text("side")
    done = qvlab("run", "--no-install", "--cpus", "2", "--put", f"{tmp_path}/in:/root/in",
                 "--get", f"/root/out:{tmp_path}/out", str(script))
    assert done.returncode == 9, done.stderr
    assert done.stdout.splitlines() == ["in side", "err"] or done.stdout.splitlines() == ["err", "in side"]
    assert (tmp_path / "out").read_text() == "42"


def test_quest_command_boots_quest_with_archive(tmp_path: Path) -> None:
    """`make quest FILES=` starts a shell. The archive's files are there, and Ctrl-A x ends Quest."""
    (tmp_path / "note.txt").write_text("a note")
    archive = tmp_path / "my.cpio"
    subprocess.run([TOP / "inmates/quest/user/pack.py", archive, tmp_path / "note.txt"], check=True)
    done = subprocess.Popen([TOP / "tests/lab/qvlab", "quest", "--files", archive, "--cmdline", "xapic"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.stdin and done.stdout
    said = b""
    for awaited, keys in ((b"> ", b"ls\r"), (b"note.txt", b"hello world\r"), (b"hello from world", b"\x01x")):
        while awaited not in said:
            more = done.stdout.read1()  # type: ignore[attr-defined]
            assert more, f"it ended: {said!r}"
            said += more
        done.stdin.write(keys)
        done.stdin.flush()
    assert done.wait(60) == 0
    missing = qvlab("quest", "--files", "/does/not/exist")
    assert missing.returncode == 126 and "no such archive" in missing.stderr


@pytest.mark.slow
def test_two_machines_hang_and_reset_independently() -> None:
    done: dict[str, subprocess.CompletedProcess[str]] = {}

    def run(name: str, *arguments: str) -> None:
        done[name] = qvlab("run", "--no-install", "--cpus", "2", *arguments)
    threads = [threading.Thread(target=run, args=a) for a in (
        ("hangs", "--timeout", "20", "-c", "echo before; sleep 1000"),
        ("resets", "-c", "echo b >/proc/sysrq-trigger; sleep 1000"))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert done["hangs"].returncode == 124
    assert done["hangs"].stdout == "before\n"
    assert "qvlab: not done within 20 s" in done["hangs"].stderr
    assert "multi-user.target" in done["hangs"].stderr, "the end of the console is missing"
    assert done["resets"].returncode == 125
    assert "it reset" in done["resets"].stderr


@pytest.mark.parametrize("arguments", [
    ["run"], ["run", "--cpus", "0", "-c", "true"], ["run", "--memory", "lots", "-c", "true"],
    ["run", "--kernel", "5.10", "-c", "true"], ["run", "--put", "x", "-c", "true"],
    ["run", "/does/not/exist"], ["run", "--machine", "via", "-c", "true"], ["run", "--timeout", "0", "-c", "true"], ["nonsense"], [],
])
def test_wrong_usage_has_status_2(arguments: list[str]) -> None:
    done = qvlab(*arguments)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_lab_failure_has_its_own_status() -> None:
    done = qvlab("run", "--no-install", "--qemu-arg=-nonsense", "-c", "true")
    assert done.returncode == 126
    assert "QEMU did not start" in done.stderr and "Traceback" not in done.stderr


def test_iommu_on_intel_machine_is_refused() -> None:
    done = qvlab("run", "--no-install", "--machine", "intel", "--iommu=intel", "-c", "true")
    assert done.returncode == 126
    assert "the machine 'intel' has no IOMMU" in done.stderr
