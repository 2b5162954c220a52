// SPDX-License-Identifier: GPL-2.0-only
/*
 * The manager gives PCI functions to a cell and takes them back. Checks come first. They protect
 * all others: a cell gets no range of another cell, no RAM, no interrupt controller and no config
 * space except its own.
 */
#include "abi/errors.h"
#include "abi/log.h"
#include "core/cpu.h"
#include "core/log.h"
#include "core/pci.h"
#include "front/linux_memory.h"
#include "request.h"
#include "core/vendor.h"

#define BAR_MAX		(1ull << 36)
#define MESSAGES	0xfee00000ull	/* where writes are interrupts: 1 MiB */
#define MESSAGES_LEN	0x100000ull
#define TABLES_MAX	2048		/* entries of an MSI-X table */

#define CFG_COMMAND	0x04
#define CFG_CLASS	0x08
#define CFG_HEADER	0x0c
#define CLASS_BRIDGE	0x06	/* host and ISA bridges have a header like any function */
#define CFG_BARS	0x10
#define CFG_ROM		0x30
#define CFG_CAPS	0x34
#define COMMAND_IO_MEM	0x003
#define COMMAND_MASTER	0x004
#define COMMAND_NO_INTX	0x400
#define STATUS_CAPS	(1u << 20)
#define CAP_MSI		0x05
#define CAP_MSIX	0x11
#define MSI_ENABLE	(1u << 16)
#define MSI_COUNT	(7u << 20)
#define MSI_64		(1u << 23)
#define MSI_MASKS	(1u << 24)
#define MSIX_ENABLE	(1u << 31)
#define MSIX_FUNCTION_MASK (1u << 30)

static u64 config_of(u32 bdf)
{
	return me()->boot.ecam_pa + ((u64)bdf << 12);
}

/* ---- checks ---- */

static bool overlaps(u64 a, u64 a_len, u64 b, u64 b_len)
{
	return a < b + b_len && b < a + a_len;
}

static bool is_linux(const struct instance *inst, u64 pa, u64 len)
{
	u64 end = pa + len;

	while (pa < end) {
		u32 level = !(pa & (QV_HUGE - 1)) && end - pa >= QV_HUGE ? 2 : 1;

		if (front_owner(&inst->nested, pa, level) != FRONT_OWNS)
			return false;
		pa += level_size(level);
	}
	return true;
}

static bool bar_ok(const struct instance *inst, const struct qv_mon_bar *bar)
{
	const struct qv_mon_boot *b = &inst->boot;
	u32 i;

	if (!bar->len)
		return true;
	if (bar->ports)
		return bar->base < 0x10000 && bar->len <= 0x10000 - bar->base &&
		       !ports_never(b, bar->base, bar->base + bar->len - 1);
	if ((bar->base | bar->len) & (QV_PAGE - 1) || bar->len > BAR_MAX ||
	    bar->base >> b->phys_bits || (bar->base + bar->len - 1) >> b->phys_bits ||
	    bar->base < request_pages(&inst->req) * QV_HUGE ||
	    overlaps(bar->base, bar->len, b->ecam_pa, b->ecam_len) ||
	    overlaps(bar->base, bar->len, MESSAGES, MESSAGES_LEN))
		return false;
	for (i = 0; i < b->num_ram && i < QV_MON_RAM_RANGES; i++)
		if (overlaps(bar->base, bar->len, b->ram[i].start, b->ram[i].end - b->ram[i].start))
			return false;
	return is_linux(inst, bar->base, bar->len);
}

/* The function itself says the same */
static bool bar_true(struct pcpu *cpu, u32 bdf, u32 i, const struct qv_mon_bar *bar)
{
	u32 raw = device_read(cpu, config_of(bdf) + CFG_BARS + 4 * i);

	if (!bar->len)
		return true;
	if (bar->ports)
		return (raw & 1) && (raw & ~3u) == bar->base;
	return !(raw & 1) && (raw & ~0xfu) == (u32)bar->base &&
	       ((raw & 6) != 4 ? !(bar->base >> 32) : i + 1 < QV_MON_BARS &&
		device_read(cpu, config_of(bdf) + CFG_BARS + 4 * i + 4) == bar->base >> 32);
}

