# SPDX-License-Identifier: GPL-2.0-only
"""The conformance suite of inmates/erika: its page is current, and it finds a kernel that is wrong."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.bare import build_dir
from lab.paths import TOP

SUITE = TOP / "inmates/tests/erika"
sys.path.insert(0, str(SUITE))
import coverage  # noqa: E402


def test_table_has_each_case() -> None:
    text = coverage.page()
    cases = sum(len(coverage.read(name)) for name, _, _ in coverage.FAMILIES)
    assert cases > 400 and len(re.findall(r"(?m)^\| \w+ \d+ \|", text)) == cases, cases


def test_page_has_the_sizes_of_the_kernel() -> None:
    """Compilers differ by some bytes, so a figure may differ by 5 %."""
    printed = subprocess.run(["make", "-s", "-C", TOP / "inmates/erika", f"O={build_dir()}", "size"],
                             capture_output=True, text=True, check=True).stdout
    sizes = {name: int(size) for name, size in re.findall(r"(?m)^(.+): code (\d+), data \d+$", printed)}
    page = (TOP / "Documentation/reference/erika.md").read_text()
    shown = {name: int(size.replace(",", "")) for name, size in re.findall(r"(?m)^\| ([BE]CC.+?) \| ([\d,]+) \|", page)}
    assert sizes.keys() == shown.keys()
    assert all(abs(sizes[name] - shown[name]) <= 0.05 * shown[name] for name in sizes), sizes
    assert shown["BCC1 standard"] < 3072 and sizes["BCC1 standard"] < 3072


@pytest.mark.parametrize(("wrong", "said"), [
    ("tasks A1*\nA here\n", "context 0 runs, but next is `the end"),
    ("tasks A1* B2*\nA end; B end\n", "context 1 runs, but next is `A end"),
    ("tasks A1*\nA GetTaskState A -> READY; A end\n", "gives value 3"),
    ("tasks A1*\nA ActivateTask A; A end\n", "gives status 4"),
    ("tasks A1*e\nA WaitEvent 1; A end\n", "context 64 runs"),
])
def test_wrong_expectation_fails(tmp_path: Path, wrong: str, said: str) -> None:
    cases = tmp_path / "wrong.cases"
    cases.write_text(f"case wrong 1: an expectation that is wrong\n{wrong}")
    suite = build_dir() / "inmates/tests/erika-multi-extended"
    subprocess.run(["make", "-s", "-C", TOP / "inmates/tests", f"O={build_dir()}", suite], check=True)
    run = subprocess.run([suite, cases], capture_output=True, text=True)
    assert run.returncode == 1 and run.stdout.count("\nnot ok ") == 2 and said in run.stdout, run.stdout
