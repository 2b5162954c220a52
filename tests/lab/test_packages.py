# SPDX-License-Identifier: GPL-2.0-only
"""The Debian packages: their lists of files, their build, and their life on a machine."""

import ast
import hashlib
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from lab import build, enter, packages, roots
from lab.machine import Machine
from lab.paths import BUILD, TOP
from pages import block
from test_watching import until

DEBIAN = TOP / "debian"
MADE = BUILD / "deb"  # as `make deb` leaves them


def test_dkms_builds_for_kernels_from_6_1_on() -> None:
    """By a regular expression, since DKMS of Debian 12 knows no lowest version."""
    words = dict(line.split("=", 1) for line in (DEBIAN / "qv-dkms.dkms").read_text(encoding="utf-8").splitlines())
    pattern = words["BUILD_EXCLUSIVE_KERNEL"].strip('"')
    for kernel, wanted in {"5.10.0-30-amd64": False, "6.0.12-amd64": False, "6.1.0-49-amd64": True, "6.12.107+deb13-amd64": True,
                           "6.9.1": True, "7.2-rt-amd64": True, "10.0.1": True, "1.6.1": False}.items():
        # as DKMS does it
        found = subprocess.run(["bash", "-c", '[[ $1 =~ $2 ]]', "dkms", kernel, pattern], check=False)
        assert (found.returncode == 0) is wanted, kernel


def listed() -> dict[str, list[str]]:
    """Returns for each package the patterns of its file *.install."""
    return {path.stem: [line.split()[0] for line in path.read_text(encoding="utf-8").splitlines()]
            for path in sorted(DEBIAN.glob("*.install"))}


def manual_pages() -> set[str]:
    """Returns the manual pages that Sphinx makes, which are not made in the tool root."""
    text = (TOP / "Documentation/conf.py").read_text(encoding="utf-8")
    found = re.search(r"^man_pages = (\[.*?^\])", text, re.MULTILINE | re.DOTALL)
    assert found
    return {f"usr/share/man/man{section}/{name}.{section}"
            for _page, name, _words, _authors, section in ast.literal_eval(found[1])}


def fits(file: str, pattern: str) -> bool:
    """Returns whether dh_install takes a file for a pattern. A pattern may name a folder."""
    parts, wanted = file.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))


def test_packages_list_every_installed_file(tmp_path: Path) -> None:
    """dh_install takes each file that `make install` installs into one package, and each pattern
    has a file."""
    with build.lock():
        build.programs()
        done = subprocess.run(["make", "-s", "-C", str(TOP), f"O={build.OUT}", f"DESTDIR={tmp_path}", "install-programs"],
                              text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    files = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")
             if not p.is_dir() and p.suffix != ".pyc"}
    # the Python module for channels needs cffi, which the tool root lacks
    files |= manual_pages() | {"usr/lib/python3/dist-packages/qvchannel/__init__.py"}
    assert len(files) > 150
    patterns = [(package, pattern) for package, lines in listed().items() for pattern in lines
                if not pattern.startswith("debian/")]
    for file in sorted(files):
        owners = {package for package, pattern in patterns if fits(file, pattern)}
        assert len(owners) == 1, f"{file} is in {sorted(owners) or 'no package'}: see debian/*.install"
    for package, pattern in patterns:
        assert any(fits(file, pattern) for file in files), f"{package}: {pattern} is no file of make install"


def test_versions_of_packages_module_and_programs_agree() -> None:
    for name, before, after in packages.VERSIONS:
        assert before + packages.version() + after in (TOP / name).read_text(encoding="utf-8"), name
    changes = (TOP / "CHANGES.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", changes, re.MULTILINE)[0] == packages.version()
    assert f"This is version {packages.version()};" in (TOP / "README.md").read_text(encoding="utf-8")


def test_packages_name_the_project_alone() -> None:
    """Debian wants an address. `.invalid` is a domain that has none, by RFC 2606."""
    project = "QV project <no-address@qv.invalid>"
    assert f"\nMaintainer: {project}\n" in (DEBIAN / "control").read_text(encoding="utf-8")
    log = (DEBIAN / "changelog").read_text(encoding="utf-8")
    assert set(re.findall(r"^ -- (.*?)  ", log, re.MULTILINE)) == {project}


