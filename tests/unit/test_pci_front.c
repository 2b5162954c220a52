// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses of Linux to IOAPICs, to config space and to BARs with ports, while cells own some of
 * them.
 */
#include <string.h>
#include "abi/log.h"
#include "core/dispatch.h"
#include "core/pci.h"
#include "core/ports.h"
#include "fake.h"
#include "fake_traps.h"
#include "svm/svm_exits.h"
#include "unit.h"

#define ECAM	0x8000000ull		/* an address in the fake RAM, for tests of single exits */
#define OWN	0x28u			/* 00:05.0 */

static struct qv_mon_create cell;

/* ---- Linux and a fake IOAPIC, which has one register in place of all ---- */

#define IOAPIC	0xa008000ull

static u64 ioapic(u32 reg, bool write, u32 value)
{
	struct vmcb *v = write ? exit_store(IOAPIC + reg, 4, value) : exit_load(IOAPIC + reg, 4);

	CHECK_EQ(v->event_inj, 0);
	CHECK_EQ(v->rip, SVM_RIP + 2);
	return v->rax;
}

static u64 ioapic_denied(void)
{
	return pcpu_of(0)->status->denied;
}

static void ioapic_accesses(void)
{
	/* delivery modes SMI, NMI, INIT and ExtINT; logical destination */
	static const u32 bad[] = { 0x0250, 0x0450, 0x0550, 0x0750, 0x0850 };
	struct cell_slot *slot;
	u32 i;

	fake_open(true, true);			/* CPUs 0, 2, 4, 6 */
	me()->boot.num_ioapics = 1;
	me()->boot.ioapics[0] = IOAPIC;
	me()->icr.own_cpus = 3;
	ioapic(0, true, 0x12);
	CHECK_EQ(ioapic(0, false, 0), 0x12);
	/* the hardware's index changes only with an access to data */
	CHECK_EQ(ram_read32(IOAPIC), 0);
	ram_write32(IOAPIC + 0x10, 0x02000000);	/* Linux writes the other half of the entry */
	ioapic(0x10, true, 0x50);
	CHECK_EQ(ram_read32(IOAPIC), 0x12);
	CHECK_EQ(ram_read32(IOAPIC + 0x10), 0x50);
	CHECK_EQ(ioapic(0x10, false, 0), 0x50);
	CHECK_EQ(ioapic_denied(), 0);
	ram_write32(IOAPIC + 0x10, 0x04000000);	/* the destination is a CPU of a cell */
	ioapic(0x10, true, 0x50);
	CHECK_EQ(ram_read32(IOAPIC + 0x10), 0x10050);
	CHECK_EQ(ioapic_denied(), 1);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ram_write32(IOAPIC + 0x10, 0x02000000);
		ioapic(0x10, true, bad[i]);
		CHECK_EQ(ram_read32(IOAPIC + 0x10), bad[i] | 0x10000);
		CHECK_EQ(ioapic_denied(), 2 + i);
	}
	ram_write32(IOAPIC + 0x10, 0x04010000);	/* the entry is in remapped format */
	me()->icr.remapped = 1;
	ioapic(0x10, true, 0x50);
	CHECK_EQ(ram_read32(IOAPIC + 0x10), 0x50);
	/* without remapping the same bits are an NMI to a cell's CPU */
	ram_write32(IOAPIC + 0x10, 0x04010000);
	me()->icr.remapped = 0;
	ioapic(0x10, true, 0x450);
	CHECK_EQ(ram_read32(IOAPIC + 0x10), 0x10450);
	CHECK_EQ(ioapic_denied(), 7);
	slot = &me()->manager.cells[1];
	slot->taken = 1;
	slot->q = &cell;
	cell.num_devices = 1;
	cell.devices[0] = (struct qv_mon_device){ .bdf = OWN, .ioapic = 0, .pin = 1 };
	ram_write32(IOAPIC + 0x10, 0x02000000);
	ioapic(0x10, true, 0x50);
	/* the pin belongs to a cell's device: the entry does not change */
	CHECK_EQ(ram_read32(IOAPIC + 0x10), 0x02000000);
	CHECK_EQ(ioapic_denied(), 8);
	ioapic(0, true, 0x112);		/* the index register has 8 bits, so this is the same pin */
	CHECK_EQ(ioapic(0, false, 0), 0x12);
	ioapic(0x10, true, 0x50);
	CHECK_EQ(ram_read32(IOAPIC + 0x10), 0x02000000);
	CHECK_EQ(ioapic_denied(), 9);
	ioapic(0, true, 0x14);				/* another pin */
	ioapic(0x10, true, 0x10050);
	CHECK_EQ(ram_read32(IOAPIC + 0x10), 0x10050);
	CHECK_EQ(ioapic_denied(), 9);
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
}

/*
 * Another CPU stays between its writes of index and data. The instruction is not carried out, and
 * the CPU repeats it.
 */