static bool taken(const struct instance *inst, const struct qv_mon_device *d)
{
	const struct qv_mon_device *other;
	const struct cell_slot *slot;
	u32 i;

	for (other = inst->req.devices; other < d; other++)
		if (other->bdf == d->bdf || (d->ioapic != QV_MON_NO_PIN &&
					     other->ioapic == d->ioapic && other->pin == d->pin))
			return true;
	for (slot = inst->cells; slot < inst->cells + QV_INSTANCES; slot++)
		for (i = 0; slot->state && i < slot->num_devices; i++)
			if (slot->devices[i].bdf == d->bdf || (d->ioapic != QV_MON_NO_PIN &&
			    slot->devices[i].ioapic == d->ioapic && slot->devices[i].pin == d->pin))
				return true;
	return false;
}

static u64 check_device(const struct instance *inst, const struct qv_mon_device *d)
{
	u32 i;

	if (d->flags & ~(QV_MON_DEVICE_MASTER | QV_MON_DEVICE_HIGH))
		return QV_ME_DEVICES;
	if (d->bdf >= inst->boot.ecam_len >> 12)
		return QV_ME_DEVICE_NONE;
	if (taken(inst, d))
		return QV_ME_DEVICE_TAKEN;
	if (d->ioapic != QV_MON_NO_PIN &&
	    (d->ioapic >= inst->boot.num_ioapics || d->pin >= 120 || d->vector < 32 || d->vector > 254))
		return QV_ME_DEVICE_PIN;
	if (!is_linux(inst, inst->boot.ecam_pa + ((u64)d->bdf << 12), QV_PAGE))
		return QV_ME_DEVICE_TAKEN;
	for (i = 0; i < QV_MON_BARS; i++)
		if (!bar_ok(inst, &d->bars[i]))
			return QV_ME_DEVICE_BAR;
	for (i = 0; i < QV_MON_BARS; i++)
		if (d->bars[i].ports && d->bars[i].len &&
		    ports_claimed(inst, d->bars[i].base, d->bars[i].base + d->bars[i].len - 1))
			return QV_ME_PORT_TAKEN;
	return QV_ME_OK;
}

/* Checks the function's own registers; its config space is known to belong to Linux */
static u64 check_function(struct pcpu *cpu, const struct qv_mon_device *d)
{
	u32 i;

	if (device_read(cpu, config_of(d->bdf)) == ~0u ||
	    (device_read(cpu, config_of(d->bdf) + CFG_HEADER) >> 16 & 0x7f) ||
	    device_read(cpu, config_of(d->bdf) + CFG_CLASS) >> 24 == CLASS_BRIDGE)
		return QV_ME_DEVICE_NONE;
	for (i = 0; i < QV_MON_BARS; i++)
		if (!bar_true(cpu, d->bdf, i, &d->bars[i]))
			return QV_ME_DEVICE_BAR;
	return QV_ME_OK;
}

u64 pci_check(const struct instance *inst, u32 caller)
{
	const struct qv_mon_create *q = &inst->req;
	u64 error = QV_ME_OK;
	u32 i;

	if (q->num_devices > QV_MAX_DEVICES)
		return QV_ME_DEVICES;
	if (q->num_devices && inst->boot.ecam_pa < request_pages(q) * QV_HUGE)
		return QV_ME_DEVICE_NONE;
	for (i = 0; i < q->num_devices && !error; i++) {
		error = check_device(inst, &q->devices[i]);
		if (!error)
			error = check_function(pcpu_of(caller), &q->devices[i]);
	}
	return error;
}

/* ---- the front end's tables ---- */

