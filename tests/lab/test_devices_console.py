# SPDX-License-Identifier: GPL-2.0-only
"""A PCI function that is a Linux console: `devices`, `config check` and `cell create` agree on it."""

import pytest

from devices import driver, given, off
from product import Product
from test_watching import until

QEMU = ("-device", "virtio-serial-pci,addr=12.0", "-device", "virtconsole,chardev=said",
        "-chardev", "null,id=said", "-device", "VGA,addr=13.0", "-device", "pci-serial,addr=14.0,chardev=unheard", "-chardev", "null,id=unheard")
# Linux writes its own messages to the last console
CONSOLES = ("console=hvc0", "console=tty0", "console=ttyS0")
PLACES = {"00:12.0": "hvc0 is a console of Linux, and may be here", "00:13.0": "it shows the console of Linux"}

pytestmark = pytest.mark.machine(qemu_args=QEMU, boot_args=CONSOLES)


def begin(qv: Product) -> None:
    """Waits for the drivers of both consoles. Linux loads them some time after boot."""
    until(lambda: {"hvc0", "tty0"} <= set(qv.sh("cat /proc/consoles").split()), "both consoles")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.slow
def test_linux_console_is_refused(qv: Product, place: str) -> None:
    """The refusal changes nothing: Linux can still write to the console."""
    begin(qv)
    state, before, path = f"in use: {PLACES[place]}", driver(qv, place), given(qv, off(place))
    assert {d["name"]: d["state"] for d in qv.ask("devices")["devices"]}[place] == state
    checked = qv.qvctl(f"config check {path}")
    assert checked.rc == 2 and f"devices: {place}: {state}" in checked.err
    said = qv.refused(f"cell create {path}")
    assert f"PCI function {place} is {state}" in said and "--force" in said
    assert driver(qv, place) == before and qv.online() == qv.all_online
    qv.sh("echo a line >/dev/console")


@pytest.mark.slow
def test_linux_console_is_given_by_force(qv: Product) -> None:
    """Linux output to the console is lost while a cell has it. Linux continues to run."""
    begin(qv)
    place = next(iter(PLACES))
    before = driver(qv, place)
    assert before == "virtio-pci"
    qv.do(f"cell create {given(qv, off(place))} --start --force", 120)
    assert driver(qv, place) == "qv-cell"
    qv.sh(f"test ! -e /sys/bus/pci/devices/0000:{place}/virtio* && echo a line >/dev/kmsg")
    qv.do("cell destroy quest", 120)
    assert driver(qv, place) == before
    assert "hvc0" in qv.sh("cat /proc/consoles")


@pytest.mark.slow
def test_terminal_in_use_is_refused(qv: Product) -> None:
    """A program waits for input on a serial port that is not a console, as a getty does."""
    begin(qv)
    place = "00:14.0"
    terminal = qv.sh(f"basename $(ls -d /sys/bus/pci/devices/0000:{place}/tty/* /sys/bus/pci/devices/0000:{place}/*/*/tty/* 2>/dev/null)").strip()
    states = {d["name"]: d["state"] for d in qv.ask("devices")["devices"]}
    assert states[place] == "yes"
    reader = qv.sh(f"sleep 1000 <>/dev/{terminal} >/dev/null 2>&1 & echo $!").strip()
    said = qv.refused(f"cell create {given(qv, off(place))}")
    assert f"PCI function {place} is in use: {terminal} is open in sleep (process {reader})" in said
    qv.sh(f"kill {reader}")
    until(lambda: qv.ask("devices")["devices"] and {d["name"]: d["state"] for d in qv.ask("devices")["devices"]}[place] == "yes", "the end of the program")
