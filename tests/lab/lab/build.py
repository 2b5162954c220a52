# SPDX-License-Identifier: GPL-2.0-only
"""Compiles the tree for a kernel, and installs it as `make install` does."""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from . import enter, roots
from .errors import BuildError
from .images import Kernel
from .paths import BUILD

OUT = BUILD / "lab/out"  # a folder that is separate from the output of the host's compiler
# Quest with programs and commands for tests; not installed by `make install`
TEST_IMAGE = "quest-test.elf"


def _make(root: Path, *arguments: str) -> None:
    # PROGRAMS="hypervisor tools" in the environment leaves the other folders out.
    some = [f"PROGRAMS={os.environ['PROGRAMS']}"] if "PROGRAMS" in os.environ else []
    jobs = f"-j{os.cpu_count() or 1}"
    done = enter.run(root, ["make", "-s", "--no-print-directory", jobs, f"O={OUT}", *some,
                           *arguments])
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-60:])
        raise BuildError(f"the tree does not build (make {' '.join(arguments)}):\n{tail}\n",
                         "mend what is named above")


def _kdir(kernel: Kernel) -> str:
    return f"KDIR=/lib/modules/{kernel.version}/build"


def _for_tests(*arguments: str) -> None:
    """Runs make in inmates/tests, for the images that only tests need."""
    if "inmates" in os.environ.get("PROGRAMS", "inmates").split():
        _make(roots.ensure("tool"), "-C", "inmates/tests", *arguments)


def abi() -> None:
    """Makes the part of qvctl that is generated, for a test that runs qvctl from the source tree."""
    _make(roots.ensure("tool"), "-C", "tools", "abi")


def programs() -> None:
    """Builds everything except the module. Call with the lock held."""
    _make(roots.ensure("tool"), "programs")
    _for_tests("image")


def compile_for(kernel: Kernel) -> None:
    """Builds everything in the tree for `kernel`. Call with the lock held."""
    programs()
    _make(kernel.root, "driver", _kdir(kernel))


@contextlib.contextmanager
def lock() -> Iterator[None]:
    with roots.locked(BUILD / "lab/lock"):
        yield


def _settle(stage: Path) -> None:
    """Moves /lib, /bin and /sbin to /usr, since in Debian they are links there."""
    for name in ("lib", "bin", "sbin"):
        if (stage / name).is_dir():
            shutil.copytree(stage / name, stage / "usr" / name, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(stage / name)


def _depmod(kernel: Kernel, stage: Path) -> None:
    """Runs depmod for the installed module here, since the machine's CPU is slow."""
    ours = stage / "usr/lib/modules" / kernel.version
    files = sorted(ours.rglob("*.ko*"))
    if not files:
        return
    base = BUILD / f"lab/depmod-{kernel.name}"
    names = base / "names"
    tree = base / "lib/modules" / kernel.version
    mark = "\n".join(f"{f.relative_to(ours)} {f.stat().st_size} {hashlib.sha256(f.read_bytes()).hexdigest()}" for f in files)
    if not names.exists() or names.read_text() != mark:
        shutil.rmtree(base, ignore_errors=True)
        shutil.copytree(kernel.modules, tree, symlinks=True, copy_function=os.symlink)
        shutil.copytree(ours, tree, dirs_exist_ok=True)
        enter.shell(roots.ensure("tool"), 'depmod -b "$1" "$2"', str(base), kernel.version)
        names.write_text(mark)
    for index in tree.glob("modules.*"):
        if not index.is_symlink():  # depmod has just written this file
            shutil.copy2(index, ours)


@contextlib.contextmanager
def installed(kernel: Kernel, compile: bool) -> Iterator[Path]:
    """Yields a folder with the tree installed for `kernel`. It may be read inside the `with` only."""
    with lock():
        stage = BUILD / f"lab/stage-{kernel.name}"
        if compile:
            compile_for(kernel)
        elif stage.exists():
            yield stage
            return
        fresh = stage.with_name(f"{stage.name}.new")  # a stage under its final name is complete
        for old in (stage, fresh):
            shutil.rmtree(old, ignore_errors=True)
        _make(roots.ensure("tool"), "install-programs", f"DESTDIR={fresh}")
        _for_tests("install", f"DESTDIR={fresh}")
        _make(kernel.root, "install-driver", _kdir(kernel), f"DESTDIR={fresh}")
        _settle(fresh)
        _depmod(kernel, fresh)
        fresh.rename(stage)
        yield stage
