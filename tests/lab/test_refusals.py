# SPDX-License-Identifier: GPL-2.0-only
"""Requests that cannot be carried out are refused with a sentence and a remedy. Nothing changes."""

import hashlib
import re
import shlex
from pathlib import Path

import pytest

from badimage import image
from lab import build, enter
from product import CONFIGS, Product

QUEST = "/usr/share/qv/configs/quest.yaml"


def test_disable_with_cells_is_refused(qv: Product) -> None:
    qv.run_cell()
    qv.quesh("count")
    said = qv.refused("disable")
    assert "1 cell lives in the monitor" in said and "qvctl cell destroy" in said
    assert qv.machine.run("rmmod qv").out == "rmmod: ERROR: Module qv is in use\n"
    assert qv.ask("status")["enabled"]
    qv.assert_counting()
    qv.do("cell destroy quest")
    assert "in use" in qv.machine.run("rmmod qv").out, "still enabled"
    qv.do("disable")
    assert "disabled already" in qv.do("disable")
    assert "not enabled" in qv.refused("disable --strict")


def test_second_enable_changes_nothing(qv: Product) -> None:
    absent = "the machine has no IOMMU"
    assert f"the IOMMU stays with Linux: {absent}" in qv.refused("enable --iommu")
    assert "level: DMA none" in (said := qv.do("enable")) and absent in said
    assert f"level: DMA none: {absent}" in qv.do("log")
    assert absent in qv.do("status") and absent in qv.do("doctor")
    assert "enabled already" in qv.do("enable")
    assert "enabled already" in qv.refused("enable --strict")
    assert "the IOMMU belongs to Linux" in qv.refused("enable --iommu")
    assert qv.ask("status")["enabled"]


@pytest.mark.slow
def test_rmmod_with_open_device_is_refused(qv: Product) -> None:
    qv.sh("modprobe qv")
    assert "in use" in qv.machine.run("exec 3</dev/qv; rmmod qv").out
    assert "in use" not in qv.machine.run("rmmod qv").out


OTHER_BUILD = r"""
import pathlib, sys
module = bytearray(pathlib.Path(sys.argv[1]).read_bytes())
heads = [at for at in range(0, len(module) - 40, 8) if module[at:at + 8] == b"QVMON01\0"]
assert len(heads) == 2, heads
for at in heads:
    module[at + 36] ^= 1
pathlib.Path("/run/other.ko").write_bytes(module)
"""


def test_monitor_of_another_build_is_refused(qv: Product) -> None:
    """The driver and the image of the monitor contain a hash of the headers that they share. Here
    the image has another hash. `status` tells the hash of the image file that is used."""
    qv.sh("modprobe qv")
    used = (build.OUT / "hypervisor/qv-amd.bin").read_bytes()
    assert qv.ask("status")["monitor_sha256"] == hashlib.sha256(used).hexdigest()
    status = qv.ask("status")
    assert status["module_replaced"] is False
    assert status["module_commit"] == status["commit"] == enter.commit() != ""
    assert status["module_version"] == status["version"]
    qv.sh("rmmod qv")
    file = qv.sh("modinfo -n qv").strip()
    qv.sh(f"python3 -c {shlex.quote(OTHER_BUILD)} {file}; insmod /run/other.ko")
    said = qv.refused("enable")
    assert "the monitor for AMD-V in this module is of another build" in said and "qv-dkms" in said, said
    assert not qv.ask("status")["enabled"]
    qv.sh("rmmod qv; rm /run/other.ko")
    assert "Operation not permitted" in qv.machine.run("modprobe qv monitor=other").out


@pytest.mark.slow
def test_commands_without_module_are_refused(qv: Product) -> None:
    assert "the module qv is not loaded" in qv.do("disable")
    for line in ("disable --strict", "status", "cell list", "cell start quest", "log"):
        assert "the module qv is not loaded" in qv.refused(line)


@pytest.mark.machine(cpus=2, cpu_flags="-svm")
@pytest.mark.slow
def test_enable_without_svm_is_refused(qv: Product) -> None:
    assert "svm" not in qv.sh("cat /proc/cpuinfo")
    said = qv.refused("enable")
    assert "does not offer SVM" in said and "firmware setup" in said
    cell = qv.config("quest", 1)
    assert "does not offer SVM" in qv.refused(f"cell create {cell}")
    assert not qv.ask("status")["enabled"]
    assert qv.online() == "0-1"
    doctor = qv.qvctl("--json doctor")
    assert doctor.rc == 1
    assert re.search(r'"check": "virtualization", "status": "fail"', doctor.out), doctor.out
    qv.sh("rmmod qv")


def test_enable_is_refused_while_linux_goes_to_sleep(qv: Product) -> None:
    """A process that opens /dev/snapshot begins hibernation: its next step would freeze all others."""
    qv.sh("modprobe qv")
    said = qv.machine.run("exec 3</dev/snapshot && qvctl enable; echo status $?").out
    assert "Linux goes to sleep" in said and said.endswith("status 1\n"), said
    assert not qv.ask("status")["enabled"]
    qv.do("enable")  # Linux is awake again
    assert qv.machine.run("exec 3</dev/snapshot").rc != 0
    qv.do("disable")


