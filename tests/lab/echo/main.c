// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends back each item that it reads: it looks at its channels in turn. Items of a channel NAME go
 * to the channel NAME-back, messages of a mailbox to the same mailbox.
 *
 * Word 1 of an item that it sends with a bell is the TSC before the write. In word 2 of an item
 * that came with a bell, it sends back the TSC at which its handler began. Only bells interrupt it.
 *
 * An item with at least four words of which word 0 is LIE is an order, and is not sent back: word 2
 * is the index of a word in the cell's section of channel number word 1, and word 3 its new value.
 */
#include <inmate/apic.h>
#include <inmate/boot.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include <qv/end.h>

#define ITEM	65536		/* bytes of the largest item */
#define BEAT	4096		/* looks between two heartbeats */
#define LIE	0x45494Cull

static struct echo {
	struct qv_end end;
	struct echo *back;	/* where items of this channel go; NULL: nothing is read */
	bool holds;		/* .size bytes of .item wait for room in .back */
	uint64_t size;
	unsigned char item[ITEM] __attribute__((aligned(8)));
	volatile uint64_t rung;	/* the TSC at the last bell; 0: none yet */
} echoes[QV_INFO_MAX_CHANNELS];
static uint32_t num;

static bool is_back(const char *back, const char *name)
{
	size_t n = strlen(name);

	return !memcmp(back, name, n) && !strcmp(back + n, "-back");
}

static bool has_bell(const struct echo *e)
{
	return e->end.page.flags & QV_CHAN_BELL;
}

static uint64_t *words(struct echo *e)
{
	return (uint64_t *)e->item;
}

static void bell(struct trap_frame *frame)
{
	uint64_t now = rdtsc();
	uint32_t i;

	for (i = 0; i < num; i++)
		if (cell_info()->bells[i].vector == frame->vector)
			echoes[i].rung = now;
}

static void set_bells(void)
{
	uint32_t i;

	trap_init();
	apic_init(cell_info()->x2apic);
	for (i = 0; i < num; i++)
		(void)cell_set_bell(i, bell);
	irq_enable();
}

static void attach(void)
{
	const struct qv_info *info = cell_info();
	uint32_t i, k;

	for (i = 0; i < info->num_channels && i < QV_INFO_MAX_CHANNELS; i++) {
		const struct qv_info_channel *c = &info->channels[i];

		if (qv_end_attach(&echoes[i].end, (void *)(uintptr_t)c->address, c->length,
				  c->end) || echoes[i].end.page.item > ITEM)
			cpu_stop();
	}
	num = i;
	for (i = 0; i < num; i++)
		for (k = 0; k < num; k++) {
			bool mailbox = echoes[i].end.page.type == QV_CHAN_MAILBOX;

			if (mailbox ? i == k : is_back(info->channels[k].name,
						       info->channels[i].name))
				echoes[i].back = &echoes[k];
		}
}

/* Carries out an order. Returns false if the item is none. */
static bool lied(struct echo *e)
{
	const uint64_t *order = words(e);
	const struct qv_end *end;

	if (e->size < 4 * sizeof(*order) || order[0] != LIE || order[1] >= num)
		return false;
	end = &echoes[order[1]].end;
	if (order[2] < end->page.end[end->self].size / sizeof(*order))
		((volatile uint64_t *)(end->window +
				       end->page.end[end->self].offset))[order[2]] = order[3];
	return true;
}

/* One look at a channel. An item that finds no room waits. */
static void look(struct echo *e)
{
	struct qv_item item;

	if (!e->back)
		return;
	if (!e->holds) {
		if (qv_end_read(&e->end, e->item, e->end.page.item, &item))
			return;
		e->size = item.bytes;
		if (lied(e))
			return;
		e->holds = true;
		while (has_bell(e) && e->rung <= words(e)[1])
			cpu_relax();		/* the bell of this item comes */
		if (has_bell(e))
			words(e)[2] = e->rung;
	}
	if (has_bell(e->back))
		words(e)[1] = rdtsc();
	e->holds = qv_end_write(&e->back->end, e->item, e->size) != QV_CHAN_DONE;
	if (!e->holds && has_bell(e->back))
		cell_ring((unsigned int)(e->back - echoes));
}

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address);

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address)
{
	uint32_t i, looks = 0;

	(void)magic;
	(void)boot_address;
	if (!cell_detect())
		cpu_stop();
	attach();
	set_bells();
	cell_set_state(QV_INMATE_RUNNING);
	for (;; looks++) {
		for (i = 0; i < num; i++)
			look(&echoes[i]);
		cpu_relax();
		if (looks % BEAT)
			continue;
		cell_beat();
		if (cell_request() == QV_REQUEST_SHUTDOWN)
			cell_set_state(QV_INMATE_HALTED);
	}
}