static void ioapic_held(void)
{
	struct vmcb *v;

	fake_open(true, true);
	me()->boot.num_ioapics = 1;
	me()->boot.ioapics[0] = IOAPIC;
	ioapic(0, true, 0x12);
	ram_write32(IOAPIC, 0x77);		/* the index that the other CPU has written */
	me()->locks[LOCK_IOAPIC] = 3;
	v = exit_store(IOAPIC + 0x10, 4, 0x50);
	CHECK_EQ(v->rip, SVM_RIP);
	CHECK_EQ(v->event_inj, 0);
	CHECK_EQ(ram_read32(IOAPIC), 0x77);
	CHECK_EQ(ram_read32(IOAPIC + 0x10), 0);
	CHECK_EQ(exit_load(IOAPIC + 0x10, 4)->rip, SVM_RIP);
	CHECK_EQ(ram_read32(IOAPIC), 0x77);
	ioapic_sweep(pcpu_of(0));
	CHECK_EQ(ram_read32(IOAPIC), 0x77);
	CHECK_EQ(me()->locks[LOCK_IOAPIC], 3);
	me()->locks[LOCK_IOAPIC] = 0;
	ioapic(0x10, true, 0x50);
	CHECK_EQ(ram_read32(IOAPIC), 0x12);
	CHECK_EQ(me()->locks[LOCK_IOAPIC], 0);
}

/*
 * A CPU faults during an access to config space. Its own lock is released, and a lock of another
 * CPU is not.
 */
static void config_held(void)
{
	fake_open(true, true);
	me()->boot.ecam_pa = ECAM;
	me()->boot.ecam_len = 1 << 20;
	fake_in = 1u << 31 | 0x10 << 8;
	ram_write32(ECAM + (0x10 << 12), 0x33334444);
	me()->locks[LOCK_CONFIG] = 3;
	/* another CPU did not release the lock in time */
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), ~0u);
	CHECK_EQ(me()->locks[LOCK_CONFIG], 3);
	if (!setjmp(fake_back))
		monitor_fault(14, 0x40001234, (u64)pcpu_of(1) + 0x1f80);
	CHECK_EQ(me()->locks[LOCK_CONFIG], 3);
	if (!setjmp(fake_back))
		monitor_fault(14, 0x40001234, (u64)pcpu_of(2) + 0x1f80);
	CHECK_EQ(me()->locks[LOCK_CONFIG], 0);
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), 0x33334444);
	CHECK_EQ(me()->locks[LOCK_CONFIG], 0);
}

/* ---- Linux and ports while a cell owns a function ---- */

static void front_ports(void)
{
	struct cell_slot *slot;

	fake_open(true, true);
	me()->boot.ecam_pa = ECAM;
	me()->boot.ecam_len = 1 << 20;
	slot = &me()->manager.cells[1];
	slot->state = QV_MON_RUNNING;
	slot->taken = 1;
	slot->q = &cell;
	cell.num_devices = 1;
	cell.devices[0] = (struct qv_mon_device){ .bdf = OWN, .ioapic = QV_MON_NO_PIN,
		.bars = { { .base = 0xc000, .len = 8, .ports = 1 } } };
	ports_stop(me(), 0xc000, 0xc007, true);
	ram_write32(ECAM + (OWN << 12), 0x11112222);
	ram_write32(ECAM + (0x10 << 12), 0x33334444);
	fake_in = 1u << 31 | 0x10 << 8;			/* content of 0xCF8: a function of Linux */
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), 0x33334444);
	CHECK_EQ(exit_port_of(0xcfe, 2, true, 0xaaaa0000), 0xaaaa3333);
	CHECK_EQ(exit_port_of(0xcff, 1, true, ~0ull), 0xffffffffffffff33);
	exit_port_of(0xcfd, 1, false, 0x55);
	exit_port_of(0xcfe, 2, false, 0x6677);
	CHECK_EQ(ram_read32(ECAM + (0x10 << 12)), 0x66775544);
	CHECK_EQ(pcpu_of(0)->status->denied, 0);
	/* config address of a function of the cell */
	fake_in = 1u << 31 | OWN << 8;
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), ~0u);
	CHECK_EQ(exit_port_of(0xcfd, 1, true, 0), 0xff);
	exit_port_of(0xcfc, 4, false, 0);
	CHECK_EQ(ram_read32(ECAM + (OWN << 12)), 0x11112222);
	CHECK_EQ(pcpu_of(0)->status->denied, 3);
	fake_in = OWN << 8;				/* not enabled */
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), ~0u);
	/* config address beyond the existing buses */
	fake_in = 1u << 31 | 0x800000 | OWN << 8;
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), ~0u);
	CHECK_EQ(pcpu_of(0)->status->denied, 3);
	fake_in = 0x5a5a5a5a;
	fake_out = 0;
	/* the cell's BAR, and accesses that overlap it */
	CHECK_EQ(exit_port_of(0xc007, 1, true, 0), 0xff);
	exit_port_of(0xbfff, 2, false, 0x1234);
	CHECK_EQ(fake_out, 0);
	CHECK_EQ(exit_port_of(0xc008, 1, true, 0), 0x5a);
	exit_port_of(0xb2, 1, false, 0x17);	/* SMI: the write is carried out and logged */
	CHECK_EQ(fake_out, 0x17);
	CHECK_EQ(fake_port, 0xb2);
	CHECK_EQ(pcpu_of(0)->status->denied, 5);
	exit_port_of(0xcfa, 4, false, 0);	/* the access begins below the config registers */
	CHECK_EQ(pcpu_of(0)->status->denied, 6);
	vmcb_of(pcpu_of(0))->event_inj = 0;
	fake_in = ~0u;
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
}

