# SPDX-License-Identifier: GPL-2.0-only
"""qvctl enable and cell create on a driver that exists only here."""

from __future__ import annotations

from pathlib import Path

from running import NO_MEMORY, Run, YAML

from qv import abi
from qv.errors import Refused


def test_create_enables_first(run: Run) -> None:
    run.create()
    assert run.device.calls == ["enable", "create"]
    assert "cell quest is created" in run.out


def test_cpus_outside_are_a_level_that_is_named(run: Run) -> None:
    run.device.outside = 2
    assert run("enable", "--strict") == 0
    assert run.device.calls == ["enable --strict"]
    assert "level: CPUs outside (2): offline" in run.out
    assert run("status") == 0 and "level: CPUs outside (2): offline" in run.out
    assert run.json("--json", "status")["cpus_outside"] == 2
    run.device.outside = 0
    assert run("status") == 0 and "outside" not in run.out


def test_create_leaves_enabled_as_it_is(run: Run) -> None:
    run.device.enabled = True
    run.create("--start")
    assert run.device.calls == ["create", "start"]
    assert run.device.cells["quest"].state == abi.State.RUNNING


def test_refused_create_is_undone(run: Run) -> None:
    run.device.refuse["create"] = NO_MEMORY
    assert run("cell", "create", str(run.yaml)) == 1
    assert run.err == "qvctl: there are only 20M in 2M pages\n  remedy: end programs\n"
    assert run.device.calls == ["enable", "create", "disable"]
    assert not run.device.enabled


def test_refused_start_is_undone(run: Run) -> None:
    run.device.enabled = True
    run.device.refuse["start"] = NO_MEMORY
    assert run("cell", "create", str(run.yaml), "--start") == 1
    assert run.device.calls == ["create", "start", "destroy"]


def test_wrong_configuration_changes_nothing(run: Run) -> None:
    run.yaml.write_text(YAML + "colour: red\n")
    assert run("cell", "create", str(run.yaml)) == 2
    assert run.err.startswith(f"{run.yaml}:5:1: colour: is not a known key (")
    assert run.device.calls == []


def test_an_image_that_is_none_takes_nothing(run: Run) -> None:
    (run.yaml.parent / "quest.elf").write_text("no kernel")
    assert run("cell", "create", str(run.yaml)) == 2
    assert "quest.elf is not an ELF file (a multiboot2 kernel, such as quest.elf)" in run.err
    assert run.device.calls == []


def test_modules_go_with_the_request(run: Run) -> None:
    """Their contents in the order of the file. `cell show` lists them, `cell export` names them."""
    (run.yaml.parent / "hello").write_bytes(b"program")
    (run.yaml.parent / "more.cpio").write_bytes(b"an archive")
    run.yaml.write_text(YAML + "modules: [{file: hello, args: hello 1 2}, more.cpio]\n")
    run.create()
    assert run.json("--json", "cell", "show", "quest")["modules"] == [
        {"args": "hello 1 2", "bytes": 7}, {"args": "more.cpio", "bytes": 10}]
    assert run("cell", "show", "quest") == 0
    assert "hello 1 2 (7 bytes)" in run.out and "more.cpio (10 bytes)" in run.out
    assert run("cell", "export", "quest") == 0
    assert '- {file: "hello", args: "hello 1 2"}' in run.out


def test_a_module_that_vanishes_takes_nothing(run: Run) -> None:
    run.yaml.write_text(YAML + "modules: [hello]\n")
    assert run("cell", "create", str(run.yaml)) == 2
    assert f": modules: there is no file {run.yaml.parent}/hello (an existing file; sought next to this YAML file)" in run.err
    assert run.device.calls == []


def test_vcpus_that_are_refused_never_reach_create(run: Run) -> None:
    run.yaml.write_text(YAML + "vcpus: [{name: a, C: 20ms, T: 100ms}, {name: b, C: 30ms, T: 100ms}]\n")
    assert run("cell", "create", str(run.yaml)) == 2
    assert ": vcpus: with Quest's own they load the CPU with 76.0 %, above the bound" in run.err
    assert run.device.calls == []


def test_direct_ipis_are_a_level_that_is_named(run: Run) -> None:
    assert run("enable", "--ipi", "direct") == 0 and run.device.ipi_direct
    assert "level: IPIs of Linux are direct" in run.out
    assert run("status") == 0 and "level: IPIs of Linux are direct" in run.out
    assert run("cell", "list") == 0 and "level: IPIs of Linux are direct" in run.out
    assert run.json("--json", "status")["ipi"] == run.json("--json", "cell", "list")["linux_ipi"] == "direct"
    run.device.ipi_direct = False
    assert run.json("--json", "status")["ipi"] == run.json("--json", "cell", "list")["linux_ipi"] == "filtered"
    assert run("status") == 0 and "direct" not in run.out
    assert run("enable", "--ipi", "fast") == 2 and "not a way to send IPIs (direct or filtered)" in run.err


def test_enable_takes_the_iommu_where_it_can(run: Run) -> None:
    """The options are the driver's flags. The level, with its reason, is said in each case."""
    assert run("enable") == 0 and "level: DMA none" in run.out and "the machine has no IOMMU" in run.out
    assert run("enable", "--iommu") == 1 and "leave out --iommu" in run.err
    run.device.without_iommu = b""
    assert run("enable", "--no-iommu", "--iommu") == 0 and "level: DMA full" in run.out
    assert run.json("enable", "--json")["dma_level"] == "full"
    assert run("enable") == 0 and "crash kernel" not in run.out
    loaded = Path(run.system.root) / "sys/kernel/kexec_crash_loaded"
    loaded.parent.mkdir(parents=True, exist_ok=True)
    loaded.write_text("1\n")
    assert run("enable") == 0 and "the crash kernel that is loaded would hang" in run.out
    assert run("enable", "--no-iommu") == 0 and "QV was enabled with --no-iommu" in run.out
    assert "crash kernel" not in run.out
    run.device.refuse["enable"] = Refused("QV is enabled already", "-", abi.Reason.E_ENABLED)
    assert run("enable") == 0 and "enabled already" in run.out and "level: DMA none" in run.out
    assert run("enable", "--no-iommu") == 0, "as it is"
    assert run("enable", "--iommu") == 1, "it is enabled otherwise"


def test_direct_ipis_of_a_cell_are_shown(run: Run) -> None:
    run.yaml.write_text(run.yaml.read_text() + "ipi: direct\n")
    run.create()
    assert run("cell", "list") == 0 and "x2APIC!DIRECT-IPI" in run.out
    assert run("cell", "show", "quest") == 0 and "ipi:         direct" in run.out
    assert run.json("--json", "cell", "show", "quest")["ipi"] == "direct"
