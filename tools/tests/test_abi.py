# SPDX-License-Identifier: GPL-2.0-only
"""Compares the package qv.abi with include/uapi/linux/qv.h, by a C program that includes the
header."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from qv import abi

TOP = Path(__file__).resolve().parents[2]
HEADER = TOP / "include/uapi/linux/qv.h"

STRUCTURES: dict[str, type[ctypes.Structure]] = {
    "qv_reply": abi.Reply, "qv_status_info": abi.StatusInfo, "qv_enable": abi.Enable, "qv_pool": abi.Pool, "qv_simple": abi.Simple,
    "qv_port_range": abi.PortRange, "qv_device": abi.PciDevice, "qv_channel_plan": abi.ChannelPlan,
    "qv_channel_open": abi.ChannelOpen, "qv_channel_key": abi.ChannelKey,
    "qv_cell_create": abi.CellCreate, "qv_cell_name": abi.CellName,
    "qv_cell_list": abi.CellList, "qv_failure_record": abi.FailureRecord, "qv_cell_info": abi.CellInfo,
    "qv_cell_sample": abi.CellSample, "qv_cell_memory": abi.CellMemory,
    "qv_cpu_stats": abi.CpuStats, "qv_stats": abi.Stats, "qv_log": abi.Log, "qv_cursor": abi.Cursor, "qv_event": abi.Event,
}
ENUMS = {"QV_BOOT_": abi.Boot, "QV_DMA_": abi.Dma, "QV_APIC_": abi.Apic, "QV_STATE_": abi.State, "QV_FAIL_": abi.Failure, "QV_EVENT_": abi.EventType,
         "QV_CPU_": abi.CpuState, "QV_LEVEL_": abi.DmaLevel}


def python_constants() -> dict[str, int]:
    constants = {f"{prefix}{member.name}": member.value for prefix, enum in ENUMS.items() for member in enum}
    constants |= {f"QV_{member.name}": member.value for member in abi.Reason}
    constants |= {f"QV_EXIT_{member.name}": member.value for member in abi.Exit}
    for name, value in vars(abi).items():
        if re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and isinstance(value, int) and name != "TYPE_CHECKING":
            constants[f"QV_{name}"] = value
    return constants


def header_constants() -> set[str]:
    source = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    names = set(re.findall(r"^#define\s+(QV_\w+)\s+\S", source, flags=re.M))
    for body in re.findall(r"enum qv_\w+\s*\{(.*?)\}", source, flags=re.S):
        names |= set(re.findall(r"\b(QV_\w+)\b", body))
    return names


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Returns sizes, offsets and constants of the header by name, as the C compiler computes
    them."""
    lines = []
    for c_name, structure in STRUCTURES.items():
        lines.append(f'P("{c_name}", sizeof(struct {c_name}));')
        for field in structure._fields_:
            lines.append(f'P("{c_name}.{field[0]}", offsetof(struct {c_name}, {field[0]}));')
            lines.append(f'P("{c_name}.{field[0]}#", sizeof(((struct {c_name} *)0)->{field[0]}));')
    lines += [f'P("{name}", {name});' for name in sorted(header_constants() - {"QV_FRONT_END"})]
    source = ('#include <stddef.h>\n#include <stdio.h>\n#include "linux/qv.h"\n'
              '#define P(name, value) printf("%s %llu\\n", name, (unsigned long long)(value))\n'
              "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    folder = tmp_path_factory.mktemp("abi")
    (folder / "abi.c").write_text(source)
    compiler = os.environ.get("CC") or shutil.which("gcc") or "cc"
    subprocess.run([*compiler.split(), "-idirafter", str(TOP / "include/uapi"), "-I", str(TOP / "include/uapi"),
                    "-o", folder / "abi", folder / "abi.c"], check=True)
    printed = subprocess.run([folder / "abi"], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in (line.split() for line in printed.splitlines())}


@pytest.mark.parametrize("c_name", STRUCTURES)
def test_structure(facts: dict[str, int], c_name: str) -> None:
    structure = STRUCTURES[c_name]
    assert ctypes.sizeof(structure) == facts[c_name]
    for field in structure._fields_:
        described = getattr(structure, field[0])
        assert described.offset == facts[f"{c_name}.{field[0]}"], field[0]
        assert described.size == facts[f"{c_name}.{field[0]}#"], field[0]


def test_every_structure_is_mirrored() -> None:
    defined = set(re.findall(r"struct (qv_\w+) \{", HEADER.read_text()))
    assert defined == set(STRUCTURES)


def test_every_constant_is_mirrored() -> None:
    ours = set(python_constants())
    assert header_constants() - {"QV_FRONT_END"} <= ours
    assert ours <= header_constants()


def test_constants(facts: dict[str, int]) -> None:
    assert {name: facts[name] for name in python_constants()} == python_constants()


def test_front_end() -> None:
    assert f'#define QV_FRONT_END\t"{abi.FRONT_END}"' in HEADER.read_text()


def test_calls_that_end_qv_are_the_same_in_all_versions() -> None:
    """A number has the size of its structure."""
    assert [hex(number) for number in (abi.IOC_DISABLE, abi.IOC_POOL, abi.IOC_CELL_DESTROY)] == [
        "0xc2085103", "0xc2285104", "0xc2305113"]
