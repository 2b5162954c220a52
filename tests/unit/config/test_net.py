# SPDX-License-Identifier: GPL-2.0-only
"""The word `net=` of a cell with Quest: its syntax, its function, its rings and its program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_config import MACHINE, TINY, TOP, messages

from qv import config, netneeds, network
from qv.machine import Machine

QUEST_NET = TOP / "inmates/quest/net"
DEVICE = 'devices: [{pci: "00:14.0", dma: protected}]\n'
RINGS = """channels:
  - {name: lan-rx, type: ring, item: 1536, slots: 64, full: drop-oldest, writer: web,
     readers: [other]}
  - {name: lan-tx, type: ring, item: 1536, slots: 64, full: error, writer: other,
     readers: [web]}
"""
OWNER, SHARER = DEVICE + RINGS, RINGS


def cell(folder: Path, cmdline: str, more: str = DEVICE, name: str = "web", cpu: int = 1,
         image: bytes = network.QUEST) -> str:
    (folder / f"{name}.elf").write_bytes(TINY + b"\0" + image + b"\0")
    file = folder / f"{name}.yaml"
    file.write_text(f"name: {name}\ncpus: [{cpu}]\nmemory: 64M\nimage: {name}.elf\n"
                    + (f"cmdline: {cmdline}\n" if cmdline else "") + more)
    return str(file)


def said(*files: str) -> list[str]:
    """Returns the messages without the file, line and column."""
    return [re.sub(r"^\S+:\d+:\d+: ", "", message) for message in messages(*files)]


def of_c(test: str) -> list[str]:
    """Returns the words of a test of the parser in C."""
    source = (TOP / "inmates/tests/unit_netword.c").read_text()
    body = source.partition(f"TEST(netword_{test}_ones)")[2].partition("\n}\n")[0]
    return re.findall(r'(?<=[( \t,])"(net=[^" ]*)"', body)


def test_words_are_read_as_by_quest() -> None:
    """The words in the test of Quest's parser have the same verdict, and the limits are equal."""
    right, wrong = of_c("right"), of_c("wrong")
    assert len(right) >= 12 and len(wrong) >= 34
    assert {word: network.read(word)[1] for word in right if network.read(word)[1]} == {}
    assert [word for word in wrong if network.read(word)[1] is None] == []
    header = "".join((QUEST_NET / name).read_text() for name in ("word.h", "word.c", "share.h"))
    limits = {name: int(re.search(rf"#define {name}\s+(\d+)", header)[1])
              for name in ("NETWORD_PROGRAM", "NETWORD_NAME", "PREFIX_MAX", "SHARE_MAX")}
    assert list(limits.values()) == [network.PROGRAM, network.NAME, network.PREFIX,
                                     netneeds.SHARERS]


def test_image_is_known_by_texts_of_its_source() -> None:
    """So the check never applies to another kernel, and a changed text does not switch it off."""
    assert network.QUEST.decode() in (QUEST_NET / "word.c").read_text()
    assert network.WITHOUT.decode() in (QUEST_NET / "none.c").read_text()
    drivers = "".join(file.read_text() for file in (TOP / "inmates/quest/drivers/net").glob("*.c"))
    ids = re.findall(r"\.vendor = 0x8086, \.device = 0x([0-9A-F]{4})", drivers)
    assert {f"8086:{one.lower()}" for one in ids} == netneeds.FUNCTIONS.keys()


