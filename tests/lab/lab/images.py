# SPDX-License-Identifier: GPL-2.0-only
"""The files from which a machine boots: kernel, disk of its modules, initramfs, root disk."""

import hashlib
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import cpio, enter, roots
from .errors import LabError
from .paths import CACHE, LAB

RECIPE = 4  # raise this number when this code makes different files
IMAGES = CACHE / "images"
# ext4 requests crc32c by name, so modules.dep does not list it. Newer kernels have it built in.
BOOT_MODULES = {
    "virtio": ["virtio_pci", "virtio_blk", "crc32c_generic", "ext4"],
    "ata": ["ata_piix", "sd_mod", "crc32c_generic", "ext4"],
}
# Periodic work and waits that slow down a short-lived machine or disturb its timing
MASKED = [
    "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer",
    "e2scrub_reap.service", "fstrim.timer", "systemd-tmpfiles-clean.timer",
    "systemd-random-seed.service", "systemd-update-utmp.service", "systemd-pstore.service",
    "systemd-networkd-wait-online.service", "systemd-timesyncd.service",
    "systemd-journal-flush.service", "getty@tty1.service", "serial-getty@ttyS0.service",
    "getty-static.service", "modprobe@drm.service", "modprobe@fuse.service",
    "proc-sys-fs-binfmt_misc.automount", "systemd-binfmt.service", "run-lock.mount",
    "systemd-creds.socket", "systemd-hostnamed.socket", "systemd-sysext.socket",
    "systemd-initctl.socket", "systemd-ask-password-console.path",
    "systemd-ask-password-wall.path", "systemd-sysusers.service",
    "ldconfig.service", "systemd-hwdb-update.service", "systemd-update-done.service",
    "systemd-journal-catalog-update.service",
]
GENERATORS = [
    "systemd-bless-boot-generator", "systemd-cryptsetup-generator", "systemd-getty-generator",
    "systemd-gpt-auto-generator", "systemd-hibernate-resume-generator", "systemd-rc-local-generator",
    "systemd-ssh-generator", "systemd-system-update-generator", "systemd-sysv-generator",
    "systemd-tpm2-generator", "systemd-veritysetup-generator", "systemd-integritysetup-generator",
    "systemd-import-generator", "systemd-factory-reset-generator",
]


@dataclass
class Kernel:
    """An unpacked stock kernel, and the tree in which to build modules for it."""

    name: str
    version: str   # the kernel's release, as `uname -r` prints it
    root: Path     # the Debian tree with its headers and compiler
    place: Path    # the folder with the files made from it

    @property
    def vmlinuz(self) -> Path:
        return self.place / "vmlinuz"

    @property
    def disk(self) -> Path:
        return self.place / "modules.img"

    def initramfs(self, disks: str) -> Path:
        """Returns the initramfs for a kind of disks, a key of BOOT_MODULES."""
        return self.place / f"initramfs-{disks}"

    @property
    def modules(self) -> Path:
        """The modules, not compressed: a machine and depmod read them in a fraction of the time."""
        return self.place / "modules"


def _disk(source: Path, image: Path, size: str) -> None:
    enter.shell(roots.ensure("tool"), 'mke2fs -q -t ext4 -O ^has_journal -E root_owner=0:0 -m 0 '
                '-d "$1" "$2" "$3"', str(source), str(image), size)


