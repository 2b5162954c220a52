# SPDX-License-Identifier: GPL-2.0-only
"""The PCI functions that a cell can have, and their uses by Linux. The tests build a /sys and a
/proc."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from running import YAML, Run

from qv.devices import Bus

MOUNTS = ("22 1 254:1 / / rw - ext4 /dev/root rw\n"
          "30 22 0:31 / /data rw - btrfs /dev/vdc rw\n")


class Sys:
    """A machine's /sys and /proc."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.put("sys/firmware/acpi/tables/MCFG", "")
        self.put("proc/self/mountinfo", MOUNTS)
        self.put("proc/swaps", "Filename Type Size Used Priority\n/dev/vdd2 partition 1 0 -2\n")
        self.put("proc/consoles", "tty0 -WU (EC p  ) 4:1\nttyS4 -W- (EC p a) 4:68\n")

    def put(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def link(self, path: str, target: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(self.root / target, self.root / path)

    def function(self, name: str, kind: int = 0x010000, resource: str = "") -> str:
        folder = f"sys/devices/pci0000:00/0000:{name}"
        for file, text in (("class", f"{kind:#08x}\n"), ("vendor", "0x1af4\n"), ("device", "0x1001\n"), ("resource", resource)):
            self.put(f"{folder}/{file}", text)
        self.link(f"sys/bus/pci/devices/0000:{name}", folder)
        return folder

    def device(self, kind: str, name: str, folder: str, **files: str) -> str:
        for file, text in files.items():
            self.put(f"{folder}/{name}/{file}", text)
        (self.root / folder / name / "holders").mkdir(parents=True, exist_ok=True)
        self.link(f"sys/class/{kind}/{name}", f"{folder}/{name}")
        return f"{folder}/{name}"

    def state(self, name: str) -> str:
        return Bus(str(self.root)).function(f"0000:{name}").state()


@pytest.fixture
def sys(tmp_path: Path) -> Sys:
    return Sys(tmp_path)


def test_disks_in_use(sys: Sys) -> None:
    disks = {name: sys.device("block", name, sys.function(f"00:0{i}.0") + "/virtio0/block", dev=f"254:{16 * i}\n")
             for i, name in enumerate(("vda", "vdb", "vdc", "vdd", "vde"), 1)}
    sys.put("proc/self/mountinfo", MOUNTS.replace("254:1 ", "254:17 "))
    assert sys.state("00:01.0") == "yes", "its partition is another disk's"
    sys.device("block", "vda1", disks["vda"], dev="254:17\n")
    assert sys.state("00:01.0") == "in use: vda1 is mounted on /"
    assert sys.state("00:02.0") == "yes"
    assert sys.state("00:03.0") == "in use: vdc is mounted on /data", "by its name: btrfs has a number of its own"
    sys.device("block", "vdd2", disks["vdd"], dev="254:66\n")
    assert sys.state("00:04.0") == "in use: vdd2 is swap space"
    sys.put(f"{disks['vde']}/holders/dm-0/x", "")
    assert sys.state("00:05.0") == "in use: vde is a part of dm-0 (LVM, encryption or RAID)"


def test_a_disk_of_nvme_with_several_paths(sys: Sys) -> None:
    folder = sys.function("00:06.0", 0x010802)
    sys.put(f"{folder}/nvme/nvme3/model", "x")
    sys.link("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme3", f"{folder}/nvme/nvme3")
    sys.device("block", "nvme0n1", "sys/devices/virtual/nvme-subsystem/nvme-subsys0", dev="254:1\n")
    assert sys.state("00:06.0") == "in use: nvme0n1 is mounted on /"


def test_networks_and_consoles_in_use(sys: Sys) -> None:
    eth0 = sys.device("net", "eth0", sys.function("00:07.0", 0x020000) + "/net", flags="0x1003\n")
    assert sys.state("00:07.0") == "in use: network interface eth0 is up"
    sys.put(f"{eth0}/flags", "0x1002\n")
    assert sys.state("00:07.0") == "yes"
    sys.device("tty", "ttyS4", sys.function("00:08.0", 0x070002) + "/tty", dev="4:68\n")
    sys.device("tty", "ttyS5", sys.function("00:09.0", 0x070002) + "/tty", dev="4:69\n")
    assert (sys.state("00:08.0"), sys.state("00:09.0")) == ("in use: ttyS4 is a console of Linux", "yes")
    sys.put(sys.function("00:0a.0", 0x030000) + "/boot_vga", "1\n")
    assert sys.state("00:0a.0") == "in use: it shows the console of Linux"
    sys.device("virtio-ports", "vport3p0", sys.function("00:0b.0", 0x078000) + "/virtio3/virtio-ports")
    assert sys.state("00:0b.0") == "yes"
    sys.put("proc/consoles", "ttyS0 -W- (EC p a) 4:64\nhvc0 -W- (EC p) 229:0\n")
    assert sys.state("00:0a.0") == "yes"
    assert sys.state("00:0b.0") == "in use: hvc0 is a console of Linux, and may be here"


def test_devices_open_in_programs(sys: Sys, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real /proc leads to device nodes, which only root can make. Here a link contains the
    number."""
    monkeypatch.setattr("qv.opened._open_in", lambda link: tuple(map(int, os.readlink(link).split(":"))))
    tty = sys.device("tty", "ttyS5", sys.function("00:08.0", 0x070002) + "/tty", dev="4:69\n")
    sys.link("sys/dev/char/4:69", tty)
    sys.put("proc/812/comm", "agetty\n")
    (sys.root / "proc/812/fd").mkdir()
    os.symlink("4:70", sys.root / "proc/812/fd/0")
    assert sys.state("00:08.0") == "yes"
    os.symlink("4:69", sys.root / "proc/812/fd/1")
    assert sys.state("00:08.0") == "in use: ttyS5 is open in agetty (process 812)"
    sys.put("proc/consoles", "ttyS5 -W- (EC p a) 4:69\n")
    assert sys.state("00:08.0") == "in use: ttyS5 is a console of Linux"


def test_devices_open_that_hang_elsewhere(sys: Sys, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of VFIO, and a terminal of a virtio console that Linux does not use as its console."""
    monkeypatch.setattr("qv.opened._open_in", lambda link: tuple(map(int, os.readlink(link).split(":"))))
    sys.link(sys.function("00:09.0", 0x020000) + "/iommu_group", "sys/kernel/iommu_groups/7")
    sys.device("vfio", "7", "sys/devices/virtual/vfio", dev="243:1\n")
    sys.device("virtio-ports", "vport3p0", sys.function("00:0b.0", 0x078000) + "/virtio3/virtio-ports")
    sys.device("tty", "hvc1", "sys/devices/virtual/tty", dev="229:1\n")
    assert (sys.state("00:09.0"), sys.state("00:0b.0")) == ("yes", "yes")
    (sys.root / "proc/9/fd").mkdir(parents=True)
    os.symlink("243:1", sys.root / "proc/9/fd/5")
    os.symlink("229:1", sys.root / "proc/9/fd/6")
    assert sys.state("00:09.0") == "in use: VFIO group 7 is open in a program (process 9)"
    assert sys.state("00:0b.0") == "in use: hvc1 may be here, and is open in a program (process 9)"


def test_a_disk_that_is_held(sys: Sys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither mounts nor swaps show this use, but the kernel refuses an exclusive open. Here the
    open is replaced, since a real one needs a real disk."""
    monkeypatch.setattr("qv.uses._held", lambda node: node == str(sys.root / "dev/vda"))
    sys.device("block", "vda", sys.function("00:01.0") + "/virtio0/block", dev="254:0\n")
    assert sys.state("00:01.0") == "in use: vda is in use by a file system or a program"


def test_functions_that_no_cell_can_have(sys: Sys) -> None:
    sys.function("00:1f.0", 0x060100)
    sys.function("00:10.0", resource="0xfe000000 0xfe0000ff 0x40200\n")
    sys.function("00:11.0", resource="0x0 0x0 0x0\n0xfe000800 0xfe0008ff 0x40200\n")
    sys.function("00:12.0", resource="0xfe001000 0xfe001fff 0x40200\n")
    sys.function("00:13.0", resource="0x0 0xfff 0x20040200\n")
    sys.function("00:14.0", resource="0x60 0x67 0x40101\n")
    sys.put(sys.function("00:15.0") + "/sriov_numvfs", "2\n")
    assert {name: sys.state(f"00:{name}.0").partition(": ")[2] for name in ("1f", "10", "11", "12", "13", "14", "15")} == {
        "1f": "a bridge", "10": "its registers share a page of 4 KiB with 00:11.0",
        "11": "its registers share a page of 4 KiB with 00:10.0", "12": "", "13": "its registers are not placed in memory",
        "14": "its registers lie over ports that no cell may have (0x60)", "15": "it has virtual functions"}
    (sys.root / "sys/firmware/acpi/tables/MCFG").unlink()
    assert sys.state("00:12.0").startswith("no: no memory-mapped config space")


def test_create_check_and_list_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(tmp_path, capsys)
    sys = Sys(tmp_path / "root")
    run.system.root = str(sys.root)
    sys.device("block", "vda", sys.function("00:03.0") + "/virtio0/block", dev="254:1\n")
    sys.function("00:1f.0", 0x060100)
    run.yaml.write_text(YAML + 'devices: [{pci: "00:03.0", dma: off}]\n')
    assert run("cell", "create", str(run.yaml)) == 1
    assert run.err.startswith("qvctl: PCI function 00:03.0 is in use: vda is mounted on /\n  remedy: end that first")
    assert run.device.calls == []
    assert run("config", "check", str(run.yaml)) == 2
    assert run.err == f"{run.yaml}:5:10: devices: 00:03.0: in use: vda is mounted on / (end that first, or cell create --force)\n"
    assert [d["state"] for d in run.json("devices", "--json")["devices"]] == ["in use: vda is mounted on /", "no: a bridge"]
    assert run("cell", "create", "--force", str(run.yaml)) == 0 and run.device.calls == ["enable", "create"]
    run.yaml.write_text(YAML.replace("quest\n", "two\n", 1).replace("[3]", "[2]") + 'devices: [{pci: "00:1f.0", dma: off}]\n')
    assert run("config", "check", str(run.yaml)) == 2
    assert run.err.endswith("devices: 00:1f.0: a bridge (give what is behind it)\n")