@pytest.mark.parametrize(("word", "wrong"), [
    ("192.168.7.2", "`192.168.7.2` is not an address and the length of its network, 1 to 30 "
     "(ADDRESS/PREFIX such as 192.168.7.2/24, or dhcp)"),
    ("192.168.7.0/24", "no interface can have the address 192.168.7.0/24 (the address of one machine: "
     "not 0.*, 127.*, of a group, or of a whole network)"),
    ("192.168.7.2/24,via=192.168.8.1", "the gateway 192.168.8.1 is not in the network of the cell's address "
     "(another address of the same network)"),
    ("192.168.7.2/24,gateway=192.168.7.1", "`gateway=192.168.7.1` is not a word behind the address "
     "(one of via=GATEWAY, polled, share, apart)"),
    ("192.168.7.2/24,poled", "`poled` is not a word behind the address (perhaps `polled`)"),
    ("dhcp,via=192.168.7.1", "`via=` is behind `dhcp` (dhcp alone: its server says the gateway)"),
    ("dhcp,apart,apart=x", "`apart` is given twice (each word once)"),
    ("share:lan", "`net=share:lan` has no NAME of rings or no address behind it "
     "(net=share:NAME,ADDRESS/PREFIX such as 192.168.7.2/24, or dhcp; NAME has at most 28 bytes)"),
    ("dhcp,apart=mydriver", "there is no program mydriver, in the image or under `modules` "
     "(its file or its archive under `modules`, or `apart` alone)"),
    ("dhcp,share", "`channels` has 0 rings whose names end with -rx "
     "(1 to 7: NAME-rx and NAME-tx for each cell that shares the function)"),
    ("share:lan,dhcp", "`channels` has no ring lan-rx that this cell reads "
     "({name: lan-rx, readers: [web], type: ring, item: 1536, of these two cells})"),
])
def test_wrong_word(tmp_path: Path, word: str, wrong: str) -> None:
    assert said(cell(tmp_path, f"net={word} more")) == [f"cmdline: `net={word}`: {wrong}"]


def test_right_words(tmp_path: Path) -> None:
    for word in ("net=192.168.7.2/24,via=192.168.7.1", "net=dhcp,polled,apart", "nets", "a net=dhcp b"):
        assert said(cell(tmp_path, word)) == []
    assert said(cell(tmp_path, "net=192.168.7.2/24,share,apart", OWNER)) == []
    assert said(cell(tmp_path, "net=share:lan,dhcp", SHARER, "other", 2)) == []


def test_another_kernel_has_words_of_its_own(tmp_path: Path) -> None:
    assert said(cell(tmp_path, "net=off", "", image=b"another kernel")) == []
    [message] = said(cell(tmp_path, "net=dhcp", image=network.QUEST + b"\0" + network.WITHOUT))
    assert "was built without a network (`make deps`, then `make`" in message


def test_program_is_a_module_or_in_an_archive(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"\x7fELF")
    (tmp_path / "more.cpio").write_bytes(b"070701...theirs\0...")
    more = DEVICE + "modules: [{file: mine, args: mydriver -q}, more.cpio]\n"
    for program in ("mydriver", "theirs", "nicdriver"):
        assert said(cell(tmp_path, f"net=dhcp,apart={program}", more)) == []
    assert "no program mine," in said(cell(tmp_path, "net=dhcp,apart=mine", more))[0]


@pytest.mark.parametrize(("devices", "wrong"), [
    ("", "`devices` lists no PCI function (the network function under `devices`, or net=share:NAME,... and two rings)"),
    ("dma: off", "a network function needs DMA, and there is `dma: off` (dma: protected)"),
    ("unsafe-dma: true", "a network function needs DMA, and there is `unsafe-dma` (dma: protected)"),
    ("heir-of: first", ""), ("dma: protected", ""),
])
def test_function(tmp_path: Path, devices: str, wrong: str) -> None:
    more = f'devices: [{{pci: "00:14.0", {devices}}}]\n' if devices else ""
    assert said(cell(tmp_path, "net=dhcp", more)) == ([f"cmdline: `net=dhcp`: {wrong}"] if wrong else [])


def test_a_device_that_is_wrong_is_reported_once(tmp_path: Path) -> None:
    assert [m.partition(":")[0] for m in said(cell(tmp_path, "net=dhcp", "devices: [{pci: x}]\n"))] == ["devices"]
    assert said(cell(tmp_path, "net=dhcp net=dhcp")) == ["cmdline: holds `net=...` twice (one: Quest uses the first)"]


