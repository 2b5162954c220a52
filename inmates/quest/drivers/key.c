// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../kernel/process/process.h"
#include "../kernel/thread.h"
#include "../kernel/vcpu/vcpu.h"
#include "../kernel/wait.h"
#include "../mm/mm.h"
#include "../mm/table.h"
#include "../user/include/quest/errors.h"
#include "bell.h"
#include "channel.h"
#include "key.h"

#define AGAIN_US	100000	/* the library has waited a minute, or a CPU does not answer */

/* The one request to open a channel. The thread that gets the answer makes it IDLE. */
static struct {
	enum { IDLE, ASKED, ANSWERED } state;
	struct qv_chan_page page __attribute__((aligned(64)));
	uint32_t end;			/* of this cell */
	int user;			/* as channel_user() returns; 0: it gave up */
	int answer;			/* number of the channel, or minus an error */
} request;

static bool leaving[QV_INFO_MAX_CHANNELS];	/* to be closed */
static struct wait_queue work, done;	/* the thread waits for work, and others for the thread */

bool key_is(unsigned int n)
{
	return cell_present() && n >= cell_info()->num_channels && n < QV_INFO_MAX_CHANNELS &&
	       n - cell_info()->num_channels < cell_info()->dynamic;
}

/* From the request to close a channel on, an access to its memory may stop the cell. */
const struct qv_chan_page *key_page(unsigned int n)
{
	return key_is(n) && channel_at(n) && !leaving[n] ? channel_page(n) : NULL;
}

int key_find(uint32_t key)
{
	unsigned int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++)
		if (key_page(n) && key_page(n)->key == key)
			return (int)n;
	return -1;
}

static int error_of(int answer)
{
	switch (answer) {
	case QV_KEY_DENIED: return -ENOLINK;
	case QV_KEY_DIFFERS: return -EEXIST;
	case QV_KEY_FULL: return -ENOSPC;
	default: return -EINVAL;
	}
}

/* The manager answers when it can. Until then there can be no other request. */
static int settled(int answer, uint64_t *address)
{
	while (answer == QV_KEY_PENDING) {
		thread_sleep_us(AGAIN_US);
		answer = cell_key_answer(address);
	}
	return answer;
}

static bool refused_now(int answer)
{
	return answer == QV_KEY_RATE || answer == QV_KEY_BUSY || answer == QV_KEY_STUCK;
}

/* The kernel has the channel at its guest-physical address. Returns `n`, or minus an error. */
static int take(int n, uint64_t address, uint8_t vector)
{
	struct qv_info_channel at = { .address = address, .end = request.end };

	if (n < 0)
		return error_of(n);
	if (!map_identity(address, address + QV_KEY_LEN, PTE_WRITE | PTE_NO_EXECUTE))
		return -ENOMEM;
	at.length = QV_KEY_LEN;
	at.type = request.page.type;
	channel_set_window((unsigned int)n, &at, vector);
	if (!channel_page((unsigned int)n))
		return -EPROTO;
	bell_set_vector((unsigned int)n, vector);
	channel_set_user((unsigned int)n, request.user ? request.user : CHANNEL_KERNEL);
	return n;
}

/* A bell that comes before bell_set_vector() has no waiter yet. */
static void open_asked(void)
{
	uint8_t vector = request.page.flags & QV_CHAN_BELL ? bell_free_vector() : 0;
	uint64_t address = 0;
	int n;

	irq_enable();
	do
		n = settled(cell_key_open(&request.page, QV_KEY_END(request.end, vector, 0),
					  &address), &address);
	while (refused_now(n));
	irq_disable();
	request.answer = take(n, address, vector);
	request.state = request.user ? ANSWERED : IDLE;
	if (n >= 0 && (!request.user || request.answer < 0))
		key_close((unsigned int)n);
	wake_many(&done);
}

static void close_left(unsigned int n)
{
	uint64_t unused = 0;

	irq_enable();
	while (refused_now(settled(cell_key_close(n), &unused)))
		thread_sleep_us(AGAIN_US);
	irq_disable();
	channel_set_window(n, NULL, 0);
	channel_set_user(n, 0);
	bell_set_vector(n, 0);
	leaving[n] = false;
	wake_many(&done);
}

static _Noreturn void serve(void *arg)
{
	unsigned int n;

	(void)arg;
	irq_disable();
	for (;;) {
		for (n = 0; n < QV_INFO_MAX_CHANNELS && !leaving[n]; n++)
			;
		if (n < QV_INFO_MAX_CHANNELS)
			close_left(n);
		else if (request.state == ASKED)
			open_asked();
		else
			wait_on(&work);
	}
}

static void serve_thread(void *arg)
{
	serve(arg);
}

bool keys_start(void)
{
	if (!cell_present() || !cell_info()->dynamic)
		return true;
	cell_key_sleep_by(thread_sleep_us);
	return thread_create("keys", SYSTEM_VCPU, serve_thread, NULL) >= 0;
}

/* Fills the page as the other end does. Returns false if there can be no such channel. */
static bool describe(const struct quest_key *wish)
{
	const char *own = cell_info()->name;
	struct qv_chan_page *page = &request.page;

	memset(page, 0, sizeof(*page));
	page->type = wish->type;
	page->full = wish->full;
	page->flags = wish->flags;
	page->item = wish->item;
	page->slots = wish->slots ? wish->slots : 1;
	if (wish->type == QV_CHAN_MEMORY && wish->shared)
		page->end[1].flags = QV_CHAN_END_WRITES;
	request.end = !wish->writes;
	return !qv_chan_describe_key(page, wish->key, wish->writes ? own : wish->peer,
				     wish->writes ? wish->peer : own);
}

/* Waits until the thread has changed something. Returns 0, or minus an error. */
static int await(const struct process *p, uint64_t until)
{
	bool in_time = wait_on_until(&done, until);

	if (p && process_interrupted(p))
		return (int)process_interrupted(p);
	return in_time ? 0 : -ETIMEDOUT;
}

static int open_waiting(const struct quest_key *wish, const struct process *p, uint64_t until)
{
	int error = 0, answer;

	while (request.state != IDLE && !error)
		error = await(p, until);
	if (error)
		return error;
	if (key_find(wish->key) >= 0)
		return -EBUSY;
	if (!describe(wish))
		return -EINVAL;
	request.user = p ? p->pid : CHANNEL_KERNEL;
	request.state = ASKED;
	wake_all(&work);
	while (request.state == ASKED && !error)
		error = await(p, until);
	if (request.state == ASKED) {
		request.user = 0;
		return error;
	}
	answer = request.answer;
	request.state = IDLE;
	wake_many(&done);		/* there may be another request meanwhile */
	return answer;
}

int key_open(const struct quest_key *wish, const struct process *p, uint64_t until)
{
	bool irqs;
	int n;

	if (!cell_present() || !cell_info()->dynamic)
		return -ENOLINK;
	irqs = irq_save();
	n = open_waiting(wish, p, until);
	irq_restore(irqs);
	return n;
}

void key_close(unsigned int n)
{
	bool irqs = irq_save();

	channel_set_user(n, CHANNEL_KERNEL);
	leaving[n] = true;
	wake_all(&work);
	irq_restore(irqs);
}

void key_await_closed(unsigned int n)
{
	bool irqs = irq_save();

	while (leaving[n])
		wait_on(&done);
	irq_restore(irqs);
}
