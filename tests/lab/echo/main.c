// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends back each item that it reads, without interrupts: it looks at its channels in turn. Items
 * of a channel NAME go to the channel NAME-back, messages of a mailbox to the same mailbox.
 */
#include <inmate/boot.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <qv/end.h>

#define ITEM	65536		/* bytes of the largest item */
#define BEAT	4096		/* looks between two heartbeats */

static struct echo {
	struct qv_end end;
	struct echo *back;	/* where items of this channel go; NULL: nothing is read */
	bool holds;		/* .size bytes of .item wait for room in .back */
	uint64_t size;
	unsigned char item[ITEM];
} echoes[QV_INFO_MAX_CHANNELS];
static uint32_t num;

static bool is_back(const char *back, const char *name)
{
	size_t n = strlen(name);

	return !memcmp(back, name, n) && !strcmp(back + n, "-back");
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

/* One look at a channel. An item that finds no room waits. */
static void look(struct echo *e)
{
	struct qv_item item;

	if (!e->back)
		return;
	if (!e->holds) {
		if (qv_end_read(&e->end, e->item, e->end.page.item, &item))
			return;
		e->holds = true;
		e->size = item.bytes;
	}
	e->holds = qv_end_write(&e->back->end, e->item, e->size) != QV_CHAN_DONE;
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
