# SPDX-License-Identifier: GPL-2.0-only
"""libqv as `make install` leaves it: a program outside the tree, names and pages."""

import os
import re
import subprocess
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("O", LIB.parent / "build"))
PROGRAM = """\
#include <stdio.h>
#include <qv/libqv.h>
int main(void)
{
	struct qv_channel *c;
	int result = qv_open(&c, "sensor");

	printf("%d %s; %s\\n", result, qv_strerror(result), qv_detail());
	return 0;
}
"""


def run(*argv: str | Path, **environment: str) -> str:
    done = subprocess.run(argv, text=True, check=False, env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("stage")
    run("make", "-s", "-C", LIB, f"O={BUILD}", f"DESTDIR={place}", "install")
    return place


def exported() -> dict[str, str]:
    """Returns the version of each exported function."""
    table = run("objdump", "-T", BUILD / "lib/libqv.so.1")
    return {name: version for version, name in re.findall(r"g    DF \.text\s+\S+\s+(\S+)\s+(\w+)$", table, re.MULTILINE)}


def test_program_outside_the_tree_is_built_by_pkg_config(stage: Path, tmp_path: Path) -> None:
    found = {"PKG_CONFIG_SYSROOT_DIR": str(stage), "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1",
             "PKG_CONFIG_PATH": str(next(stage.rglob("pkgconfig")))}
    flags = run("pkg-config", "--cflags", "--libs", "libqv", **found).split()
    (tmp_path / "p.c").write_text(PROGRAM)
    for language in ("c", "c++"):
        if language == "c++" and subprocess.run(["which", "g++"], capture_output=True, check=False).returncode:
            continue
        run("gcc", "-x", language, "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{stage}/usr/include",
            "-o", tmp_path / "p", tmp_path / "p.c", *flags)
        said = run(tmp_path / "p", LD_LIBRARY_PATH=str(next(stage.rglob("libqv.so")).parent))
        assert said.startswith("-103 there is no such channel; ") and "/dev/qv-channel/sensor" in said


def test_exported_names_have_a_version() -> None:
    names = exported()
    assert len(names) > 30
    assert {name for name in names if not name.startswith("qv_")} == set()
    assert set(names.values()) == {"QV_1"}


def test_each_function_of_the_header_has_a_page(stage: Path) -> None:
    header = (LIB.parent / "include/qv/libqv.h").read_text()
    functions = set(re.findall(r"\b(qv_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)))
    functions -= {name for name in functions if name.startswith("qv_end_")}
    assert len(functions) > 25
    pages = {path.stem for path in (stage / "usr/share/man/man3").iterdir()}
    assert functions <= pages
    assert functions - {"qv_put", "qv_get"} <= set(exported())
    for name in functions:
        assert name in (stage / f"usr/share/man/man3/{name}.3").read_text()
