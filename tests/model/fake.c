// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "abi/image.h"
#include "fake.h"
#include "fake_traps.h"
#include "fake_vendor.h"
#include "tables/setup.h"
#include "core/vendor.h"
#include "unit.h"

u8 *fake_ram;
u32 fake_levels = 4;
u32 fake_ept;
u64 fake_ram_end = FAKE_RAM;
u32 fake_ipi_direct;
#define PHYS_BITS	40	/* Reads beyond the RAM are possible and give zeros. */
static int ram_file;

u64 fake_word(u64 pa)
{
	u64 value;

	CHECK(pa <= FAKE_RAM - 8);
	memcpy(&value, fake_ram + pa, 8);
	return value;
}

static void map(u64 va, u64 pa, u64 len)
{
	/* A huge page is populated now, since all of it will be cleared at once. */
	int now = len == QV_HUGE ? MAP_POPULATE : 0;
	void *at = mmap((void *)va, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | now,
			ram_file, pa);

	if (at != (void *)va)
		unit_give_up("cannot map");
}

static void unmap(u64 va, u64 len)
{
	mmap((void *)va, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Looks up the translation of @va again. */
void fake_invlpg(u64 va)
{
	if (va >= QV_VA_GMEM && va < QV_VA_BLOCK) {
		u64 entry = me()->gmem_entries[(va - QV_VA_GMEM) / QV_PAGE];

		if (entry & PT_P)
			map(va, entry & PT_ADDR, QV_PAGE);
		else
			unmap(va, QV_PAGE);
	} else {
		u64 entry = me()->directory[va >> 21 & 511];

		if (entry & PT_P)
			map(va & -(u64)QV_HUGE, entry & PT_ADDR & -(u64)QV_HUGE, QV_HUGE);
		else
			unmap(va & -(u64)QV_HUGE, QV_HUGE);
	}
}

static void map_block(u64 pa, u64 len)
{
	unmap(QV_VA_IMAGE, QV_VA_SCRUB + QV_HUGE - QV_VA_IMAGE);
	map(QV_VA_BLOCK, pa, len);
	map(QV_VA_IMAGE, pa + QV_OFF_IMAGE, QV_IMAGE_MAX);
	mmap((void *)QV_VA_APIC, QV_PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Fills in the fields that the driver sets before the trampoline. */
static void fill_boot(struct qv_mon_boot *b, bool x2apic, bool assists)
{
	u32 i;

	b->block_pa = FAKE_BLOCK;
	b->block_len = QV_BLOCK_FRONT_END;
	b->num_cpus = FAKE_CPUS;
	b->tsc_khz = 1000;		/* short deadlines */
	b->x2apic = x2apic;
	b->ipi_direct = fake_ipi_direct;
	b->levels = b->nested_levels = fake_levels;
	fake_vendor_boot(b);
	b->page1g = 1;
	b->next_rip = b->decode = assists;
	b->phys_bits = PHYS_BITS;
	b->text_len = 0x4000;
	b->image_len = 0x6000;
	b->ecam_pa = FAKE_ECAM;
	b->ecam_len = FAKE_ECAM_LEN;
	b->num_ram = 2;
	b->ram[0].start = 0x1000, b->ram[0].end = 0x9f000;
	b->ram[1].start = 0x100000, b->ram[1].end = fake_ram_end;
	for (i = 0; i < FAKE_CPUS; i++) {
		b->cpus[i].linux_cpu = i;
		b->cpus[i].apic_id = 2 * i;
	}
}

void fake_open(bool x2apic, bool assists)
{
	struct instance *inst = me();

	if (fake_ram) {
		munmap(fake_ram, FAKE_RAM);
		close(ram_file);
	}
	fake_stuck = 0;
	ram_file = memfd_create("ram", 0);
	if (ram_file < 0 || ftruncate(ram_file, 1ull << PHYS_BITS))
		unit_give_up("no memory");
	fake_ram = mmap(NULL, FAKE_RAM, PROT_READ | PROT_WRITE, MAP_SHARED, ram_file, 0);
	if (fake_ram == MAP_FAILED)
		unit_give_up("cannot map");
	fake_traps();
	map_block(FAKE_BLOCK, QV_BLOCK_FRONT_END);
	memset((void *)QV_VA_IMAGE, 0x90, QV_IMAGE_MAX);
	*(struct qv_image_header *)QV_VA_IMAGE = (struct qv_image_header){
		.magic = "QVMON01", .vectors = FAKE_VECTORS, .vector_rest = FAKE_VECTOR_REST,
	};
	fill_boot(&inst->boot, x2apic, assists);
	inst->pt_pool.va = QV_VA_BLOCK;
	if (setup_tables(inst) || identity_tables(inst))
		unit_give_up("no tables");
	setup_rebase(inst);
	fake_enter();
}

void fake_become_cell(void)
{
	me()->id = 1;
	me()->nested.ram = NULL;		/* A cell does not map memory on access. */
	me()->req.num_ports = 1;
	me()->req.ports[0].first = me()->req.ports[0].last = 0x60;
	my_status()->state = QV_MON_RUNNING;
}

const struct instance *fake_instance(u64 block_pa)
{
	return (const struct instance *)(fake_ram + block_pa + QV_OFF_INSTANCE);
}