@pytest.mark.parametrize(("device", "fits"), [("0x10d3", True), ("0x10ca", True), ("0x100e", False)])
def test_function_that_quest_does_not_drive(tmp_path: Path, device: str, fits: bool) -> None:
    place = tmp_path / "pci/0000:00:14.0"
    place.mkdir(parents=True)
    (place / "vendor").write_text("0x8086\n")
    (place / "device").write_text(f"{device}\n")
    machine = Machine(MACHINE.cpus, MACHINE.mem_total, MACHINE.mem_available,
                      pci_folder=str(tmp_path / "pci"))
    [found] = config.check_files([cell(tmp_path, "net=dhcp")], machine)[0]
    assert [str(problem).partition("cmdline: ")[2] for problem in config.taken(found, machine)] == [
        "`net=dhcp`: Quest drives no function under `devices` (8086:10d3 (82574L) or "
        "8086:10c9 (82576) or 8086:10ca (virtual function of an 82576): `qvctl devices` lists the ids)"][fits:]


def test_ring_of_a_sharer(tmp_path: Path) -> None:
    """Both rings have items of one frame, and are written by the right cell."""
    for wrong in (SHARER.replace("1536", "1024"), SHARER.replace("lan-tx", "lan-xt"),
                  SHARER.replace("writer: other,\n     readers: [web]",
                                 "writer: web,\n     readers: [other]")):
        assert "`channels` has no ring lan-" in said(cell(tmp_path, "net=share:lan,dhcp", wrong, "other"))[0]
        assert said(cell(tmp_path, "net=dhcp,share", DEVICE + wrong))[0].count("`channels` has no ring lan-") == 1


def test_two_cells_with_one_function(tmp_path: Path) -> None:
    """In either order of the files, the owner must share it, and addresses differ."""
    def pair(owner: str, sharer: str, image: bytes = network.QUEST) -> list[list[str]]:
        files = [cell(tmp_path, owner, OWNER, image=image), cell(tmp_path, sharer, SHARER, "other", 2)]
        return [[message.replace(f"{tmp_path}/", "") for message in said(*order)]
                for order in (files, files[::-1])]
    right = "net=share:lan,192.168.7.3/24"
    assert pair("net=192.168.7.2/24,share", right) == [[], []]
    share = "(net=ADDRESS/PREFIX,share on the command line of web)"
    assert pair("net=192.168.7.2/24", right) == [
        [f"cmdline: `{right}`: web in web.yaml does not share a network function {share}"],
        [f"cmdline: does not share the network function for other in other.yaml {share}"]]
    assert pair("", right)[1] == [f"name: does not share the network function for other in other.yaml {share}"]
    assert pair("", right, b"another kernel, which may be a switch") == [[], []]
    same = "an address of its own for each cell"
    assert all(same in found[0] for found in pair("net=192.168.7.3/24,share", right))


def test_cells_whose_owner_is_unknown(tmp_path: Path) -> None:
    """Only what is missing is reported: two cells without rings may have different functions."""
    word = "net=share:lan,10.0.0.2/8"
    one = cell(tmp_path, word, "")
    two = cell(tmp_path, word, "", "other", 2)
    nameless = tmp_path / "nameless.yaml"
    nameless.write_text((tmp_path / "web.yaml").read_text().replace("name: web\n", "").replace("[1]", "[3]"))
    for files in ((one, two), (one, str(nameless)), (str(nameless), one)):
        assert not [m for m in said(*files) if "has no ring" not in m and "name: is missing" not in m]


def test_heirs_have_the_same_address(tmp_path: Path) -> None:
    """The word of both is the same: one of them has the function at a time."""
    heir = 'devices: [{pci: "00:14.0", heir-of: web}]\n'
    assert said(cell(tmp_path, "net=10.0.0.2/8"), cell(tmp_path, "net=10.0.0.2/8", heir, "heir", 2)) == []


def test_shipped_cell_of_the_page(tmp_path: Path) -> None:
    page = (TOP / "Documentation/how-to/network.md").read_text()
    text = page[page.index("    name: web"):].partition("\n\n")[0].replace("\n    ", "\n").strip()
    assert "net=192.168.7.2/24,via=192.168.7.1" in text
    (tmp_path / "quest.elf").write_bytes(TINY + network.QUEST)
    (tmp_path / "web.yaml").write_text(text + "\n")
    assert said(str(tmp_path / "web.yaml")) == []