static void each_range(const struct qv_mon_create *q, void *ctx, bool (*what)(void *ctx, u64 pa, u64 len))
{
	u32 i, b;

	for (i = 0; i < q->num_devices; i++) {
		if (!what(ctx, config_of(q->devices[i].bdf), QV_PAGE))
			return;
		for (b = 0; b < QV_MON_BARS; b++) {
			const struct qv_mon_bar *bar = &q->devices[i].bars[b];

			if (bar->len && !bar->ports && !what(ctx, bar->base, bar->len))
				return;
		}
	}
}

static bool prepare_range(void *ctx, u64 pa, u64 len)
{
	u64 *error = ctx;

	if (front_prepare(&me()->nested, pa, len))
		*error = QV_ME_TABLES;
	return !*error;
}

u64 pci_prepare(const struct instance *inst)
{
	u64 error = QV_ME_OK;

	each_range(&inst->req, &error, prepare_range);
	return error;
}

static bool check_range(void *ctx, u64 pa, u64 len)
{
	*(bool *)ctx = is_linux(me(), pa, len);
	return *(bool *)ctx;
}

bool pci_still_ours(const struct qv_mon_create *q)
{
	bool ours = true;

	each_range(q, &ours, check_range);
	return ours;
}

bool pci_still_there(struct pcpu *cpu, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_devices; i++)
		if (check_function(cpu, &q->devices[i]))
			return false;
	return true;
}

static bool take_range(void *ctx, u64 pa, u64 len)
{
	linux_memory(pa, len, *(bool *)ctx ? LINUX_NONE : LINUX_ALL);
	return true;
}

void pci_take(const struct qv_mon_create *q, bool take)
{
	each_range(q, &take, take_range);
	ports_take(q, take);
}

/* ---- the cell's tables and rules ---- */

static void add_rule(struct pci_cell *p, u32 bdf, u32 reg, enum pci_check check, u32 writable, u32 keep)
{
	if (p->num_rules < PCI_RULES)
		p->rules[p->num_rules++] = (struct pci_rule){ bdf << 12 | reg, check, writable, keep };
}

/* Offset of a capability in the function's config space; 0: it has none */
static u32 find_cap(struct pcpu *cpu, u32 bdf, u32 id)
{
	u32 i, at;

	if (!(device_read(cpu, config_of(bdf) + CFG_COMMAND) & STATUS_CAPS))
		return 0;
	at = device_read(cpu, config_of(bdf) + CFG_CAPS) & 0xfc;
	for (i = 0; i < PCI_CAPS_MAX && at >= 0x40; i++) {
		u32 head = device_read(cpu, config_of(bdf) + at);

		if ((head & 0xff) == id)
			return at;
		at = head >> 8 & 0xfc;
	}
	return 0;
}

/* One message only; its registers always hold an allowed message (pci_begin) */
static void msi_rules(struct pcpu *cpu, struct pci_cell *p, u32 bdf, u32 cap)
{
	u32 control = device_read(cpu, config_of(bdf) + cap);
	u32 data = cap + (control & MSI_64 ? 12 : 8);

	add_rule(p, bdf, cap, PCI_ANY, MSI_ENABLE, ~0u);
	add_rule(p, bdf, cap + 4, PCI_MSI_ADDRESS, ~0u, ~0u);
	if (control & MSI_64)
		add_rule(p, bdf, cap + 8, PCI_ZERO, ~0u, ~0u);
	add_rule(p, bdf, data, PCI_MSI_DATA, 0xffff, 0xffff);
	if (control & MSI_MASKS)
		add_rule(p, bdf, data + 4, PCI_ANY, ~0u, ~0u);
}

static void msix_rules(struct pcpu *cpu, struct pci_cell *p, const struct qv_mon_device *d,
		       struct pci_table *t, u32 cap)
{
	u32 control = device_read(cpu, config_of(d->bdf) + cap);
	u32 place = device_read(cpu, config_of(d->bdf) + cap + 4);
	u64 len = ((control >> 16 & (TABLES_MAX - 1)) + 1) * 16ull, at = place & ~7u;
	const struct qv_mon_bar *bar = &d->bars[place & 7];