@pytest.mark.slow
def test_packages_build_twice_alike_and_lintian_finds_nothing() -> None:
    """The second build is in another folder. The lab measures, proves and attacks the same
    monitor as in qv-dkms."""
    once = packages.build(MADE)
    twice = packages.build(BUILD / "lab/deb-in-another-folder")
    assert packages.sums(once) == packages.sums(twice)
    assert len(packages.sums(once)) >= 9
    assert packages.lint(once) == ""
    book = subprocess.run(["dpkg-deb", "-c", next(once.glob("qv-doc_*.deb"))],
                          text=True, capture_output=True, check=True).stdout
    assert "/changelog.gz" in book and "/CHANGES.md.gz" in book, "debian/changelog names this file"
    with build.lock():
        build.programs()
    for image in ("qv-amd.bin", "qv-intel.bin"):
        packed = subprocess.run(f"dpkg-deb --fsys-tarfile {next(once.glob('qv-dkms_*.deb'))} | "
                                f"tar -xO ./usr/src/qv-{packages.version()}/images/{image}",
                                shell=True, capture_output=True, check=True).stdout
        assert packed == (build.OUT / "hypervisor" / image).read_bytes(), image


class Target:
    """A machine in which packages are installed. `sh` runs a command, which must succeed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def sh(self, command: str, timeout: float = 1800) -> str:
        done = self.machine.run(command, timeout)
        assert done.rc == 0, f"{command}: {done.out}"
        return done.out

    def refused(self, command: str) -> str:
        done = self.machine.run(command, 300)
        assert done.rc != 0, done.out
        return done.out

    def page(self, first: str) -> None:
        """Runs a block of the page."""
        for line in block("packages.md", first).lines:
            self.sh(line)

    def status(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.sh("qvctl status --json"))
        return found

    def cell(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.sh("qvctl cell show quest --json"))
        return found

    def files(self) -> set[str]:
        """Returns the files and folders that packages may leave behind. The key with which DKMS signs
        belongs to dkms."""
        return set(self.sh("find /boot /etc /opt /run/qv /srv /usr /var /dev/qv* -xdev -not -name '*.pyc' -not -name __pycache__ "
                           "-not -path '/var/lib/dpkg/*' -not -path '/var/lib/apt/*' -not -path '/var/cache/*' "
                           "-not -path '/var/log/*' -not -path '/srv/*' -not -path '/var/lib/systemd/timers/*' -not -path '/var/lib/dkms/mok.*' -not -path '/etc/ld.so.cache' 2>/dev/null; "
                           "find /usr/lib/modules -name '*.ko*'; true").splitlines())


@pytest.mark.slow
def test_packages_from_bare_machine_to_cell_and_back() -> None:
    """The commands of packages.md, then what packages promise: a removal with cells is refused, an
    upgrade leaves the cells running, a purge leaves nothing."""
    newer = packages.version() + ".1"
    first = packages.build(BUILD / "lab/deb-first")
    second = packages.build(BUILD / "lab/deb-second", newer)
    with Machine(kernel=packages.TARGET, userland=f"kernel-{packages.TARGET}", memory="4G", install=False) as machine:
        target = Target(machine)
        sh = target.sh
        sh("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*")
        before = target.files()
        machine.put(first, "/srv/qv")
        target.page("apt-get update")
        target.page("apt-get install")
        assert target.cell()["state"] == "running"
        assert "up " in sh("quesh quest -c uptime")
        image = (build.OUT / "hypervisor/qv-amd.bin").read_bytes()
        assert target.status()["monitor_sha256"] == hashlib.sha256(image).hexdigest()
        assert target.status()["module_commit"] == target.status()["commit"] == enter.commit()
        machine.put(DEBIAN / "tests", "/srv/tests")
        assert "a cell runs" in sh("sh /srv/tests/cell")

        for package in ("qv-tools", "qv-dkms"):
            assert f"{package}: not removed, since there are cells: quest" in target.refused(f"apt-get remove -y {package}")
            assert target.cell()["state"] == "running"
            sh("apt-get install -y qv-tools qv-dkms")

        started = target.cell()["started_ns"]
        sh("rm -r /srv/qv")
        machine.put(second, "/srv/qv")
        sh("apt-get update; apt-get upgrade -y")
        assert f"qv/{newer}" in sh("dkms status")
        assert target.cell()["started_ns"] == started and target.cell()["state"] == "running"
        assert target.status()["module_replaced"] is True
        assert "restart qv.service" in sh("qvctl status")
        sh("systemctl restart qv.service")
        until(lambda: machine.run("qvctl cell show quest").rc == 0 and target.cell()["state"] == "running", "the cell runs again")
        assert sh("cat /sys/module/qv/version").strip() == newer
        assert target.status()["module_replaced"] is False

        sh("systemctl stop 'qv-cell@*'; apt-get purge -y 'qv-*' libqv1 python3-qv")
        assert machine.run("test -e /sys/module/qv").rc == 1
        assert target.files() - before == {"/etc/apt/sources.list.d/qv.list"}
        assert before <= target.files()


IN_A_COPY = """
set -e
base=$1 lower=$2 debs=$3
shift 3
mkdir -p "$base/upper" "$base/work" "$base/root"
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$base/upper,workdir=$base/work" "$base/root"
for d in /dev /proc /tmp; do mount --rbind "$d" "$base/root$d"; done
mkdir -p "$base/root/srv/qv"
mount --bind "$debs" "$base/root/srv/qv"
PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec chroot "$base/root" env -i PATH=$PATH HOME=/root DEBIAN_FRONTEND=noninteractive sh -c "$1"
"""


@pytest.fixture
def copy() -> Iterator[Path]:
    base = BUILD / "lab/deb-copy"
    subprocess.run(["rm", "-rf", str(base)], check=True)
    base.mkdir(parents=True)
    yield base
    subprocess.run(["rm", "-rf", str(base)], check=True)


def in_copy(copy: Path, target: str, debs: Path) -> tuple[Path, Callable[[str], str]]:
    """Returns the tree in which packages for a kernel are installed, and a function that runs a
    command in a copy of it, with the packages in /srv/qv. The command must succeed."""
    lower = roots.ensure(f"kernel-{target}")

    def sh(command: str) -> str:
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", IN_A_COPY, "copy",
                               str(copy), str(lower), str(debs), command], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout
        return done.stdout
    return lower, sh


@pytest.mark.slow
def test_packages_install_in_debian_12_and_leave_nothing(copy: Path) -> None:
    """DKMS compiles the driver for 6.1 with the compiler of Debian 12. The programs start there. No
    machine boots it."""
    with build.lock():
        build.programs()
    lower, sh = in_copy(copy, packages.OLDER_TARGET, packages.build(BUILD / "lab/deb-older"))
    kernel = (lower / "kernel/version").read_text(encoding="utf-8").strip()
    assert kernel.startswith("6.1.")

    def files() -> set[str]:
        return set(sh("find / -xdev -name '*qv*' -not -path '/srv/*' -not -path '/var/lib/apt/*'").splitlines())
    sh("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*")
    lines = block("packages.md", "apt-get update").lines
    before = files()
    for line in (*lines, block("packages.md", "apt-get install").lines[0]):
        sh(line)
    assert f"qv/{packages.version()}, {kernel}, x86_64: installed" in sh("dkms status -m qv")
    said = sh(f"modinfo -k {kernel} qv")
    assert f"vermagic:       {kernel} " in said
    for vendor in ("amd", "intel"):
        image = (build.OUT / f"hypervisor/qv-{vendor}.bin").read_bytes()
        assert hashlib.sha256(image).hexdigest() in said
    for command in ("qvctl --version", "quesh --version", "qvoil --version", "python3 -c 'import qvchannel'"):
        sh(command)
    assert "qvctl" in " ".join(files() - before)
    sh("apt-get purge -y 'qv-*' libqv1 python3-qv")
    assert files() - before == {"/etc/apt/sources.list.d/qv.list"}


@pytest.mark.slow
def test_new_kernel_gets_the_module_and_only_the_driver_is_compiled(copy: Path) -> None:
    """apt installs another kernel, with real-time preemption, and DKMS compiles the driver for it."""
    debs = packages.build(BUILD / "lab/deb-kernel")
    lower, sh = in_copy(copy, packages.TARGET, debs)
    kernel = (lower / "kernel/version").read_text(encoding="utf-8").strip()
    sh("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*; cd /srv/debs && apt-ftparchive packages . >Packages && "
       "printf 'deb [trusted=yes] file:/srv/%s ./\\n' qv debs >/etc/apt/sources.list && apt-get update")
    sh("apt-get install -y --no-install-recommends qv-dkms")
    assert kernel in sh("dkms status -m qv")
    sh("apt-get install -y --no-install-recommends linux-headers-rt-amd64")
    newer = kernel.replace("-amd64", "-rt-amd64")
    for version in (kernel, newer):
        said = sh(f"modinfo -k {version} qv")
        assert f"vermagic:       {version} " in said
        for vendor in ("amd", "intel"):
            image = (build.OUT / f"hypervisor/qv-{vendor}.bin").read_bytes()
            assert hashlib.sha256(image).hexdigest() in said
    sh("apt-get purge -y qv-dkms")
    assert "qv" not in sh("find /usr/lib/modules /var/lib/dkms /usr/src -name '*qv*'")