/*
 * ---- sleep and hotplug registers: the value of the guarded byte decides if a write is allowed
 * ----
 */

#define PM1	0x604u			/* the control register; its type 5 is S5 here */
#define SLEEP(type) (0x2000u | (type) << 10)
#define EJECT	0xcdcu
#define DMA	0x514u		/* no write to this port is allowed */

static void guard_write(u32 port, u32 size, u32 value, bool passes)
{
	u64 denied = pcpu_of(0)->status->denied;

	unit_case("%u bytes of %#x to port %#x:", size, value, port);
	fake_out = 0xdeadbeef;
	exit_port_of(port, size, false, 0xffffffff00000000 | value);
	CHECK_EQ(fake_out, passes ? value : 0xdeadbeef);
	CHECK_EQ(pcpu_of(0)->status->denied, denied + !passes);
	if (passes)
		CHECK_EQ(fake_port, port);
}

static bool stopped(u32 port)
{
	return me()->port_map[port / 8] >> port % 8 & 1;
}

static void sleep_and_eject(void)
{
	u32 type;

	fake_open(true, true);
	me()->boot.num_guards = 3;
	me()->boot.guards[2] = (struct qv_mon_guard){
		.first = DMA, .last = DMA + 7, .value = 1, .what = QV_LOG_BOARD_DMA
	};
	me()->boot.guards[0] = (struct qv_mon_guard){
		.first = PM1 + 1, .last = PM1 + 1, .bits = 0x20,
		.mask = 0x1c, .value = 5 << 2, .what = QV_LOG_SLEEP
	};
	me()->boot.guards[1] = (struct qv_mon_guard){
		.first = EJECT, .last = EJECT, .bits = 0x18, .value = 1, .what = QV_LOG_EJECT
	};
	ports_front();
	CHECK(stopped(PM1 + 1) && stopped(EJECT) && !stopped(PM1) && !stopped(EJECT + 1));
	for (type = 0; type < 8; type++) {
		guard_write(PM1, 2, SLEEP(type), type == 5);
		guard_write(PM1 + 1, 1, SLEEP(type) >> 8, type == 5);
		guard_write(PM1 - 1, 4, SLEEP(type) << 8, type == 5);
		guard_write(PM1 - 2, 4, SLEEP(type) << 16, type == 5);
		guard_write(PM1 + 1, 4, SLEEP(type) >> 8, type == 5);
		/* this write does not start the sleep */
		guard_write(PM1, 2, SLEEP(type) & ~0x2000, true);
		guard_write(PM1 + 2, 2, SLEEP(type), true);		/* another register */
	}
	guard_write(PM1, 2, 1, true);
	guard_write(EJECT, 1, 0x08, false);
	guard_write(EJECT, 1, 0x10, false);
	guard_write(EJECT, 4, 0x0e, false);
	guard_write(EJECT - 1, 2, 0x0800, false);
	guard_write(EJECT, 1, 0x06, true);				/* acknowledges events */
	guard_write(EJECT + 1, 1, 0x08, true);				/* a command */
	guard_write(DMA, 4, 0, false);
	guard_write(DMA + 4, 4, 0x12345678, false);
	guard_write(DMA + 7, 1, 0, false);
	guard_write(DMA - 1, 2, 0, false);
	guard_write(DMA + 8, 4, 0, true);
	guard_write(DMA - 4, 4, 0, true);
	fake_in = 0x1234;
	CHECK_EQ(exit_port_of(PM1, 2, true, 0), 0x1234);
	fake_in = ~0u;
}

UNIT_SUITE(pci_front) = {
	{ "pci: Linux reprograms its own IOAPIC pins only", ioapic_accesses },
	{ "pci: an IOAPIC that another CPU holds is left alone", ioapic_held },
	{ "pci: a fault releases config space", config_held },
	{ "pci: Linux reaches no port of a cell's function", front_ports },
	{ "ports: sleep and eject are blocked, other writes pass", sleep_and_eject },
	{ 0 }
};
