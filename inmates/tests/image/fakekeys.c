// SPDX-License-Identifier: GPL-2.0-only
/*
 * The manager of QV and the other ends of channels at run time, for the fake cell with the option
 * `keys`, which has no monitor. The calls to the monitor arrive here (--wrap of the linker). A real
 * cell makes them. The name of the other end says what it does:
 *   echo       answers each message of a mailbox with the same, and rings; writes four items into a
 *              ring that it writes
 *   absent     is never there
 *   slow       as absent, and the manager takes four seconds to answer
 *   words      has described the key differently
 *   stranger   is not in the cell's file
 */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include <qv/end.h>
#include "../../quest/kernel/thread.h"
#include "../../quest/kernel/vcpu/vcpu.h"
#include "../../quest/mm/mm.h"
#include "../../quest/mm/table.h"

#define MEMORY		0x3A00000ull	/* beyond the channels of fakecell/prepare.c */
#define WINDOWS		2u
#define ICR		0x300
#define ICR_SELF	0x40000
#define LOOK_US		1000
#define SOON_US		300
#define SLOW_US		4000000
#define ITEMS		4u

static struct window {
	struct qv_chan_page page;
	struct qv_end far;
	uint32_t self, vector;
	uint32_t generation;		/* counts how often it was opened */
	bool open, echoes;
} windows[WINDOWS];

static struct {
	uint32_t number;		/* 0: there is no request */
	uint64_t a, end, due;
} post;
static bool has_thread;

uint32_t __real_cell_call_both(uint32_t number, uint64_t *a, uint64_t b);
uint32_t __wrap_cell_call_both(uint32_t number, uint64_t *a, uint64_t b);
uint32_t __wrap_cell_call_with(uint32_t number, uint64_t a, uint64_t b);

static struct qv_chan_page *life(const struct window *w)
{
	return (void *)(uintptr_t)(MEMORY + QV_KEY_LEN * (uint64_t)(w - windows));
}

static void far_rings(const struct window *w)
{
	if (w->vector)
		apic_write(ICR, ICR_SELF | w->vector);
}

static void far_echoes(struct window *w)
{
	uint64_t data[64];
	struct qv_item item;

	if (w->page.item > sizeof(data))
		return;
	if (w->page.type == QV_CHAN_MAILBOX) {
		if (!qv_end_read(&w->far, data, sizeof(data), &item) &&
		    !qv_end_write(&w->far, data, item.bytes))
			far_rings(w);
	} else if (w->page.type == QV_CHAN_RING && !w->far.self && w->far.count < ITEMS) {
		memset(data, 0, sizeof(data));
		data[0] = w->far.count + 1;
		if (!qv_end_write(&w->far, data, w->page.item))
			far_rings(w);
	}
}

static void far_ends(void *arg)
{
	unsigned int i;

	(void)arg;
	for (;;) {
		irq_disable();
		for (i = 0; i < WINDOWS; i++)
			if (windows[i].open && windows[i].echoes)
				far_echoes(&windows[i]);
		irq_enable();
		thread_sleep_us(LOOK_US);
	}
}

static const char *far_name(const struct qv_chan_page *page, uint64_t end)
{
	return page->end[!(end & 1)].name;
}

static int open(const struct qv_chan_page *page, uint64_t end, uint64_t *address)
{
	uint32_t self = end & 1;
	struct window *w;

	if (strcmp(page->end[self].name, "fake") || page->length > QV_KEY_LEN ||
	    !strcmp(far_name(page, end), "fake"))
		return QV_KEY_MALFORMED;
	if (!strcmp(far_name(page, end), "stranger"))
		return QV_KEY_DENIED;
	if (!strcmp(far_name(page, end), "words"))
		return QV_KEY_DIFFERS;
	for (w = windows; w < windows + WINDOWS && w->open; w++)
		;
	if (w == windows + WINDOWS)
		return QV_KEY_FULL;
	w->page = *page;
	w->self = self;
	w->vector = end >> 32 & 0xFF;
	w->echoes = !strcmp(far_name(page, end), "echo");
	w->generation++;
	memset(life(w), 0, page->length);
	*life(w) = *page;
	life(w)->session = 1;
	life(w)->end[self].life = QV_CHAN_LIFE(w->generation, QV_CHAN_IS_RUNNING);
	if (w->echoes) {
		life(w)->end[!self].life = QV_CHAN_LIFE(w->generation, QV_CHAN_IS_RUNNING);
		w->echoes = !qv_end_attach(&w->far, life(w), QV_KEY_LEN, !self);
	}
	w->open = true;
	*address = (uintptr_t)life(w);
	return (int)(cell_info()->num_channels + (w - windows));
}

static int close(uint64_t n)
{
	struct window *w = &windows[n - cell_info()->num_channels];

	if (n < cell_info()->num_channels || w >= windows + WINDOWS || !w->open)
		return QV_KEY_NONE;
	w->open = false;
	memset(life(w), 0xFF, QV_KEY_LEN);	/* an access to it is noticed */
	return (int)n;
}

static int answer(uint64_t *address)
{
	int result;

	if (!post.number)
		return QV_KEY_NONE;
	if (rdtsc() < post.due)
		return QV_KEY_PENDING;
	result = post.number == QV_CALL_CLOSE ? close(post.a) :
		 open((const struct qv_chan_page *)(uintptr_t)post.a, post.end, address);
	post.number = 0;
	return result;
}

static int request(uint32_t number, uint64_t a, uint64_t b)
{
	bool slow = number == QV_CALL_OPEN &&
		!strcmp(far_name((const struct qv_chan_page *)(uintptr_t)a, b), "slow");

	if (post.number)
		return QV_KEY_BUSY;
	post.number = number;
	post.a = a;
	post.end = b;
	post.due = rdtsc() + timer_from_us(slow ? SLOW_US : SOON_US);
	return 0;
}

uint32_t __wrap_cell_call_both(uint32_t number, uint64_t *a, uint64_t b)
{
	bool irqs;
	int result;

	if (strcmp(cell_info()->name, "fake"))
		return __real_cell_call_both(number, a, b);
	/* the other ends look by themselves, so a bell to them is not needed */
	if (number == QV_CALL_BELL) {
		*a = 0;
		return 0;
	}
	if (!has_thread) {
		has_thread = true;
		(void)map_identity(MEMORY, MEMORY + WINDOWS * QV_KEY_LEN,
				   PTE_WRITE | PTE_NO_EXECUTE);
		(void)thread_create("far", SYSTEM_VCPU, far_ends, NULL);
	}
	irqs = irq_save();
	result = number == QV_CALL_ANSWER ? answer(a) : request(number, *a, b);
	irq_restore(irqs);
	return (uint32_t)result;
}

uint32_t __wrap_cell_call_with(uint32_t number, uint64_t a, uint64_t b)
{
	return __wrap_cell_call_both(number, &a, b);
}
