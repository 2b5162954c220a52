# SPDX-License-Identifier: GPL-2.0-only
"""make with the flags of an engineer's shell or of a distribution's build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from qv import VERSION

TOP = Path(__file__).resolve().parents[2]
OWN = "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"


@pytest.mark.parametrize(("folder", "made"), [("tools", "tools/quesh/buf.o"), ("lib", "lib/libqv.so.1")])
@pytest.mark.parametrize("flags", [
    {}, {"CFLAGS": "-g -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=3"},
], ids=["own", "given"])
def test_build_keeps_the_environment_s_hardening(tmp_path: Path, folder: str, made: str,
                                                 flags: dict[str, str]) -> None:
    clean = {name: value for name, value in os.environ.items()
             if name not in ("CFLAGS", "CPPFLAGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "-C", TOP / folder, f"O={tmp_path}", "V=1", tmp_path / made],
                          env=clean | flags, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (OWN in done.stdout) == ("FORTIFY" not in str(flags))


def test_install_looks_for_headers_before_it_compiles(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "-C", TOP, f"O={tmp_path / 'build'}", f"KDIR={tmp_path}", f"DESTDIR={tmp_path / 'to'}", "install"],
                          env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "install linux-headers-amd64" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_uninstall_without_a_list_says_so(tmp_path: Path) -> None:
    done = subprocess.run([TOP / "scripts/uninstall", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "remedy: make install, then make uninstall" in done.stderr


def test_uninstall_removes_files_of_an_earlier_version_and_no_others(tmp_path: Path) -> None:
    uninstall, command, to = TOP / "scripts/uninstall", tmp_path / "install", tmp_path / "to"
    (to / "usr/bin").mkdir(parents=True)
    for name in ("old", "new"):
        (to / "usr/bin" / name).touch()
        command.write_text(f'#!/bin/sh\nd=${{1#DESTDIR=}}\nmkdir -p "$d/usr/bin"\ntouch "$d/usr/bin/{name}"\n')
        command.chmod(0o755)
        subprocess.run([uninstall, "--list", to, "6.1.0-test", command], check=True)
    outside = tmp_path / "outside"
    outside.touch()
    with open(to / "usr/lib/qv/installed", "a", encoding="utf-8") as listed:
        listed.write("../outside\n")
    subprocess.run([uninstall, to], check=True)
    assert outside.exists() and list(to.iterdir()) == []


LANGUAGES = {"c": ("c99", "c11", "c17", "c2x"), "c++": ("c++11", "c++14", "c++17", "c++20")}


def test_installed_headers_compile_alone(tmp_path: Path) -> None:
    """A program includes them by their public names. That of libqv is for C and C++."""
    done = subprocess.run(["make", "-s", "-C", TOP / "lib", f"O={tmp_path / 'build'}", f"DESTDIR={tmp_path / 'to'}", "install"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    headers = tmp_path / "to/usr/include"
    names = sorted(str(path.relative_to(headers)) for path in headers.rglob("*.h"))
    assert {"linux/qv.h", "qv/cell.h", "qv/libqv.h", "qv/channel.h"} <= set(names)
    for name in names:
        done = subprocess.run(["gcc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", f"-I{headers}", "-x", "c", "-"],
                              input=f"#include <{name}>\n", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    for language, standards in LANGUAGES.items():
        for standard in standards:
            done = subprocess.run(["clang", f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                                   f"-I{headers}", "-x", language, "-"], input="#include <qv/libqv.h>\n",
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 0, (standard, done.stderr)


def test_qvctl_of_a_tree_that_is_not_built_names_the_command(tmp_path: Path) -> None:
    done = subprocess.run([TOP / "tools/qvctl", "status"], env={"O": str(tmp_path)},
                          stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "make -C tools abi" in done.stderr


def test_version_names_the_commit_that_was_built(tmp_path: Path) -> None:
    """With git it is the present commit, without it that of the source package, or none."""
    def built(tree: Path, given: str = "") -> str:
        clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        subprocess.run(["make", "-s", "-C", tree / "tools", f"O={tmp_path}", tmp_path / "tools/qv/built.py"],
                       env=clean | {"QV_COMMIT": given}, check=True)
        said = subprocess.run([sys.executable, "-c", "import generated, sys; from qv.cli import main; main(['--version'])"],
                              env=clean | {"O": str(tmp_path), "PYTHONPATH": str(tree / "tools"), "PYTHONDONTWRITEBYTECODE": "1"},
                              capture_output=True, text=True, check=True).stdout
        assert said.startswith(f"qvctl {VERSION}")
        return said.removeprefix(f"qvctl {VERSION}").strip()
    assert built(TOP, "0123456789ab") == "(commit 0123456789ab)"
    tree = tmp_path / "tree"
    for name in ("tools", "scripts"):
        shutil.copytree(TOP / name, tree / name)
    assert built(tree) == ""
    (tree / "revision").write_text("abc\n")
    assert built(tree) == "(commit abc)"
    if shutil.which("git"):
        def git(*words: str) -> str:
            return subprocess.run(["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b", *words],
                                  capture_output=True, text=True, check=True).stdout.strip()
        git("init", "-q")
        git("add", "revision")
        git("commit", "-qm", "a")
        assert built(tree) == f"(commit {git('rev-parse', '--short=12', 'HEAD')})"
        (tree / "revision").write_text("abcd\n")
        assert built(tree) == f"(commit {git('rev-parse', '--short=12', 'HEAD')}+)"
