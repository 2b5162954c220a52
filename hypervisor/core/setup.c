// SPDX-License-Identifier: GPL-2.0-only
/*
 * An instance's own page tables. The driver runs setup_tables() for the first
 * instance (it is compiled into the module as well), the manager for the others.
 * @inst is where the block is mapped now; the tables show it at QV_VA_BLOCK.
 */
#include "instance.h"
#include "setup.h"

static int map_block(struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	u64 pa = b->block_pa;
	u32 image = QV_OFF_IMAGE + QV_IMAGE_MAX;

	/* All but the image, which must not be writable, not even at another address */
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

int setup_tables(struct instance *inst)
{
	struct qv_mon_boot *b = &inst->boot;
	struct paging *host = &inst->host;
	u64 delta = QV_VA_BLOCK - inst->pool.va;
	u64 *entry;

	inst->pool.pa = b->block_pa;
	inst->pool.next = QV_OFF_CPUS + b->num_cpus * QV_CPU_LEN;
	inst->pool.end = b->block_len;
	host->pool = &inst->pool;
	host->levels = b->levels;
	host->max_leaf = 1;
	host->root = pool_take(&inst->pool);
	if (!host->root || map_block(inst) || map_image(inst))
		return -1;
	if (!b->x2apic && paging_map(host, QV_VA_APIC, 0xfee00000, QV_PAGE,
				     PT_P | PT_W | PT_NX | PT_PCD | PT_PWT))
		return -1;
	if (b->tramp_va && paging_map(host, b->tramp_va, b->tramp_pa, QV_PAGE, PT_P))
		return -1;
	entry = paging_entry(host, QV_VA_WINDOW, 1);
	if (!entry)
		return -1;
	inst->windows = (u64 *)((u64)(size_t)entry + delta);
	entry = paging_entry(host, QV_VA_IMAGE & ~((1ull << 30) - 1), 2);
	inst->directory = (u64 *)((u64)(size_t)entry + delta);
	b->cr3 = host->root;
	return 0;
}

void setup_rebase(struct instance *inst)
{
	struct instance *there = (struct instance *)(size_t)(QV_VA_BLOCK + QV_OFF_INSTANCE);

	inst->pool.va = QV_VA_BLOCK;
	inst->host.pool = inst->nested.pool = inst->park.pool = &there->pool;
	if (inst->nested.ram)
		inst->nested.ram = &there->boot;
}
