# SPDX-License-Identifier: GPL-2.0-only
"""Linux panics while a cell runs: the crash kernel writes a dump to a disk, and the cell runs on."""

import re
import time
from pathlib import Path

import pytest

from lab import cpio, images
from lab.machine import Machine
from product import HERE, Product, program

HEARTBEAT = 2 * 4096  # offset in the console pages: the first word of the comm page
CELL_MIB = 64


def crash_initrd(folder: Path) -> Path:
    """Returns the lab's initramfs with the disk's modules. An archive after it replaces init."""
    archive = cpio.Archive()
    archive.file("init", program("readdump").read_bytes(), 0o755)
    path = folder / "crash-initrd"
    path.write_bytes(images.kernel("6.12").initramfs("virtio").read_bytes() + archive.data())
    return path


@pytest.mark.parametrize("ipi", ["filtered", "direct"])
@pytest.mark.machine(memory="1G", reboots=True, fresh=True, boot_args=("crashkernel=256M",))
@pytest.mark.slow
def test_crash_dump_is_written_while_cell_runs(machine: Machine, tmp_path: Path, ipi: str) -> None:
    """With direct IPIs, the NMIs by which Linux stops its CPUs spare the cell too."""
    qv = Product(machine)
    qv.do(f"enable --ipi {ipi}")
    qv.run_cell("quest")
    machine.put(images.kernel("6.12").vmlinuz, "/run/vmlinuz")
    machine.put(crash_initrd(tmp_path), "/run/crash-initrd")
    machine.put(HERE / "inside/loadcrash", "/run/loadcrash")
    qv.sh(f"/run/loadcrash /run/vmlinuz /run/crash-initrd /dev/qv-cell/quest/console {HEARTBEAT}")
    assert qv.sh("cat /sys/kernel/kexec_crash_loaded") == "1\n"
    machine.start("echo c >/proc/sysrq-trigger")
    deadline = time.monotonic() + 300
    while not machine.dead and time.monotonic() < deadline:
        time.sleep(0.5)
    said = machine.console_text()
    assert machine.dead == "it switched itself off", machine.console_tail()
    written = re.search(r"^readdump: wrote (\d+) MiB, (\d+) MiB of them ones$", said, re.MULTILINE)
    different = re.search(r"^readdump: (\d+) pages differ", said, re.MULTILINE)
    beats = re.search(r"^readdump: beats (\d+) (\d+) (\d+)$", said, re.MULTILINE)
    assert written and different and beats, machine.console_tail()
    # All memory except that of the crash kernel
    assert int(written[1]) > 600
    # The running cell changes its own window and the open part of its instance
    assert int(different[1]) <= 16
    # The memory of the cell and of the monitor reads as ones
    assert CELL_MIB <= int(written[2]) <= CELL_MIB + 16
    first, second, third = map(int, beats.groups())
    assert first < second < third