@pytest.mark.both_vendors
def test_enable_with_kvm_loaded_is_refused(qv: Product) -> None:
    """From Linux 6.12 on, the KVM module turns SVM or VMX on when it is loaded."""
    kvm = qv.vendor.kvm
    qv.sh(f"modprobe {kvm}")
    said = qv.refused("enable")
    assert f"{kvm} is loaded" in said and f"rmmod {kvm}" in said
    assert f"{kvm} is loaded" in qv.qvctl("doctor").out
    assert f"{kvm} is loaded" in qv.refused(f"cell create {QUEST}")
    assert qv.online() == qv.all_online
    qv.sh(f"rmmod {kvm} kvm")
    qv.run_cell()
    assert qv.quesh("echo now") == "now\n"


@pytest.mark.both_vendors
@pytest.mark.slow
def test_kvm_cannot_load_while_enabled(qv: Product) -> None:
    qv.run_cell()
    qv.quesh("count")
    came = qv.machine.run(f"modprobe {qv.vendor.kvm}")
    # Linux 6.12 checks when KVM is loaded. It finds that SVM is in use or that VMX is absent
    assert came.rc != 0
    qv.assert_counting()
    assert qv.ask("cell stats linux")["cpus"], "the monitor does not answer"
    qv.do("cell destroy quest")
    qv.do("disable")
    qv.sh(f"modprobe {qv.vendor.kvm} && rmmod {qv.vendor.kvm} kvm")


# the ioctl KVM_CREATE_VM
NEW_VM = "import fcntl; fcntl.ioctl(open('/dev/kvm', 'rb'), 0xae01, 0)"


@pytest.mark.machine(kernel="6.1")
@pytest.mark.slow
def test_kvm_of_6_1_cannot_create_vm_while_enabled(qv: Product) -> None:
    """Up to Linux 6.11, KVM turns SVM on when it creates its first virtual machine."""
    qv.sh("modprobe kvm_amd")
    qv.run_cell()
    qv.quesh("count")
    vm = qv.machine.run(["python3", "-c", NEW_VM])
    assert vm.rc == 1 and "Device or resource busy" in vm.out, vm
    qv.assert_counting()
    qv.do("cell destroy quest")
    qv.do("disable")
    qv.sh(f'python3 -c "{NEW_VM}"')
    holding = qv.machine.start(["python3", "-c", f"{NEW_VM.replace('; ', '; v=')}; print(v, flush=True); input()"])
    while not holding.output:
        assert not holding.ended.wait(0.1), holding.output
    assert "rmmod kvm_amd" in qv.refused("enable")
    holding.write(b"\n")
    qv.machine.finish(holding, 120)
    qv.sh("rmmod kvm_amd kvm")


@pytest.mark.slow
def test_cpu_that_does_not_come_fails_enable(qv: Product) -> None:
    """The module parameter test_absent_cpu keeps a CPU away from the rendezvous. The caller runs on
    another CPU. CPU 3 is offline before and after."""
    qv.sh("echo 0 >/sys/devices/system/cpu/cpu3/online")
    for absent in (2, 1):
        qv.sh(f"modprobe qv test_absent_cpu={absent}")
        refused = qv.machine.run("taskset -c 0 qvctl enable", merge=False)
        assert refused.rc == 1
        assert re.match(rf"qvctl: these CPUs did not answer within \d+ ms, so all others backed out: {absent}\n"
                        r"  remedy: \S.*\n$", refused.err), refused.err
        assert not qv.ask("status")["enabled"]
        assert qv.online() == "0-2"
        assert all(qv.runs_on(cpu) for cpu in range(3))
        # The caller must not be the absent CPU: it would not wait, and would free memory that other
        # CPUs enter
        refused = qv.machine.run(f"taskset -c 0 qvctl cell create {CONFIGS}/quest.yaml", merge=False)
        assert refused.rc == 1 and "did not answer" in refused.err, refused
        if absent == 2:
            qv.sh("rmmod qv")
    qv.sh("echo -1 >/sys/module/qv/parameters/test_absent_cpu; echo 1 >/sys/devices/system/cpu/cpu3/online")
    qv.run_cell()
    assert qv.quesh("echo here") == "here\n"


def test_enable_backs_out_from_inside_monitor(qv: Product) -> None:
    """With the module parameter test_impatient, the deadline inside the monitor is 0. All CPUs
    enter the monitor and back out."""
    qv.sh("modprobe qv test_impatient=1")
    work = qv.busy()
    for _ in range(3):
        assert "the monitor refused to take over" in qv.refused("enable")
        assert not qv.ask("status")["enabled"]
    qv.calm(work)
    assert all(qv.runs_on(cpu) for cpu in range(4))
    qv.sh("echo 0 >/sys/module/qv/parameters/test_impatient")
    qv.run_cell()
    assert qv.quesh("echo here") == "here\n"