	if ((place & 7) >= QV_MON_BARS || bar->ports || bar->len < len || at > bar->len - len)
		return;			/* the cell does not have the table: so it has no MSI-X */
	t->start = bar->base + at;
	t->end = t->start + len;
	t->pages = t->start & -(u64)QV_PAGE;
	t->pages_len = ((t->end + QV_PAGE - 1) & -(u64)QV_PAGE) - t->pages;
	add_rule(p, d->bdf, cap, PCI_ANY, MSIX_ENABLE | MSIX_FUNCTION_MASK, ~0u);
}

static void make_rules(struct pcpu *cpu, struct pci_cell *p, const struct qv_mon_device *d,
		       struct pci_table *t)
{
	bool master = d->flags & QV_MON_DEVICE_MASTER, pin = d->ioapic != QV_MON_NO_PIN;
	u32 cap;

	/* A line that is not given to the cell belongs to Linux, whose devices may share it */
	add_rule(p, d->bdf, CFG_COMMAND, PCI_ANY, COMMAND_IO_MEM | (pin ? COMMAND_NO_INTX : 0) |
		 (master ? COMMAND_MASTER : 0), 0xffff);
	add_rule(p, d->bdf, CFG_HEADER, PCI_ANY, 0xffff, 0xffff);	/* cache line, latency */
	add_rule(p, d->bdf, 0x3c, PCI_ANY, 0xff, ~0u); /* interrupt line: a note for software */
	if (!master || pcpu_of(me()->req.cpus[0])->apic_id >= 255)	/* a message names 8 bits */
		return;
	cap = find_cap(cpu, d->bdf, CAP_MSI);
	if (cap)
		msi_rules(cpu, p, d->bdf, cap);
	cap = find_cap(cpu, d->bdf, CAP_MSIX);
	if (cap)
		msix_rules(cpu, p, d, t, cap);
}

/* All of config space is ones, through one table and one page; then the cell's own functions */
static int map_config(struct instance *cell)
{
	const struct qv_mon_boot *b = &me()->boot;
	struct paging *n = &cell->nested;
	u64 table = pool_take(n->pool), ones = pool_take(n->pool), pa;
	u64 end = (b->ecam_pa + b->ecam_len + QV_HUGE - 1) & -(u64)QV_HUGE;
	int bad = 0;
	u32 i;

	if (!table || !ones)
		return -1;
	memset(pool_table(n->pool, ones), 0xff, QV_PAGE);
	for (i = 0; i < PT_ENTRIES; i++)
		pool_table(n->pool, table)[i] = ones | nested_bits(n, NESTED_R | NESTED_WB);
	for (pa = b->ecam_pa; pa < end; pa += QV_HUGE) {
		u64 *entry = paging_entry(n, pa, 2), *own = NULL;

		if (!entry)
			return -1;
		*entry = table | PT_TABLE;
		for (i = 0; i < cell->req.num_devices; i++) {
			u64 page = config_of(cell->req.devices[i].bdf);

			if ((page ^ pa) & -(u64)QV_HUGE)
				continue;
			if (!own) {
				u64 fresh = pool_take(n->pool);

				if (!fresh)
					return -1;
				own = pool_table(n->pool, fresh);
				memcpy(own, pool_table(n->pool, table), QV_PAGE);
				*entry = fresh | PT_TABLE;
			}
			own[page >> 12 & (PT_ENTRIES - 1)] = page | nested_bits(n, NESTED_R);
		}
	}
	return bad;
}

