# SPDX-License-Identifier: GPL-2.0-only
"""ISRs of the OSEK kernel for real devices, alone on an emulated PC: QEMU's PCI function edu by its
pin and by messages, a network function by a message of its table, and the clock (RTC) by a pin of
the I/O APIC."""

import pytest

from lab import bare as m
from lab.outside import Outside

pytestmark = [pytest.mark.usefixtures("built"), pytest.mark.xdist_group("erika-device")]
OIL = """
CPU device {
	OS kernel { STATUS = EXTENDED; };
	APPMODE normal;
	TASK Main { PRIORITY = 1; AUTOSTART = TRUE; };
	TASK Served { PRIORITY = 2; };
	ISR Device { CATEGORY = 2; PRIORITY = 1; SOURCE = "%s"; };
};
"""
MAIN = """
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "os.h"

static volatile unsigned int served;

%s

TASK(Served)
{
	print("served %%u\\n", ++served);
	TerminateTask();
}

TASK(Main)
{
	unsigned int i;

	begin();
	for (i = 1; i <= 3; i++) {
		request();
		while (served < i)
			cpu_relax();
	}
	ShutdownOS(E_OK);
}
"""
# Registers of edu: identification, interrupt status, raise, acknowledge
EDU = """
static volatile uint32_t *edu;

static void begin(void)
{
	edu = os_isr_device(Device, 0);
	print("id %x\\n", edu ? edu[0] : 0);
}

static void request(void) { edu[0x60 / 4] = 1; }

ISR(Device)
{
	print("status %u\\n", edu[0x24 / 4]);
	edu[0x64 / 4] = edu[0x24 / 4];
	ActivateTask(Served);
}
"""
# Register B enables the periodic interrupt; a read of register C acknowledges it
RTC = """
static uint8_t clock_read(uint8_t reg) { outb(0x70, reg); return inb(0x71); }
static void clock_write(uint8_t reg, uint8_t value) { outb(0x70, reg); outb(0x71, value); }

static void begin(void)
{
	print("id %x\\n", 0x10000ed);
	clock_read(0x0C);
}

static void request(void) { clock_write(0x0B, clock_read(0x0B) | 0x40); }

ISR(Device)
{
	clock_write(0x0B, clock_read(0x0B) & ~0x40);
	print("status %u\\n", clock_read(0x0C) & 0x40 ? 1 : 0);
	ActivateTask(Served);
}
"""
# Message 1 of the network function's table is that of its sending queue 0, which sends nothing; a
# change of the link would request the `other` cause, too. Registers: IVAR (which message), IMS
# (which causes), ICS (requests a cause), ICR (the causes; a write of ones clears)
NIC = """
static volatile uint32_t *nic;

static void begin(void)
{
	nic = os_isr_device(Device, 0);
	print("id %x\\n", nic ? 0x10000ed : 0);
	nic[0xE4 / 4] = (1u | 8u) << 8;
	nic[0xD0 / 4] = 1u << 22;
}

static void request(void) { nic[0xC8 / 4] = 1u << 22; }

ISR(Device)
{
	print("status %u\\n", nic[0xC0 / 4] >> 22 & 1);
	nic[0xC0 / 4] = ~0u;
	ActivateTask(Served);
}
"""
MAKEFILE = """OIL := device.oil
SRC := device.c
include $(shell pkg-config --variable=makefragment qv-erika)
"""


@pytest.fixture(scope="module")
def outside(built: None, tmp_path_factory: pytest.TempPathFactory) -> Outside:
    return Outside(tmp_path_factory.mktemp("erika-device"))


def booted(outside: Outside, name: str, source: str, code: str, *options: str) -> m.Machine:
    folder = outside.path / name
    folder.mkdir()
    (folder / "device.oil").write_text(OIL % source)
    (folder / "device.c").write_text(MAIN % code)
    (folder / "Makefile").write_text(MAKEFILE)
    outside.run("make", folder=name)
    # The clocks of devices count instructions, too. On the host's clock, a slow host would merge
    # requests, and the RTC would interrupt again before the ISR has switched it off.
    return m.Machine("-kernel", str(folder / "device32.elf"), *m.COUNTED, "-rtc", "clock=vm", *options)


@pytest.mark.parametrize(("name", "source", "code"), [
    ("messages", "MSI 1234:11E8", EDU), ("table", "MSIX 8086:10D3 1", NIC), ("pin", "PIN 1234:11e8", EDU),
    ("line", "IRQ 8", RTC)], ids=["messages", "table", "pin", "line"])
def test_device_interrupts_its_isr(outside: Outside, name: str, source: str, code: str) -> None:
    """The ISR runs once for each request, and the task that it activates runs after it."""
    with booted(outside, name, source, code, "-device", "edu", "-device", "e1000e,romfile=") as machine:
        machine.expect("id 10000ed\n")
        for count in (1, 2, 3):
            machine.expect(f"status 1\nserved {count}\n")
        machine.expect("erika: shut down, status 0\n")
        assert machine.text.count("status ") == 3 + 1


def test_message_that_a_device_lacks_is_named(outside: Outside) -> None:
    """The function has five messages."""
    with booted(outside, "lacks", "MSIX 8086:10D3 5", NIC, "-device", "e1000e,romfile=") as machine:
        machine.expect("erika: its device has no such message in a table .MSI-X.\n")


def test_device_that_is_absent_is_named(outside: Outside) -> None:
    with booted(outside, "absent", "MSI 1234:11E8", EDU) as machine:
        machine.expect("ISR Device: \nerika: its device is not there\n")
