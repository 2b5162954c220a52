// SPDX-License-Identifier: GPL-2.0-only
/*
 * An instance's own page tables, its empty nested tables, interrupt table and task state segments.
 * The driver runs setup_tables() for the first instance (the module compiles this file as well),
 * the manager for the others. The block is cleared, except for the image and inst->boot. @inst is
 * the block's present mapping; the new tables show it at QV_VA_BLOCK.
 */
#include "abi/image.h"
#include "abi/log.h"
#include "abi/mark.h"
#include "core/instance.h"
#include "core/x86.h"
#include "tables/setup.h"

_Static_assert(sizeof(struct qv_mon_status) <= QV_OFF_LOG, "status area");
_Static_assert(QV_OFF_LOG + sizeof(struct qv_mon_log) <= QV_OFF_MARK, "log area");
_Static_assert(QV_OFF_MARK + sizeof(struct qv_mon_mark) <= QV_OPEN_LEN, "mark area");
_Static_assert(QV_OFF_CPUS + QV_MAX_CPUS * QV_CPU_LEN < QV_OFF_AREAS, "areas of the front end");
_Static_assert(QV_VA_BLOCK + QV_BLOCK_FRONT_END <= QV_VA_MANAGE, "mappings of the manager");
_Static_assert(QV_VA_GMEM + QV_MAX_CPUS * QV_PAGE <= QV_VA_LIFE, "guest memory, life pages");
_Static_assert(sizeof(struct qv_mon_create) <= QV_REQUEST_LEN, "requests of cells");

static int map_block(struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	u64 pa = b->block_pa;
	u32 image = QV_OFF_IMAGE + QV_IMAGE_MAX;

	/* Maps all but the image, which must not be writable, not even at another address */
	return paging_map(&inst->host, QV_VA_BLOCK, pa, QV_OPEN_LEN, PT_P | PT_W | PT_NX) ||
	       paging_map(&inst->host, QV_VA_BLOCK + image, pa + image, b->block_len - image,
			  PT_P | PT_W | PT_NX);
}

static int map_image(struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	u64 pa = b->block_pa + QV_OFF_IMAGE;

	return paging_map(&inst->host, QV_VA_IMAGE, pa, b->text_len, PT_P) ||
	       paging_map(&inst->host, QV_VA_IMAGE + b->text_len, pa + b->text_len,
			  QV_IMAGE_MAX - b->text_len, PT_P | PT_NX);
}

#define DOUBLE_FAULT	8

/* Exceptions and interrupts enter the image at the addresses in its head */
static void build_idt(struct instance *inst)
{
	const struct qv_image_header *h = (const void *)(size_t)(inst->pt_pool.va + QV_OFF_IMAGE);
	u64 *gate = (u64 *)inst->idt;
	u32 i;

	for (i = 0; i < 256; i++) {
		u64 at = i < 32 ? h->vectors + i * 4 : h->vector_rest;

		gate[2 * i] = (at & 0xffff) | 0x10ull << 16 | 0x8eull << 40 |
			      (at & 0xffff0000) << 32;
	}
	/* IST 1: double faults have their own stack, since the normal stack may be the cause */
	gate[2 * DOUBLE_FAULT] |= 1ull << 32;
}

/* Sets the fields of the task state segments that are not zero */
static void build_tss(struct instance *inst)
{
	u32 i;

	for (i = 0; i < inst->boot.num_cpus; i++) {
		u32 area = QV_OFF_CPUS + i * QV_CPU_LEN;

		*(u32 *)(size_t)(inst->pt_pool.va + area + CPU_OFF_TSS + TSS_IST1) =
			/* address bits 63..32 stay zero, since the stack is below 4 GiB */
			QV_VA_BLOCK + area + CPU_OFF_IST;
	}
}

int setup_tables(struct instance *inst)
{
	struct qv_mon_boot *b = &inst->boot;
	struct paging *host = &inst->host, *nested = &inst->nested;
	u64 delta = QV_VA_BLOCK - inst->pt_pool.va;
	u64 *entry;

	inst->pt_pool.pa = b->block_pa;
	inst->pt_pool.next = QV_OFF_CPUS + b->num_cpus * QV_CPU_LEN;
	inst->pt_pool.end = inst->id ? b->block_len : QV_OFF_AREAS;
	host->pt_pool = nested->pt_pool = &inst->pt_pool;
	host->levels = b->levels;
	host->max_leaf = 1;
	host->root = pt_take(&inst->pt_pool);
	nested->levels = b->nested_levels;
	nested->ept = b->ept;
	nested->max_leaf = 2;
	nested->root = pt_take(&inst->pt_pool);
	/* an empty pool stays empty, so the last page is the one to look at */
	if (!nested->root || map_block(inst) || map_image(inst))
		return -1;
	if (!b->x2apic && paging_map(host, QV_VA_APIC, APIC_PAGE, QV_PAGE,
				     PT_P | PT_W | PT_NX | PT_PCD | PT_PWT))
		return -1;
	if (b->tramp_va && paging_map(host, b->tramp_va, b->tramp_pa, QV_PAGE, PT_P))
		return -1;
	entry = paging_entry(host, QV_VA_GMEM, 1);
	if (!entry)
		return -1;
	inst->gmem_entries = (u64 *)((u64)(size_t)entry + delta);
	entry = paging_entry(host, QV_VA_IMAGE & ~((1ull << 30) - 1), 2);
	inst->directory = (u64 *)((u64)(size_t)entry + delta);
	b->cr3 = host->root;
	build_idt(inst);
	build_tss(inst);
	return 0;
}

void setup_rebase(struct instance *inst)
{
	struct instance *there = (struct instance *)(size_t)(QV_VA_BLOCK + QV_OFF_INSTANCE);

	inst->pt_pool.va = QV_VA_BLOCK;
	inst->host.pt_pool = inst->nested.pt_pool = inst->park.pt_pool = &there->pt_pool;
	if (inst->nested.ram)
		inst->nested.ram = &there->boot;
}
