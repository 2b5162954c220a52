# SPDX-License-Identifier: GPL-2.0-only
"""ISRs of the OSEK kernel for real devices, alone on an emulated PC: QEMU's PCI function edu by its
pin and by messages, and the clock (RTC) by a pin of the I/O APIC."""

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
    # the clock of the device must not run ahead of a slow host, which would merge its requests
    return m.Machine("-kernel", str(folder / "device32.elf"), *m.COUNTED, *options)


@pytest.mark.parametrize(("name", "source", "code"), [
    ("messages", "MSI 1234:11E8", EDU), ("pin", "PIN 1234:11e8", EDU), ("line", "IRQ 8", RTC)],
    ids=["messages", "pin", "line"])
def test_device_interrupts_its_isr(outside: Outside, name: str, source: str, code: str) -> None:
    """The ISR runs once for each request, and the task that it activates runs after it."""
    with booted(outside, name, source, code, "-device", "edu") as machine:
        machine.expect("id 10000ed\n")
        for count in (1, 2, 3):
            machine.expect(f"status 1\nserved {count}\n")
        machine.expect("erika: shut down, status 0\n")
        assert machine.text.count("status ") == 3 + 1


def test_device_that_is_absent_is_named(outside: Outside) -> None:
    with booted(outside, "absent", "MSI 1234:11E8", EDU) as machine:
        machine.expect("ISR Device: \nerika: its device is not there\n")