int pci_map_cell(struct pcpu *cpu, struct instance *cell)
{
	const struct qv_mon_create *q = &cell->req;
	int bad = 0;
	u32 i, b;

	if (!q->num_devices)
		return 0;
	cell->boot.ecam_pa = me()->boot.ecam_pa;
	cell->boot.ecam_len = me()->boot.ecam_len;
	bad |= map_config(cell);
	for (i = 0; i < q->num_devices; i++) {
		struct pci_table *t = &cell->pci.tables[i];

		make_rules(cpu, &cell->pci, &q->devices[i], t);
		for (b = 0; b < QV_MON_BARS; b++) {
			const struct qv_mon_bar *bar = &q->devices[i].bars[b];

			if (bar->len && !bar->ports)
				bad |= paging_map(&cell->nested, bar->base, bar->base, bar->len,
						  nested_bits(&cell->nested, NESTED_R | NESTED_W));
		}
		bad |= paging_map(&cell->nested, t->pages, t->pages, t->pages_len,
				  nested_bits(&cell->nested, NESTED_R));
	}
	return bad;
}

/* ---- the functions themselves ---- */

static void quiet(struct pcpu *cpu, u32 bdf)
{
	u64 config = config_of(bdf);
	u32 msi = find_cap(cpu, bdf, CAP_MSI), msix = find_cap(cpu, bdf, CAP_MSIX);

	/* zeros leave the status half alone */
	device_write(cpu, config + CFG_COMMAND, COMMAND_NO_INTX);
	/* where Linux may have moved it, it would answer for others */
	device_write(cpu, config + CFG_ROM, 0);
	if (msi)
		device_write(cpu, config + msi,
			     device_read(cpu, config + msi) & ~(MSI_ENABLE | MSI_COUNT));
	if (msix)
		device_write(cpu, config + msix, device_read(cpu, config + msix) & ~MSIX_ENABLE);
	device_read(cpu, config); /* transactions under way have arrived when this comes back */
}

/* Every register for a message holds an allowed message: so enabling needs no check */
static void valid_messages(struct pcpu *cpu, const struct pci_cell *p, u32 address)
{
	u32 i;

	for (i = 0; i < p->num_rules; i++) {
		const struct pci_rule *r = &p->rules[i];

		if (r->check != PCI_ANY)
			device_write(cpu, me()->boot.ecam_pa + r->at, r->check == PCI_MSI_ADDRESS ? address :
				     r->check == PCI_MSI_DATA ? 0xff : 0);
	}
}

/* The same for an MSI-X table; all masked */
static void valid_table(struct pcpu *cpu, const struct pci_table *t, u32 bdf, u32 address)
{
	u64 at;

	if (!t->pages_len)
		return;
	device_write(cpu, config_of(bdf) + CFG_COMMAND, COMMAND_NO_INTX | COMMAND_IO_MEM);
	for (at = t->start; at < t->end; at += 16) {
		device_write(cpu, at + 12, 1);
		device_write(cpu, at, address);
		device_write(cpu, at + 4, 0);
		device_write(cpu, at + 8, 0xff);
	}
	device_write(cpu, config_of(bdf) + CFG_COMMAND, COMMAND_NO_INTX);
}

void pci_begin(struct pcpu *cpu, const struct instance *cell)
{
	u32 i, first = cell->icr.apic_id[0], address = MESSAGES | (first & 0xff) << 12;

	ioapic_sweep(cpu);
	for (i = 0; i < cell->req.num_devices; i++)
		quiet(cpu, cell->req.devices[i].bdf);
	valid_messages(cpu, &cell->pci, address);
	for (i = 0; i < cell->req.num_devices; i++) {
		const struct qv_mon_device *d = &cell->req.devices[i];

		valid_table(cpu, &cell->pci.tables[i], d->bdf, address);
		ioapic_route(cpu, d, first);
		log_event(cpu, QV_LOG_DEVICE, d->bdf, d->flags & QV_MON_DEVICE_MASTER);
	}
}

void pci_quiet(struct pcpu *cpu, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_devices; i++) {
		ioapic_mask(cpu, &q->devices[i]);
		quiet(cpu, q->devices[i].bdf);
	}
}