def root_disk(name: str = "guest") -> Path:
    """Returns the disk image with the root file system of machines. Machines never write to it."""
    blacklist = (LAB / "guest/modprobe.conf").read_text()

    def build(fresh: Path) -> None:
        tree = roots.ensure(name)
        masks = [f"system/{unit}" for unit in MASKED] + [f"system-generators/{g}" for g in GENERATORS]
        for mask in masks:
            link = tree / "etc/systemd" / mask
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to("/dev/null")
        (tree / "etc/hostname").write_text("qv\n")
        (tree / "etc/machine-id").write_text("5156" * 8 + "\n")
        (tree / "etc/fstab").write_text("")
        (tree / "etc/modprobe.d").mkdir(exist_ok=True)
        (tree / "etc/modprobe.d/lab.conf").write_text(blacklist)
        target = tree / "etc/systemd/system/default.target"
        target.unlink(missing_ok=True)
        target.symlink_to("/usr/lib/systemd/system/multi-user.target")
        (tree / "usr/lib/modules").mkdir(parents=True, exist_ok=True)  # a disk is mounted there
        _disk(tree, fresh / "root.img", "3G")
    ident = f"{RECIPE}-{roots.key(name)}-{MASKED}-{GENERATORS}-{blacklist}"
    short = hashlib.sha256(ident.encode()).hexdigest()[:12]
    kind = "root" if name == "guest" else f"root-{name}"
    return roots.make_once(IMAGES / f"{kind}_{short}", build, f"the {name} disk") / "root.img"


def in_order(modules: Path, names: Iterable[str]) -> list[Path]:
    """Returns modules and those that they need, in loading order."""
    needs: dict[str, list[str]] = {}
    by_name: dict[str, str] = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()
        by_name[Path(path).name.split(".")[0].replace("-", "_")] = path
    builtin = (modules / "modules.builtin").read_text().replace("-", "_")
    order: list[str] = []
    for name in names:
        if name not in by_name:
            if f"/{name}.ko" not in builtin and name != "crc32c_generic":
                raise LabError(f"the kernel has no {name}", "choose another kernel package")
            continue
        path = by_name[name]  # modules.dep lists dependencies in reverse loading order
        order += [p for p in [*reversed(needs[path]), path] if p not in order]
    return [modules / p for p in order]


def _initramfs(tool: Path, modules: Path, disks: str) -> bytes:
    a = cpio.Archive()
    a.file("init", (LAB / "guest/init").read_bytes(), 0o755)
    a.file("bin/busybox", (tool / "usr/bin/busybox").read_bytes(), 0o755)
    a.link("bin/sh", "busybox")
    for folder in ("dev", "proc", "sys", "root", "lay"):
        a.folder(folder)
    a.device("dev/console", 5, 1)
    if disks == "ata":
        a.file("laydisk", b"")  # the files of the run are on a disk, not in a second archive
    order = in_order(modules, BOOT_MODULES[disks])
    for path in order:
        a.file(f"modules/{path.name}", path.read_bytes())
    a.file("modules/order", "".join(f"{p.name}\n" for p in order).encode())
    return a.data()


def kernel(name: str) -> Kernel:
    """Returns the kernel called `name`. Fetches it first if it is not in the cache."""
    table = roots.sections()["kernel"]
    if name not in table:
        raise LabError(f"there is no kernel {name!r}", f"choose one of {', '.join(sorted(table))}")
    home = f"kernel-{name}" if "build" in table[name] else "tool"
    root, tool = roots.ensure(home), roots.ensure("tool")
    unpacked = root / "kernel"
    version = (unpacked / "version").read_text().strip()

    def build(fresh: Path) -> None:
        base = fresh / "base"
        plain = base / "lib/modules" / version
        shutil.copytree(unpacked / "lib/modules" / version, plain, symlinks=True)
        enter.shell(tool, 'find "$1" -name "*.ko.xz" -print0 | xargs -0r xz -d; '
                    'find "$1" -name "*.ko.zst" -print0 | xargs -0r zstd -dq --rm; depmod -b "$2" "$3"',
                    str(plain), str(base), version)
        (fresh / "vmlinuz").write_bytes((unpacked / "vmlinuz").read_bytes())
        for disks in BOOT_MODULES:
            (fresh / f"initramfs-{disks}").write_bytes(_initramfs(tool, plain, disks))
        _disk(plain.parent, fresh / "modules.img", "2G")
        plain.rename(fresh / "modules")
        shutil.rmtree(base)
    ident = f"{RECIPE}-{roots.key(home)}-{(LAB / 'guest/init').read_text()}"
    short = hashlib.sha256(ident.encode()).hexdigest()[:12]
    place = roots.make_once(IMAGES / f"kernel-{name}_{short}", build, f"kernel {version}")
    return Kernel(name, version, root, place)
