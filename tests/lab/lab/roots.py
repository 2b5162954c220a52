# SPDX-License-Identifier: GPL-2.0-only
"""The lab's Debian trees, built once for all clones and kept in the cache (paths.py)."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import aptconf, enter, sources
from .errors import LabError
from .paths import CACHE, LAB, ROOTS, SOURCES

UNUSED = 14 * 24 * 3600
RECIPE = 2  # raise this number when this code makes different trees of the same lists
LEAN = [
    "--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*", '--aptopt=Acquire::Languages "none"',
]
# The kernel package that belongs to the headers, unpacked but not installed.
UNPACK_KERNEL = """--customize-hook=chroot "$1" sh -ec '
cd /tmp
version=$(dpkg-query -W -f "\\${Depends}" linux-headers-%s | grep -o "linux-headers-[^ ,]*" | head -n1)
version=${version#linux-headers-}
for part in image binary modules base; do # one package up to trixie, four since
	! apt-cache show "linux-$part-$version" >/dev/null 2>&1 || apt-get download -q "linux-$part-$version"
done
for deb in linux-*.deb; do dpkg-deb -x "$deb" /kernel; done
[ -e /kernel/lib ] || ln -s usr/lib /kernel/lib
image=/kernel/boot/vmlinuz-$version
[ -e "$image" ] || image=/kernel/lib/modules/$version/vmlinuz
cp "$image" /kernel/vmlinuz
echo "$version" >/kernel/version
rm linux-*.deb
'"""

# Packages for tests to install, and their dependencies
DOWNLOAD = """--customize-hook=chroot "$1" sh -ec '
apt-get clean
apt-get install -q -y --no-install-recommends --download-only %s
mkdir /srv/debs
mv /var/cache/apt/archives/*.deb /srv/debs
'"""


def sections() -> dict[str, Any]:
    with open(LAB / "roots.toml", "rb") as f:
        return tomllib.load(f)


def section(name: str) -> dict[str, Any]:
    """Returns the description of a tree: `tool`, `guest`, `bochs` or `kernel-NAME`."""
    table = sections()
    if name.startswith("kernel-"):
        return dict(table["kernel"][name.removeprefix("kernel-")])
    described = dict(table[name])
    if name == "tool":  # this tree also contains the kernel that has no tree of its own
        described.update(package=next(k["package"] for k in table["kernel"].values()
                                      if "build" not in k))
    return described


def key(name: str) -> str:
    text = json.dumps([RECIPE, section(name)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock while one process builds. Other processes wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def say(text: str) -> None:
    print(f"qvlab: {text}", file=sys.stderr, flush=True)


def make_once(place: Path, build: Callable[[Path], None], what: str) -> Path:
    """Returns `place`. If it does not exist, `build` makes it in a temporary folder next to it.

    The name contains a key of its sources, so a place that exists is complete and current, for each
    clone with the same sources. A folder that a maker left half done is removed, and so are
    places that no clone has used for UNUSED seconds.
    """
    if place.exists():
        os.utime(place)
        return place
    kind = place.name.rpartition("_")[0]
    with locked(place.parent / f"{kind}.lock"):
        if place.exists():
            return place
        fresh = place.parent / f"{kind}.new"
        _remove(fresh)
        start = time.monotonic()
        say(f"making {what} (once; kept in {CACHE})")
        fresh.mkdir(parents=True)
        try:
            build(fresh)
        except OSError as error:
            _remove(fresh)  # the disk may be full
            raise LabError(f"{what} is not made: {error}", "check the disk, then try again") from error
        for old in place.parent.glob("*_*"):
            if time.time() - old.stat().st_mtime > UNUSED:
                _remove(old)
        fresh.rename(place)
        say(f"{what}: ready after {time.monotonic() - start:.0f} s")
    return place


def _remove(tree: Path) -> None:
    """Removes a tree. Raises LabError if something is mounted inside."""
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    if f" {tree}/" in mounts:
        raise LabError(f"{tree} has something mounted inside", "unmount it, then try again")
    shutil.rmtree(tree, ignore_errors=True)


def bootstrap(name: str, target: Path) -> None:
    """Fills `target` with the Debian tree called `name`."""
    wanted = section(name)
    mirror, keyring = aptconf.mirror()
    packages = wanted.get("packages") or wanted["build"]
    if enter.HERE in os.environ:
        raise LabError(f"the {name} root is not made, and tests cannot make it",
                       "run tests/lab/qvlab setup first (--kernel NAME, --machine intel)")
    if not shutil.which("mmdebstrap"):
        raise LabError("mmdebstrap is not installed", "run 'make deps' as root")
    if os.geteuid() != 0:
        raise LabError("making Debian trees needs root", "run this as root")
    argv = ["mmdebstrap", "--verbose", "--mode=root", f"--variant={wanted.get('variant', 'minbase')}",
            *LEAN, *(f"--aptopt={o}" for o in aptconf.proxy_options()),
            f"--keyring={keyring}", f"--include={','.join(packages)}"]
    for suite, pinned in wanted.get("pin", {}).items():
        text = f"Package: {' '.join(pinned)}\\nPin: release n={suite}\\nPin-Priority: 900\\n"
        argv.append('--setup-hook=mkdir -p "$1/etc/apt/preferences.d" && '
                    f'printf "{text}" >"$1/etc/apt/preferences.d/{suite}"')
    if "package" in wanted:
        argv.append(UNPACK_KERNEL % wanted["package"])
    if "debs" in wanted:
        argv.append(DOWNLOAD % " ".join(wanted["debs"]))
    argv += [wanted["suites"][0], str(target)]
    argv += [f"deb [signed-by={keyring}] {mirror} {suite} main" for suite in wanted["suites"]]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        log = CACHE / "logs" / f"root-{name}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(done.stdout, encoding="utf-8")
        tail = "\n".join(done.stdout.splitlines()[-15:])
        raise LabError(f"mmdebstrap failed for the {name} root:\n{tail}\n",
                       f"the whole output is in {log}: check the network and the disk space, "
                       "then run the same command again")


def patch(tree: Path, name: str, file: str, find: str, put: str) -> None:
    """Mend a program in `tree`: the bytes `find`, which occur once, become `put`."""
    program = tree / file
    old, new = bytes.fromhex(find), bytes.fromhex(put)
    data = program.read_bytes()
    if len(old) != len(new) or data.count(old) != 1:
        raise LabError(f"{file} of the {name} root is another version than roots.toml mends: "
                       f"it holds the bytes {data.count(old)} times",
                       f"look at [[{name}.patch]] in tests/lab/roots.toml")
    program.write_bytes(data.replace(old, new))


def source(name: str) -> Path:
    """Returns the folder of a source package (roots.toml). Fetches it first if it does not exist."""
    wanted = sections()["source"][name]

    def build(fresh: Path) -> None:
        sources.fetch(name, wanted["suite"], fresh)
    return make_once(SOURCES / f"{name}_{wanted['refresh']}", build, f"the source of {name}")


def ensure(name: str) -> Path:
    """Returns the tree called `name`. Makes it first if it does not exist or is out of date, and
    fetches the source packages that are compiled there."""
    for needed, wanted in sections()["source"].items():
        if name in wanted["trees"]:
            source(needed)

    def build(fresh: Path) -> None:
        bootstrap(name, fresh)
        for mended in section(name).get("patch", []):
            patch(fresh, name, **mended)
    return make_once(ROOTS / f"{name}_{key(name)}", build, f"the {name} root")
