# SPDX-License-Identifier: GPL-2.0-only
"""The YAML checker: each bad file gives exactly the messages its first lines expect."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from qv import abi, config, keys, nodes, schedule
from qv.admission import Vcpu
from qv.keys import vcpus
from qv.machine import Machine, Taken, parse_cpu_list

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]
MIB = 1 << 20
MACHINE = Machine(frozenset(range(4)), 2048 * MIB, 1700 * MIB, (Path("images"),))
TINY = (HERE / "good/tiny.elf").read_bytes()     # a multiboot2 kernel of 152 bytes, which halts
BAD = sorted((HERE / "bad").glob("*.yaml"))
GOOD = sorted((HERE / "good").glob("*.yaml"))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


def expected(path: Path) -> list[str]:
    """Returns the messages that the file expects. KEYS in a message means the names of all keys."""
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    return [line.removeprefix("# expect: ").replace("(one of KEYS)", f"(one of {', '.join(keys.BY_NAME)})")
            for line in lines if line.startswith("# expect: ")]


def messages(*files: str, machine: Machine = MACHINE) -> list[str]:
    return [str(problem) for problem in config.check_files(files, machine)[1]]


def read(name: str) -> config.CellConfig:
    found, problems = config.check_files([name], MACHINE)
    assert not problems
    return found[0]


def test_bad_files_are_many() -> None:
    assert len(BAD) >= 40


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad(path: Path) -> None:
    name = f"bad/{path.name}"
    wanted = [f"{name}:{line}" for line in expected(path)]
    assert wanted, "a bad file says what to expect"
    assert messages(name) == wanted


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good(path: Path) -> None:
    assert messages(f"good/{path.name}") == []


def test_defaults() -> None:
    cell = read("good/smallest.yaml")
    assert (cell.name, cell.cpus, cell.memory) == ("quest", [3], 64 * MIB)
    assert (cell.boot, cell.cmdline, cell.console, cell.ports) == ("multiboot2", "", True, [])
    assert (cell.watchdog, cell.lock) == (3000, abi.Lock.NEVER)
    assert (cell.bell_rate, cell.debug) == (10, False)
    assert (cell.apic, read("good/apic-machine.yaml").apic) == (abi.Apic.BEST, abi.Apic.MACHINE)
    assert cell.image == "good/tiny.elf"


def test_block_scalar_ends_without_a_line_feed() -> None:
    cell = read("good/block-scalar.yaml")
    assert (cell.name, cell.memory, cell.image) == ("quest", 64 * MIB, "good/tiny.elf")
    assert cell.cmdline == "loglevel=3 vcpu=control,main,2ms,10ms"
    assert cell.modules[1].args == "verbose level=3"


def test_everything() -> None:
    cell = read("good/everything.yaml")
    assert (cell.cpus, cell.memory, cell.console) == ([1, 2], 1024 * MIB, False)
    assert cell.cmdline == "verbose level=3"
    assert cell.ports == [(0x3f8, 0x3ff), (0x80, 0x80)]
    assert (cell.watchdog, cell.lock, cell.bell_rate, cell.debug) == (500, abi.Lock.START, 4, True)


def test_direct_ipis_void_the_lock_of_another_file() -> None:
    """In either order of the files. The request has the choice."""
    direct, locked = "good/ipi.yaml", "good/everything.yaml"
    assert any("ipi: direct IPIs would void the lock of quest in" in m for m in messages(locked, direct))
    assert any("lock: the direct IPIs of direct in" in m for m in messages(direct, locked))
    assert (read(direct).request().ipi, read(locked).request().ipi) == (1, 0)


def test_direct_ipis_come_before_cells_without() -> None:
    """Cells are created in the order of the files. With direct IPIs of Linux the order is free."""
    direct, filtered = "good/ipi.yaml", "good/smallest.yaml"
    assert messages(filtered, direct) == [
        f"{direct}:7:6: ipi: direct IPIs would reach quest in {filtered}, which is without them "
        "(create it before cells without direct IPIs, or: qvctl enable --ipi direct)"]
    assert messages(direct, filtered) == []
    linux = Machine(MACHINE.cpus, MACHINE.mem_total, MACHINE.mem_available,
                    MACHINE.image_dirs, ipi=True)
    assert messages(filtered, direct, machine=linux) == []


def test_keys_are_those_of_the_page() -> None:
    """The rows of the table in configuration.md. The table says which keys are required."""
    page = (TOP / "Documentation/reference/configuration.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \| (.*?) \| (.*?) ?\|$", page, re.M)
    assert rows == [(key.name, key.meaning, key.value, key.default) for key in keys.TABLE]
    *most, last = [f"`{key.name}`" for key in keys.TABLE if key.required]
    assert f"{', '.join(most)} and {last} must be given" in page


def test_script_writes_the_table_of_the_page(tmp_path: Path) -> None:
    """The script restores a row that is missing, and changes nothing else."""
    page = (TOP / "Documentation/reference/configuration.md").read_text()
    copy = tmp_path / "page.md"
    copy.write_text(re.sub(r"^\| `bell-rate` .*\n", "", page, flags=re.M))
    assert copy.read_text() != page
    subprocess.run([TOP / "scripts/keys", copy], check=True)
    assert copy.read_text() == page


def test_keys_of_the_unit() -> None:
    cell = read("good/unit.yaml")
    assert (cell.after, cell.requires, cell.before()) == (["camera"], ["camera", "planner"], ["camera", "planner"])
    assert cell.restart is not None and vars(cell.restart) == {"limit": 10, "first": 50, "most": 60_000, "healthy": 60_000}
    assert (cell.ready, cell.stop) == ("flag", 0)
    held, usual = read("good/unit-hold.yaml"), read("good/smallest.yaml")
    assert held.restart is not None and (held.restart.limit, held.ready) == (0, "start")
    assert (usual.restart, usual.stop, usual.ready) == (None, None, "auto")


def test_each_key_has_a_field_and_a_file() -> None:
    fields = set(vars(config.CellConfig("file"))) - {"file", "at"}
    assert fields == {key.field() for key in keys.TABLE}
    files = {path.stem for path in (TOP / "tools/qv/keys").glob("*.py")} - {"__init__", "key", "channel_owner"}
    files = files - {"unit"} | {"after", "requires", "restart", "on_failure", "ready", "stop"}
    assert files == fields - {"boot", "admission"}, "boot is in image.py, admission in vcpus.py, those of the unit in unit.py"


def test_vcpus() -> None:
    cell = read("good/vcpus.yaml")
    assert cell.vcpus == [vcpus.Named("control", Vcpu(2000, 10000)), vcpus.Named("nic", Vcpu(500, 1000000, io=True))]
    assert (cell.admission, read("good/vcpus-exact.yaml").admission) == ("bound", "exact")


def test_vcpus_of_quest_may_be_set_or_dropped() -> None:
    """The set of figure 4.3 is admitted if Quest's own VCPUs have no budget. The types of Quest's
    own VCPUs are known."""
    cell = read("good/vcpus-own.yaml")
    assert cell.vcpus[:4] == [vcpus.Named("best-effort", None), vcpus.Named("shell", Vcpu(1000, 100000)),
                              vcpus.Named("input", Vcpu(10, 10000, io=True)), vcpus.Named("system", None)]
    assert cell.command_line().startswith("vcpu=best-effort,none vcpu=shell,main,1ms,100ms vcpu=input,io,10us,10ms vcpu=system,none vcpu=one,")
    found = schedule.facts(cell)
    assert [v["name"] for v in found["vcpus"]] == ["best-effort", "system", "shell", "input", "one", "two", "nic", "batch"]
    assert [v["type"] for v in found["vcpus"]] == ["none", "none", "main", "io", "main", "main", "io", "none"]
    assert found["load"] == pytest.approx(.01 + 1.999 * .001 + .25 + .40 + 1.96 * .04) and found["commands"] == 0
    assert vcpus.refusal([v for v in cell.vcpus if v.name != "best-effort"], "bound")


def test_vcpus_are_passed_on_the_command_line() -> None:
    """VCPUs are words in the form that inmates/quest/kernel/vcpu/vcpuword.c reads, after the words
    of `cmdline`."""
    words = "vcpu=control,main,2ms,10ms vcpu=nic,io,500us,1s"
    assert read("good/vcpus.yaml").request().cmdline.decode() == words
    assert read("good/vcpus-exact.yaml").request().cmdline.decode() == "admission=exact vcpu=a,main,40ms,100ms"
    cell = read("good/vcpus-cmdline.yaml")
    assert (cell.admission, cell.command_line()) == ("exact", "verbose admission=exact vcpu=a,main,40ms,100ms")
    assert read("good/smallest.yaml").command_line() == ""
    assert [vcpus.written(us) for us in (1, 999, 1000, 1500, 60000, 999000, 1000000, 1000001)] == [
        "1us", "999us", "1ms", "1500us", "60ms", "999ms", "1s", "1000001us"]


def test_classes_of_an_io_vcpu(tmp_path: Path) -> None:
    """The classes of the kernel are accepted once each, and for an I/O VCPU only."""
    def reported(kind: str) -> list[str]:
        file = tmp_path / "class.yaml"
        file.write_text((HERE / "good/smallest.yaml").read_text() + f"vcpus: [{{name: a, C: 1ms, T: 1s, type: {kind}}}]\n")
        (tmp_path / "tiny.elf").write_bytes(TINY)
        return messages(str(file)) or [read(str(file)).command_line()]
    assert reported("io.net") == ["vcpu=a,io.net,1ms,1s"] and reported("io.usb.input") == ["vcpu=a,io.usb.input,1ms,1s"]
    for kind in ("io.", "io.nets", "main.net", "io.net.net", "io.io", ".net"):
        assert f"`{kind}` is not a type of VCPU" in reported(kind)[0]
    source = (TOP / "inmates/quest/kernel/vcpu/iovcpu.c").read_text()
    assert tuple(re.findall(r'\{ "(\w+)", IOVCPU_CLASS_', source)) == vcpus.CLASSES


def test_a_command_line_may_be_full(tmp_path: Path) -> None:
    """A value of 1023 bytes is accepted, and a value of 1024 bytes is reported."""
    def reported(length: int) -> list[str]:
        file = tmp_path / "full.yaml"
        words = "vcpu=a,main,1ms,1s"
        file.write_text((HERE / "good/smallest.yaml").read_text() + "vcpus: [{name: a, C: 1ms, T: 1s}]\n"
                        + f"cmdline: {'x' * (length - len(words) - 1)}\n")
        (tmp_path / "tiny.elf").write_bytes(TINY)
        return messages(str(file))
    assert reported(abi.CMDLINE_LEN - 1) == []
    assert "vcpus: makes a command line of 1024 bytes" in reported(abi.CMDLINE_LEN)[0]


def test_facts_of_a_schedule() -> None:
    """C and T of Quest's own VCPUs, then of the others; a response time computed by hand.

    It is 2 ms of `control`, plus the I/O VCPUs: 2 % (twice 200 us) and nic (twice 5 us).
    """
    found = schedule.facts(read("good/vcpus.yaml"))
    assert [v["name"] for v in found["vcpus"]] == [*vcpus.OWN, "control", "nic"]
    control, nic = found["vcpus"][-2:]
    assert (control["budget_us"], control["period_us"], control["response_us"], control["load"]) == (2000, 10000, 2410, 0.2)
    assert (nic["type"], nic["response_us"]) == ("io", None)
    assert found["load"] == pytest.approx(0.1 + 0.02 + 0.1 + 1.98 * 0.02 + 0.2 + (2 - 0.0005) * 0.0005)
    assert found["commands"] == 1 and schedule.facts(read("good/smallest.yaml"))["commands"] == 2
    assert found["bound"] == pytest.approx(4 * (2 ** (1 / 4) - 1))


def test_exact_admission_admits_more() -> None:
    many = [vcpus.Named(str(i), Vcpu(20, 100)) for i in range(3)]
    assert vcpus.refusal(many, "bound") and not vcpus.refusal(many, "exact")


def test_vcpus_of_quest_are_those_of_the_kernel() -> None:
    source = (TOP / "inmates/quest/kernel/vcpu/vcpu.c").read_text()
    rows = re.findall(r'= \{ "([\w-]+)", (MAIN|IO)_VCPU, (\d+), (\d+) \}', source)
    assert {name: Vcpu(int(c), int(t), kind == "IO") for name, kind, c, t in rows} == vcpus.OWN


def test_commands_have_the_vcpus_of_the_kernel() -> None:
    source = (TOP / "inmates/quest/kernel/vcpu/uservcpu.h").read_text()
    c, t = (int(re.search(rf"#define COMMAND_{x}\s+(\d+)", source)[1]) * 1000 for x in "CT")
    assert schedule.COMMAND == Vcpu(c, t)


def test_modules() -> None:
    cell = read("good/modules.yaml")
    assert [(module.path, module.args) for module in cell.modules] == [
        ("good/tiny.elf", "tiny.elf"), ("good/tiny.elf", "hello 1 2"), ("good/../good/tiny.elf", "other")]
    request = cell.request()
    assert [module.args for module in request.modules[:request.num_modules]] == [b"tiny.elf", b"hello 1 2", b"other"]


@pytest.mark.parametrize(("length", "wrong"), [
    (63 << 20, None), ((63 << 20) + 1, ["6:10: modules: need 64516 KiB, and the cell's memory of 64M has the image, too"
                                        " (more `memory`, or smaller modules)"]),
    ((256 << 20) + 1, ["6:11: modules: {folder}/big has more than 256M (a readable file of at most 256M)"])])
def test_modules_that_cannot_fit(tmp_path: Path, length: int, wrong: list[str] | None) -> None:
    file = tmp_path / "big.yaml"
    file.write_text((HERE / "good/smallest.yaml").read_text() + "modules: [big]\n")
    (tmp_path / "tiny.elf").write_bytes(TINY)
    with open(tmp_path / "big", "wb") as stream:
        stream.truncate(length)
    assert messages(str(file)) == [f"{file}:{m.format(folder=tmp_path)}" for m in wrong or []]


def test_no_watchdog() -> None:
    cell = read("good/watchdog-off.yaml")
    assert (cell.watchdog, cell.lock) == (0, abi.Lock.MAY)


def test_image_is_found_next_to_the_file_or_in_the_images_folder() -> None:
    assert read("good/images-folder.yaml").image == "images/shared.elf"


def test_link_to_an_image_is_followed(tmp_path: Path) -> None:
    """As of a name that stays to versions that change. A link to nothing is named."""
    (tmp_path / "quest-2.elf").write_bytes(TINY)
    (tmp_path / "quest.elf").symlink_to("quest-2.elf")
    file = tmp_path / "cell.yaml"
    file.write_text("name: quest\ncpus: [3]\nmemory: 64M\nimage: quest.elf\n")
    assert messages(str(file)) == []
    (tmp_path / "quest-2.elf").unlink()
    assert messages(str(file)) == [f"{file}:4:8: image: {tmp_path}/quest.elf is a link to nothing (the file of a kernel)"]


def test_request_to_the_driver() -> None:
    request = read("good/everything.yaml").request()
    assert (request.name, list(request.cpus)[:3], request.num_cpus) == (b"quest", [1, 2, 0], 2)
    assert (request.memory, request.boot, request.console) == (1024 * MIB, abi.Boot.MULTIBOOT2, 0)
    assert (request.num_ports, request.ports[0].first, request.ports[0].last) == (2, 0x3f8, 0x3ff)
    assert (request.watchdog_ms, request.lock) == (500, abi.Lock.START)
    assert (request.bell_rate, request.debug) == (4, 1)
    assert (request.image_name, request.cmdline) == (b"tiny.elf", b"verbose level=3")
    smallest = read("good/smallest.yaml").request()
    assert (request.apic, smallest.apic) == (abi.Apic.X2APIC, abi.Apic.BEST)
    assert (request.dma_level, smallest.dma_level) == (abi.DmaLevel.FULL, abi.DmaLevel.NONE)


def test_between_files() -> None:
    assert messages("across/a.yaml", "across/b.yaml", "across/c.yaml") == [
        "across/b.yaml:2:7: name: `first` is also the name of the cell in across/a.yaml "
        "(a name of its own for each cell)",
        "across/b.yaml:3:7: cpus: CPU 2 is also given to first in across/a.yaml (each CPU to one cell)",
        "across/b.yaml:6:8: ports: 0x3fc overlaps 0x3f8-0x3ff of first in across/a.yaml (each port to one cell)",
        "across/c.yaml:3:7: cpus: CPU 3 is also given to first in across/b.yaml (each CPU to one cell)",
        "across/c.yaml:4:9: memory: all 3 cells together want 2100M (at most 1700M, which is free now)",
    ]


def test_ports_of_a_device_and_of_a_list(tmp_path: Path) -> None:
    """The order of files does not matter. A function given twice is reported once."""
    head = f"memory: 4M\nimage: {HERE}/images/shared.elf\n"
    (tmp_path / "list.yaml").write_text(f"name: list\ncpus: [1]\n{head}ports: [0xc004]\n")
    (tmp_path / "device.yaml").write_text(f"name: device\ncpus: [2]\n{head}devices: [{{pci: \"00:12.0\", dma: off}}]\n")
    (tmp_path / "twice.yaml").write_text(f"name: twice\ncpus: [3]\n{head}devices: [{{pci: \"00:12.0\", dma: off}}]\n")
    machine = Machine(MACHINE.cpus, MACHINE.mem_total, MACHINE.mem_available, pci_folder=str(tmp_path / "pci"))
    (tmp_path / "pci/0000:00:12.0").mkdir(parents=True)
    (tmp_path / "pci/0000:00:12.0/resource").write_text("0xc000 0xc007 0x40101\n")
    one, two, three = (str(tmp_path / f"{name}.yaml") for name in ("list", "device", "twice"))
    assert messages(one, two, machine=machine) == [
        f"{two}:5:10: devices: 0xc000-0xc007 of 00:12.0 overlaps 0xc004 of list in {one} (each port to one cell)"]
    assert messages(two, one, machine=machine) == [
        f"{one}:5:8: ports: 0xc004 overlaps 0xc000-0xc007 of 00:12.0 of device in {two} (each port to one cell)"]
    assert messages(two, three, machine=machine) == [
        f"{three}:5:10: devices: 00:12.0 is also given to device in {two} (each PCI function to one cell)"]


def test_heir_of_a_function(tmp_path: Path) -> None:
    """Two cells name one function, if one of them waits for it. The ports are of the other cell."""
    def write(name: str, cpu: int, device: str) -> str:
        path = tmp_path / f"{name}.yaml"
        path.write_text(f"name: {name}\ncpus: [{cpu}]\nmemory: 4M\nimage: {HERE}/images/shared.elf\ndevices: [{device}]\n")
        return str(path)
    machine = Machine(MACHINE.cpus, MACHINE.mem_total, MACHINE.mem_available,
                      pci_folder=str(tmp_path / "pci"))
    (tmp_path / "pci/0000:00:12.0").mkdir(parents=True)
    (tmp_path / "pci/0000:00:12.0/resource").write_text("0xc000 0xc007 0x40101\n")
    first = write("first", 1, '{pci: "00:12.0", dma: protected}')
    heir = write("heir", 2, '{pci: "00:12.0", heir-of: first}')
    assert messages(first, heir, machine=machine) == messages(heir, first, machine=machine) == []
    third = write("third", 3, '{pci: "00:12.0", heir-of: first}')
    assert messages(first, heir, third, machine=machine) == []
    other = write("other", 2, '{pci: "00:13.0", heir-of: first}')
    assert messages(first, other, machine=machine) == [
        f"{other}:5:10: devices: 00:13.0 is not given to first in {first} "
        "(`heir-of: CELL` with a cell that lists the function)"]
    for word in ("dma: off", "unsafe-dma: true"):
        both = write("both", 2, f'{{pci: "00:12.0", heir-of: first, {word}}}')
        key = word.partition(":")[0]
        assert f"`{key}` and `heir-of` exclude each other" in messages(both, machine=machine)[0]
    own = config.check_files([write("own", 2, '{pci: "00:12.0", heir-of: own}')], machine)[0]
    assert [(p.key, p.wrong) for p in config.taken(own[0], machine)] == [
        ("devices", "00:12.0 cannot come from the cell itself")]
    held = Machine(MACHINE.cpus, MACHINE.mem_total, MACHINE.mem_available,
                   cells=(Taken("first", [1], [], []), Taken("second", [1], [], [0x90])))
    for holder, problems in (("second", []), ("first", [
            ("devices", "00:12.0 is the cell second's, not the cell first's", "`heir-of: second`")])):
        waits = config.check_files([write("waits", 3, f'{{pci: "00:12.0", heir-of: {holder}}}')], machine)[0]
        assert [(p.key, p.wrong, p.right) for p in config.taken(waits[0], held)] == problems
    wrong = write("wrong", 2, '{pci: "00:12.0", heir-of: First!}')
    assert "`First!` is not a cell name" in messages(wrong, machine=machine)[0]


def test_each_file_is_checked_by_itself_too() -> None:
    assert len(messages("bad/cpus-zero.yaml", "bad/name-empty.yaml")) == 2


def test_missing_file_is_reported() -> None:
    assert messages("nowhere.yaml") == [
        "nowhere.yaml:1:1: file: cannot be read: no such file or directory (the path of a readable YAML file)"]


def test_large_file_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text("# " + "x" * (64 << 10))
    assert messages(str(file)) == [f"{file}:1:1: file: is larger than 64 KiB (one cell, some 20 lines)"]


@pytest.mark.parametrize("text, place", [
    ('name: q\nimage: "a\\U00110000"\n', "2:10"),
    ("%YAML " + "9" * 5000 + ".1\n--- {name: q}\n", "1:1"),
])
def test_values_that_python_cannot_make_are_reported(tmp_path: Path, text: str, place: str) -> None:
    """PyYAML does not report them as errors of the file."""
    file = tmp_path / "odd.yaml"
    file.write_text(text)
    assert messages(str(file)) == [f"{file}:{place}: yaml: an escape is no character, or a number is too long "
                                   "(a character up to \\U0010FFFF)"]


def test_deep_nesting_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "deep.yaml"
    file.write_text("[" * 5000)
    assert ":1:1: yaml: is nested too deeply" in messages(str(file))[0]


def test_machine_with_one_cpu() -> None:
    machine = Machine(frozenset({0}), 2048 * MIB, 1700 * MIB, (Path("images"),))
    assert messages("good/smallest.yaml", machine=machine) == [
        "good/smallest.yaml:3:8: cpus: CPU 3 does not exist here (a machine with more CPUs)"]


def test_machine_with_two_cpus() -> None:
    machine = Machine(frozenset({0, 1}), 2048 * MIB, 1700 * MIB, (Path("images"),))
    assert messages("good/smallest.yaml", machine=machine) == [
        "good/smallest.yaml:3:8: cpus: CPU 3 does not exist here (1, the only one)"]


def shipped_images(folder: Path) -> None:
    for name in ("quest.elf", "blink.elf"):
        (folder / name).write_bytes(TINY)


@pytest.mark.parametrize("name", sorted(path.stem for path in (TOP / "configs").glob("*.yaml")))
def test_shipped_configurations(name: str, tmp_path: Path) -> None:
    shipped_images(tmp_path)
    machine = Machine(MACHINE.cpus, MACHINE.mem_total, MACHINE.mem_available, (tmp_path,))
    assert messages(str(TOP / "configs" / f"{name}.yaml"), machine=machine) == []


@pytest.mark.parametrize("together", [("quest", "quest2", "quest-rt"), ("erika", "sensor", "quest-rt"), ("one", "two", "quest-rt")],
                         ids="-".join)
def test_shipped_configurations_fit_together(together: tuple[str, ...], tmp_path: Path) -> None:
    """A machine with four CPUs has three for cells."""
    shipped_images(tmp_path)
    machine = Machine(MACHINE.cpus, MACHINE.mem_total, MACHINE.mem_available, (tmp_path,))
    files = [str(TOP / "configs" / f"{name}.yaml") for name in together]
    assert messages(*files, machine=machine) == []


def test_ranges_of_cpus_and_sizes_in_mib() -> None:
    assert read("good/cpus-range.yaml").cpus == [2, 3]
    assert read("good/cpus-list-of-linux.yaml").cpus == [1, 3]
    assert read("good/cpus-scalar.yaml").cpus == [1]


def test_number_of_cpus_alone_is_asked_about(tmp_path: Path) -> None:
    """It may be a CPU or a count."""
    def said(cpus: str, count: int) -> str:
        file = tmp_path / "quest.yaml"
        file.write_text(f"name: quest\ncpus: {cpus}\nmemory: 64M\nimage: {HERE / 'good/tiny.elf'}\n")
        machine = Machine(frozenset(range(count)), 2048 * MIB, 1700 * MIB, (Path("images"),))
        return "".join(messages(str(file), machine=machine)).partition("cpus: ")[2]
    assert said("2", 4) == "2 could be a CPU or a count ([2] for CPU 2 or [1, 2] for 2 CPUs)"
    assert said("4", 5) == "4 could be a CPU or a count ([4] for CPU 4 or [1, 2, 3, 4] for 4 CPUs)"
    assert said("4", 4) == "CPU 4 does not exist here (one or more of 1-3)"
    assert said("'2'", 4) == said("1", 4) == said("2-3", 4) == ""
    assert read("good/memory-mib.yaml").memory == 64 * MIB


def test_resources_of_a_running_cell_are_not_free(tmp_path: Path) -> None:
    cell = read("good/everything.yaml")
    machine = Machine(MACHINE.cpus, MACHINE.mem_total, MACHINE.mem_available, (),
                      cells=(Taken("other", [2], [(0x3f0, 0x3f8)], [0x10]),))
    assert [(p.key, p.wrong) for p in config.taken(cell, machine)] == [
        ("cpus", "CPU 2 belongs to the cell other"), ("ports", "0x3f8-0x3ff has ports of the cell other")]
    machine.cells[0].name = cell.name
    assert config.taken(cell, machine) == []
    devices = read("good/devices.yaml")
    machine.cells[0].name, machine.cells[0].devices = "other", [devices.devices[0].bdf]
    assert "devices" in [p.key for p in config.taken(devices, machine)]


PARSERS_WORDS = re.compile(r"token|scalar|node|mapping values|sequence|stream|block|flow|directive|composing|parsing|scanning|<|None")


def test_yaml_errors_have_no_terms_of_a_parser() -> None:
    """QV has a sentence for each text that PyYAML rejects, without terms of a parser."""
    chance = random.Random(1)
    pieces = [*"[]{}:,-?&*!|>%@`'\"#\t\n ", "a", "a: ", "- ", "\n  ", "\n\t", "\n---\n", "...\n", "&a ", "*b", "!x ", "\\q", "%YAML 2.0\n", "'", '"', "? "]
    said = set()
    for _ in range(30000):
        try:
            nodes.compose("".join(chance.choices(pieces, k=chance.randint(1, 8))))
        except nodes.NotYaml as error:
            said.add(re.sub(r"`.*?`", "`x`", error.wrong))
            assert not PARSERS_WORDS.search(error.wrong) and error.line >= 1 and error.column >= 1, error.wrong
    assert len(said) > 12, said


def test_cpu_lists_of_the_kernel() -> None:
    assert parse_cpu_list("0-3,5\n") == {0, 1, 2, 3, 5}
    assert parse_cpu_list("\n") == set()


def test_facts_of_a_machine(tmp_path: Path) -> None:
    cpu = tmp_path / "sys/devices/system/cpu"
    cpu.mkdir(parents=True)
    (cpu / "possible").write_text("0-7\n")
    (cpu / "present").write_text("0-3\n")
    function = tmp_path / "sys/bus/pci/devices/0000:00:12.0"
    function.mkdir(parents=True)
    (function / "resource").write_text("0x000000000000c000 0x000000000000c007 0x0000000000040101\n"
                                       "0x00000000fe000000 0x00000000fe000fff 0x0000000000040200\n" + "0x0 0x0 0x0\n" * 11)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 2048 kB\nMemAvailable: 1024 kB\n")
    machine = Machine.this(str(tmp_path))
    assert machine.cpus == {0, 1, 2, 3}
    assert Machine.this(str(tmp_path), (Taken("other", [5], [], []),)).cpus == {0, 1, 2, 3, 5}
    assert (machine.mem_total, machine.mem_available) == (2 * MIB, MIB)
    assert (machine.pci, machine.pci_ports(0x90), machine.pci_ports(0x91)) == ({0x90}, [(0xc000, 0xc007)], [])
