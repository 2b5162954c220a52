# SPDX-License-Identifier: GPL-2.0-only
"""/etc/qv/qv.conf: the shipped file, its page, the units and the code know the same settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qv.cli.command import Arguments
from qv.cli.wanted import settings
from qv.keys import CellConfig
from qv.keys.unit import Restart

TOP = Path(__file__).resolve().parents[2]
UNITS = TOP / "tools/systemd"
PAGE = (TOP / "Documentation/reference/qv-conf.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(QV_\w+)` \|.*\| (.*) \|$", PAGE, re.MULTILINE))


def default(name: str) -> int:
    return int(ROWS[name].strip("`"))


def test_enable_is_the_last_step_of_the_service() -> None:
    """systemd calls no ExecStop= after a failed start, so a step after enable would leave QV enabled."""
    steps = re.findall(r"^ExecStart(?:Pre|Post)?=.*$", (UNITS / "qv.service").read_text(encoding="utf-8"), re.MULTILINE)
    assert [step for step in steps if "qvctl enable" in step] == steps[-1:]


def test_file_and_page_have_the_settings_that_are_read() -> None:
    read = set(re.findall(r"number\(\"(QV_\w+)\"", (TOP / "tools/qv/cli/wanted.py").read_text(encoding="utf-8")))
    read |= set(re.findall(r"\$\{?(QV_\w+)", (UNITS / "qv.service").read_text(encoding="utf-8")))
    read |= set(re.findall(r"\$\{?(QV_\w+)", (UNITS / "kvm").read_text(encoding="utf-8")))
    assert len(read) == 9
    assert set(re.findall(r"^#(QV_\w+)=", (UNITS / "qv.conf").read_text(encoding="utf-8"), re.MULTILINE)) == read
    assert set(ROWS) == read


def test_page_has_the_defaults() -> None:
    args = Arguments()
    args.restarts = args.timeout = None
    cell = CellConfig("quest.yaml")
    assert settings(cell, args, {}) == (
        Restart(*map(default, ("QV_RESTARTS", "QV_RESTART_FIRST_MS", "QV_RESTART_MOST_MS", "QV_RESTART_HEALTHY_MS"))),
        default("QV_STOP_MS"))
    assert f"Environment=QV_POOL={default('QV_POOL')} QV_CPUS=none QV_UNLOAD_KVM=yes\n" in (UNITS / "qv.service").read_text(encoding="utf-8")
    assert (ROWS["QV_CPUS"], ROWS["QV_UNLOAD_KVM"]) == ("`none`", "`yes`")


@pytest.mark.parametrize("option", re.findall(r"`(-[-a-z]+)", (TOP / "Documentation/reference/qvbench.md").read_text(encoding="utf-8")))
def test_qvbench_has_the_options_of_its_page(option: str) -> None:
    source = (TOP / "tools/qv/bench.py").read_text(encoding="utf-8")
    assert re.search(rf'add_argument\(\s*"{option}"', source)
