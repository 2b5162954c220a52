# SPDX-License-Identifier: GPL-2.0-only
"""`make install` and `make uninstall` as a user types them, in a temporary copy of the tool root."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import build, enter, images
from lab.paths import BUILD, TOP

IN_THE_COPY = """
set -e
base=$1 top=$2
shift 2
mkdir -p "$base/upper" "$base/work" "$base/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" "$base/root"
for d in /dev /proc /tmp "$top"; do mount --rbind "$d" "$base/root$d"; done
exec chroot "$base/root" env -i PATH="$PATH" HOME=/root "$@"
"""

# Files that depmod writes
DEPMOD = {f"modules.{name}{binary}" for binary in ("", ".bin")
          for name in ("dep", "alias", "symbols", "builtin", "builtin.alias", "devname", "softdep", "weakdep")}
# the index that systemd writes of all catalogs
CATALOG = "var/lib/systemd/catalog/database"


class Copy:
    """A temporary copy of the tool root (an overlay mount). `files()` returns the files that commands
    added or changed in it."""

    def __init__(self, base: Path, kver: str) -> None:
        self.base, self.kver = base, kver

    def run(self, *argv: str) -> str:
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", IN_THE_COPY,
                               "copy", str(self.base), str(TOP), *argv], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def make(self, *arguments: str) -> str:
        # depmod is in /usr/sbin, which a shell after `su` does not search
        # a careful root has this umask, and every user must still be able to read the files
        return self.run("env", "PATH=/usr/bin:/bin", "sh", "-c", 'umask 077; exec "$@"', "sh", "make", "-s", "-C", str(TOP), f"O={build.OUT}",
                        f"KDIR=/lib/modules/{self.kver}/build", *arguments)

    def files(self) -> set[str]:
        upper = self.base / "upper"
        return {str(p.relative_to(upper)) for p in upper.rglob("*")
                if not p.is_dir() and not p.is_char_device() and p.name not in DEPMOD
                and str(p.relative_to(upper)) != CATALOG}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    base = BUILD / f"lab/install-{os.getpid()}"
    subprocess.run(["rm", "-rf", str(base)], check=True)
    base.mkdir(parents=True)
    kernel = images.kernel("6.12")
    with build.lock():
        build.compile_for(kernel)
        yield Copy(base, kernel.version)
    subprocess.run(["rm", "-rf", str(base)], check=True)


def test_installed_module_is_found_and_uninstall_leaves_nothing(copy: Copy) -> None:
    copy.make("install")
    assert "updates/qv.ko" in copy.run("modprobe", "--show-depends", "-S", copy.kver, "qv")
    installed = copy.files()
    for name in ("usr/sbin/qvctl", "usr/bin/quesh", "usr/share/qv/images/quest.elf"):
        assert name in installed
    modules = {f"usr/lib/python3/dist-packages/{p.relative_to(TOP / 'tools')}"
               for p in (TOP / "tools/qv").rglob("*.py")} | {"usr/lib/python3/dist-packages/qv/abi.py"}
    assert modules <= installed
    module = copy.base / f"upper/usr/lib/modules/{copy.kver}/updates/qv.ko"
    assert module.stat().st_size < 1 << 20, "the module contains debug data"
    assert ".debug_info" not in copy.run("readelf", "-SW", f"/lib/modules/{copy.kver}/updates/qv.ko")
    upper = copy.base / "upper"
    for name in installed:
        for path in (upper / name, *(upper / name).parents):
            if path.is_relative_to(upper / "usr") and not path.is_symlink():
                assert path.stat().st_mode & 0o044 == 0o044, path
    copy.run("qvctl", "--version")		# Python leaves its compiled files
    assert "name: is missing" in copy.run("sh", "-c", "echo cpus: 1 | qvctl config check - 2>&1 || true")
    # needs nothing that was built
    copy.make("uninstall", "O=/none", "KDIR=/none")
    assert copy.files() == set()
    assert b"QV" not in (copy.base / "upper" / CATALOG).read_bytes()
    assert not (copy.base / "upper/usr/share/qv").exists()
    assert "qv.ko" not in copy.run("cat", f"/lib/modules/{copy.kver}/modules.dep")


def test_install_into_a_package_runs_no_depmod(copy: Copy) -> None:
    copy.make("install", "DESTDIR=/opt/package")
    names = {n.removeprefix("opt/package/") for n in copy.files()}
    assert f"lib/modules/{copy.kver}/updates/qv.ko" in names
    assert not (copy.base / f"upper/opt/package/lib/modules/{copy.kver}/modules.dep").exists()
    copy.make("uninstall", "DESTDIR=/opt/package")
    assert copy.files() == set()


@pytest.mark.slow
def test_driver_builds_with_the_flags_of_an_engineer_s_shell() -> None:
    """They are for programs, and ARCH=amd64 is Debian's word."""
    kernel, place = images.kernel("6.12"), BUILD / "lab/driver-with-flags"
    flags = {"CFLAGS": "-g -O2 -fstack-protector-strong", "KCFLAGS": "-g", "LDFLAGS": "-Wl,-z,relro"}
    with build.lock():
        build.programs()
        for arch in ("amd64", "x86_64"):
            subprocess.run(["rm", "-rf", str(place)], check=True)
            done = enter.run(kernel.root, ["make", "-s", "-C", "driver", f"O={build.OUT}", f"KO={place}",
                                           f"KDIR=/lib/modules/{kernel.version}/build"], flags | {"ARCH": arch})
            assert done.returncode == 0 and (place / "qv.ko").exists(), done.stdout
        subprocess.run(["rm", "-rf", str(place)], check=True)
