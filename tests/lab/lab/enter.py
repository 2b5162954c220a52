# SPDX-License-Identifier: GPL-2.0-only
"""Runs commands inside one of the lab's Debian trees.

The checkout, the cache and /tmp have the same paths inside and outside, so paths in arguments and
in compiler messages are valid on both sides. A command is killed when the process that started it
ends.
"""

import functools
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import LabError
from .limit import Limit
from .paths import CACHE, TOP

HERE = "QVLAB_ROOT"  # name of an environment variable: inside a tree it has that tree's path
# variables of the caller's environment that are passed on
PASSED = ["PROGRAMS", "QV_ITEMS", "QV_LIVES", "QV_SEED"]

_SCRIPT = """
set -e
root=$1 top=$2 cache=$3 cwd=$4
shift 4
mount --bind "$root" "$root"
for d in /dev /proc /sys /tmp; do mount --rbind "$d" "$root$d"; done
for d in "$top" "$cache"; do
	mkdir -p "$d" "$root$d"
	mount --bind "$d" "$root$d"
done
cd "$root"
exec chroot . /usr/bin/env -i --chdir="$cwd" "$@"
"""


@functools.cache
def commit() -> str:
    """Returns the commit of the tree, which has no git inside."""
    done = subprocess.run([TOP / "scripts/revision"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def environment(root: Path, extra: Mapping[str, str]) -> list[str]:
    """Returns the whole environment of a command in `root`."""
    fixed = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8",
        "TERM": os.environ.get("TERM", "dumb"), HERE: str(root),
        "QV_CACHE": str(CACHE), "QV_COMMIT": commit(),
    }
    passed = {k: os.environ[k] for k in PASSED if k in os.environ}
    return [f"{k}={v}" for k, v in {**fixed, **passed, **extra}.items()]


def check_mounts(mounts: str) -> None:
    """Raises LabError if `/` is not a mount point. Mount namespaces need a mount point there.
    `mounts` is the text of /proc/self/mountinfo."""
    if not any(line.split()[4] == "/" for line in mounts.splitlines()):
        raise LabError("this chroot's / is no mount point, so nothing can be mounted here for the lab alone",
                       "before entering it: mount --bind DIR DIR")


def command(root: Path, argv: Sequence[str], env: Mapping[str, str] | None = None,
            cwd: Path = TOP) -> list[str]:
    """Returns the command that runs `argv` in the tree `root`."""
    leash = ["setpriv", "--pdeathsig", "KILL"]
    settings = environment(root, env or {})
    if os.environ.get(HERE) == str(root):
        return [*leash, "env", "-i", f"--chdir={cwd}", *settings, *argv]
    check_mounts(Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace"))
    return [*leash, "unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", _SCRIPT,
            "enter", str(root), str(TOP), str(CACHE), str(cwd), *settings, *argv]


def run(root: Path, argv: Sequence[str], env: Mapping[str, str] | None = None,
        capture: bool = True, limit: float | None = None) -> "subprocess.CompletedProcess[str]":
    """Runs a command to its end, or for `limit` seconds: then it is killed, and the last line of its
    output says what was running. If captured, stdout and stderr are one string."""
    whole = command(root, argv, env)
    with subprocess.Popen(whole, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE if capture else None,
                          stderr=subprocess.STDOUT if capture else None) as process:
        watch = Limit(process.pid, limit)
        try:
            text = process.stdout.read() if process.stdout else ""
            process.wait()
        except BaseException:
            process.kill()
            raise
        finally:
            watch.over()
    return subprocess.CompletedProcess(whole, process.returncode, text + watch.sentence)


def shell(root: Path, script: str, *args: str) -> str:
    """Runs a shell script, which must succeed. Returns its output."""
    done = run(root, ["/bin/sh", "-ec", script, "sh", *args])
    if done.returncode:
        raise LabError(f"{shlex.quote(script)} in {root.name}: {done.stdout.strip()}",
                       f"remove {root} to have it made anew")
    return done.stdout
