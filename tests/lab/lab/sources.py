# SPDX-License-Identifier: GPL-2.0-only
"""Source packages of Debian, which are compiled into what this tree builds."""

import lzma
import os
import subprocess
import tempfile
from pathlib import Path

from . import aptconf, enter
from .errors import LabError


def _run(*argv: str, cwd: Path) -> None:
    done = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-15:])
        raise LabError(f"{argv[0]} failed for a source package:\n{tail}\n",
                       "check the network and the disk space, then run the same command again")


def _download(package: str, suite: str, folder: Path) -> None:
    """apt checks the signature of the suite, and by it the sums of the files."""
    mirror, keyring = aptconf.mirror()
    (folder / "lists/partial").mkdir(parents=True)
    (folder / "sources.list").write_text(f"deb-src [signed-by={keyring}] {mirror} {suite} main\n",
                                         encoding="utf-8")
    options = [f"-oDir::Etc::SourceList={folder}/sources.list", "-oDir::Etc::SourceParts=-",
               f"-oDir::State::Lists={folder}/lists", f"-oDir::Cache={folder}", "-oAPT::Sandbox::User=root"]
    _run("apt-get", *options, "--error-on=any", "update", cwd=folder)
    _run("apt-get", *options, "source", "--download-only", package, cwd=folder)


def _unpack(archive: Path, target: Path, *options: str) -> None:
    """Unpacks without the program xz, which this machine may lack."""
    subprocess.run(["tar", "-x", "-C", str(target), "--no-same-owner", *options],
                   input=lzma.decompress(archive.read_bytes()), check=True)


def fetch(package: str, suite: str, target: Path) -> None:
    """Fills `target` with the source of a package of `suite`, with Debian's patches."""
    if enter.HERE in os.environ:
        raise LabError(f"the source of {package} is not there, and tests cannot fetch it",
                       "run tests/lab/qvlab setup first")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _download(package, suite, folder)
        _unpack(next(folder.glob("*.orig.tar.xz")), target, "--strip-components=1")
        _unpack(next(folder.glob("*.debian.tar.xz")), target)
    patches = target / "debian/patches"
    for line in (patches / "series").read_text(encoding="utf-8").splitlines():
        if name := line.split("#")[0].strip():
            # outside of every repository, git applies a patch to the files of its folder
            _run("env", f"GIT_CEILING_DIRECTORIES={target.parent}", "git", "apply", "-p1", str(patches / name), cwd=target)