@pytest.mark.machine(machine="intel")
@pytest.mark.slow
def test_refused_vmwrite_fails_enable(qv: Product) -> None:
    """test_hooks=4 makes one CPU write a field that no VMCS has. Only VT-x has an instruction that
    can fail in this way."""
    qv.sh("modprobe qv test_hooks=4")
    for _ in range(2):
        assert ("the processor of CPU 1 refused VMWRITE of field 0x5ffe (VM-instruction error 12), so all CPUs backed out"
                in qv.refused("enable"))
        assert not qv.ask("status")["enabled"]
    assert all(qv.runs_on(cpu) for cpu in range(4))
    qv.sh("echo 0 >/sys/module/qv/parameters/test_hooks")
    qv.do("enable")
    qv.do("disable")


# A line of quest.yaml, the changed line, and the error message after the name of the file
BAD = {
    "cpu-0": ("cpus: [3]", "cpus: [0, 3]", r":4:8: cpus: CPU 0 always stays with Linux \(one or more of 1-3\)"),
    "no-such-cpu": ("cpus: [3]", "cpus: [4]", r":4:8: cpus: .*CPU 4.* \(.*1-3.*\)"),
    "too-much": ("memory: 64M", "memory: 8G", r":5:9: memory: .*8G.* \(.*\)"),
    "no-unit": ("memory: 64M", "memory: 64", r":5:9: memory: 64 has no unit \(.*\)"),
    "unknown": ("console: true", "consol: true", r":9:1: consol: is not a known key \(perhaps `console`\)"),
    "no-image": ("image: quest.elf", "image: quark.elf", r":6:8: image: .*quark.elf.* \(.*\)"),
    "not-yaml": ("name: quest", "name: [quest", r":\d+:\d+: yaml: .*"),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.slow
def test_bad_configuration_is_refused(qv: Product, what: str) -> None:
    old, new, said = BAD[what]
    qv.sh(f"sed 's/^{re.escape(old)}$/{new}/' {QUEST} >/run/bad.yaml; ! cmp {QUEST} /run/bad.yaml >/dev/null")
    # This calls the installed program, not the server of qv.qvctl(), to get its real exit status
    done = qv.machine.run("qvctl cell create /run/bad.yaml", merge=False)
    assert (done.rc, done.out) == (2, "")
    assert re.match(f"/run/bad.yaml{said}\n", done.err), done.err
    assert qv.machine.run("grep '^qv ' /proc/modules").rc == 1, "the module was loaded"
    assert qv.online() == qv.all_online


def test_bad_configuration_leaves_running_cell_alone(qv: Product) -> None:
    qv.run_cell()
    qv.quesh("count")
    before = qv.ask("cell list")["cells"][0]["started_ns"]
    qv.sh("echo 'name: 7' >/run/bad.yaml")
    assert qv.qvctl("cell create /run/bad.yaml").rc == 2
    assert qv.qvctl("cell create /run/nothing.yaml").err.startswith("/run/nothing.yaml:1:1: file: ")
    qv.sh(f"sed 's/^name:.*/name: other/' {QUEST} >/run/other.yaml; echo 0 >/sys/devices/system/cpu/cpu2/online")
    assert qv.qvctl("config check /run/other.yaml").err == (
        "/run/other.yaml:4:7: cpus: CPU 3 belongs to the cell quest (1, the only one)\n")
    qv.sh("sed -i 's/^cpus:.*/cpus: [2]/' /run/other.yaml")
    assert "cpus: CPU 2 is offline" in qv.qvctl("config check /run/other.yaml").err
    qv.sh("echo 1 >/sys/devices/system/cpu/cpu2/online")
    assert "other.yaml: ok: " in qv.do("config check /run/other.yaml")
    assert "warning: a cell quest exists" in qv.do(f"config check {QUEST}")
    assert qv.qvctl("cell").rc == 2 and qv.qvctl("cell create").rc == 2
    [cell] = qv.ask("cell list")["cells"]
    assert (cell["state"], cell["started_ns"]) == ("running", before)
    qv.assert_counting()


@pytest.mark.slow
def test_invalid_image_leaves_nothing_behind(qv: Product, tmp_path: Path) -> None:
    """qvctl rejects an image with bad headers before it changes anything. If only the driver can
    reject an image, it undoes what was done before."""
    (tmp_path / "bad.elf").write_bytes(image("beyond"))
    qv.machine.put(tmp_path / "bad.elf", "/run/bad.elf")
    qv.sh(f"echo no kernel >/run/text; sed 's,^image:.*,image: /run/text,' {QUEST} >/run/text.yaml; "
          f"sed 's,^image:.*,image: /run/bad.elf,' {QUEST} >/run/bad.yaml")
    none = qv.qvctl("cell create /run/text.yaml")
    assert none.rc == 2 and "/run/text is not an ELF file" in none.err
    before = qv.pages_kib()
    said = qv.refused("cell create /run/bad.yaml")
    assert "the image 'bad.elf' cannot be loaded: a segment does not fit into the cell's memory" in said
    assert not qv.ask("status")["enabled"], "still enabled, though only for this cell"
    assert qv.online() == qv.all_online
    assert before - qv.pages_kib() < 4 << 10, "Linux did not get the memory back"
