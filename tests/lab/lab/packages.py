# SPDX-License-Identifier: GPL-2.0-only
"""The Debian packages of this tree, built and checked in the package root."""

import hashlib
import os
import re
import shutil
from pathlib import Path

from . import enter, images, roots
from .errors import BuildError
from .paths import BUILD, TOP

OUT = BUILD / "deb"
# The kernels whose roots tests install the packages in: Debian 13 and 12
TARGET, OLDER_TARGET = "dkms", "dkms-12"
CLUTTER = {"build", "__pycache__"}
# Other files that have the version, and the text around it
VERSIONS = (("driver/main.c", 'MODULE_VERSION("', '")'), ("tools/qv/__init__.py", '\nVERSION = "', '"\n'))


def version() -> str:
    """Returns the version that debian/changelog names first."""
    first = (TOP / "debian/changelog").read_text(encoding="utf-8").splitlines()[0]
    found = re.fullmatch(r"qv \(([^)]+)\) .*", first)
    assert found, first
    return found[1]


def _copy(target: Path) -> None:
    """Copies the tree without what was built in it. Owners, modes and times do not depend on this
    checkout, since the source package contains them."""
    def clutter(folder: str, names: list[str]) -> set[str]:
        at_top = Path(folder) == TOP
        return {n for n in names if n in CLUTTER or n.endswith(".pyc") or (at_top and n.startswith("."))}
    shutil.copytree(TOP, target, symlinks=True, ignore=clutter)
    (target / "revision").write_text(f"{enter.commit()}\n", encoding="utf-8")
    stamp = 1_700_000_000
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (stamp, stamp), follow_symlinks=False)


def _release(tree: Path, newer: str) -> None:
    """Makes a copy of the tree one of a newer version."""
    log = tree / "debian/changelog"
    old = log.read_text(encoding="utf-8")
    latest = old.partition("\n -- ")[0] + "\n -- " + old.partition("\n -- ")[2].partition("\n")[0] + "\n"
    log.write_text(latest.replace(f"({version()})", f"({newer})") + "\n" + old, encoding="utf-8")
    for name, before, after in VERSIONS:
        file = tree / name
        text = file.read_text(encoding="utf-8")
        assert before + version() + after in text, name
        file.write_text(text.replace(before + version() + after, before + newer + after), encoding="utf-8")


def build(out: Path = OUT, newer: str = "") -> Path:
    """Builds the source and all binary packages into `out`, with an index for apt. With `newer` they
    are packages of that version. Returns `out`."""
    shutil.rmtree(out, ignore_errors=True)
    name = newer or version()
    tree = out / f"qv-{name}"
    _copy(tree)
    if newer:
        _release(tree, newer)
    # parallel= counts for debhelper's own steps and for make
    env = {"DEB_BUILD_OPTIONS": f"nocheck parallel={os.cpu_count() or 1}", "DEB_BUILD_MAINT_OPTIONS": ""}
    script = 'cd "$1" && dpkg-buildpackage -us -uc && cd .. && apt-ftparchive packages . >Packages'
    done = enter.run(roots.ensure("package"), ["/bin/sh", "-c", script, "sh", str(tree)], env)
    (out / "build.log").write_text(done.stdout, encoding="utf-8")
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-40:])
        raise BuildError(f"the packages do not build:\n{tail}\n", f"the whole output is in {out}/build.log")
    shutil.rmtree(tree)
    return out


def sums(folder: Path) -> dict[str, str]:
    """Returns the SHA-256 of each package in a folder, source and binary."""
    files = [*folder.glob("*.deb"), *folder.glob("*.dsc"), *folder.glob("*.tar.*")]
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(files)}


def lint(folder: Path) -> str:
    """Returns what lintian says about the packages. Empty: nothing."""
    script = 'cd "$1" && lintian --allow-root --fail-on none *.changes'
    done = enter.run(roots.ensure("package"), ["/bin/sh", "-c", script, "sh", str(folder)])
    return done.stdout.strip() or ("" if done.returncode == 0 else f"lintian ended with {done.returncode}")


def setup() -> None:
    """Makes the trees that the tests of the packages need."""
    roots.ensure("package")
    roots.ensure(f"kernel-{OLDER_TARGET}")
    images.kernel(TARGET)
    images.root_disk(f"kernel-{TARGET}")


def main() -> int:
    """Does what `make deb` does."""
    build()
    for name in sums(OUT):
        print(OUT / name)
    if found := lint(OUT):
        print(found)
        return 1
    return 0
