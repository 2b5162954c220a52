// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of a network driver that is a program (kernel/userdriver.c): only the driver can make
 * them, a new driver begins with empty rings, and no wake-up is lost, whenever interrupts come and
 * whichever thread runs. The function, the gate of its interrupt and the thread `net` are models.
 */
#include <stdlib.h>
#include <string.h>
#include "../../quest/drivers/net/apart.h"
#include "../../quest/drivers/net/nic.h"
#include "../../quest/kernel/process/heap.h"
#include "../../quest/kernel/process/process.h"
#include "../../quest/kernel/userdriver.h"
#include "../../quest/user/include/quest/errors.h"
#include "unit.h"

#define ROUNDS		20000
#define HELD		64		/* frames that the function holds */
#define COMPONENT	1

static struct apart_area *area;
static struct nic device;
static struct process driver, other;
static bool masked, pending, busy, unmask;	/* the interrupt */
static bool poked, woken, handed, withdrawn, fails;
static uint64_t interrupts;
static unsigned int held, to_come;	/* frames in the function; those that come later */
static uint32_t received, sent, answered;
static bool alone;			/* the thread `net` does not run until the driver waits */
static bool late;			/* a wait ended by time, though there was work */

/* ---- the function and its interrupt ---- */

static void interrupt(void)
{
	if (masked || !pending)
		return;
	masked = true;
	poked = true;
	interrupts++;
}

static void set_mask(bool now)
{
	unmask = busy && !now;
	if (!unmask)
		masked = now;
	interrupt();
}

static void arrive(void)
{
	if (!to_come || held == HELD)
		return;
	to_come--;
	held++;
	pending = true;
	interrupt();
}

/* The gate masks the interrupt until the thread has run. */
void nic_poke(void)
{
	poked = true;
	set_mask(true);
}

struct nic *nic_device(void) { return &device; }
bool nic_is_apart(void) { return true; }
bool nic_polled(void) { return false; }
uint64_t nic_interrupts(void) { return interrupts; }
void nic_acknowledge(void) { pending = false; }
void nic_withdraw(void) { withdrawn = true; }

struct nic_parts nic_parts(void)
{
	return (struct nic_parts){
		.area = area, .registers = 0x1000, .registers_size = 0x20000,
		.memory = 0x100000, .memory_size = 0x31000,
	};
}

const char *nic_hand_over(bool polled)
{
	(void)polled;
	handed = true;
	return fails ? "it does not end its reset" : NULL;
}

void nic_set_busy(bool now)
{
	busy = now;
	if (unmask && !busy)
		set_mask(false);
}

void nic_wake(struct wait_queue *q)
{
	(void)q;
	woken = true;
}

/* ---- the kernel ---- */

void print(const char *format, ...) { (void)format; }
void irq_enable(void) { }
void wake_all(struct wait_queue *q) { (void)q; }
bool process_take_heap(struct process *p) { return !p->ending; }
void process_give_heap(struct process *p) { (void)p; }
long process_interrupted(const struct process *p) { return p->ending ? -EINTR : 0; }
uint64_t space_find_foreign(const struct space *s, size_t n) { return s->brk + n; }

struct process *process_find(int pid)
{
	return pid == driver.pid ? &driver : NULL;
}

void process_end(struct process *p, int status)
{
	p->ending = true;
	p->status = status;
}

/* The registers are not cached, the kernel's part is not writable, nothing else is mapped. */
bool space_map_foreign(struct space *s, uint64_t start, uint64_t page, size_t n, uint64_t rights)
{
	const struct nic_parts parts = nic_parts();

	(void)start;
	s->brk++;
	if (page == parts.registers)
		return n == 0x20 && rights == (USER_DATA | PTE_UNCACHED);
	if (page == parts.memory)
		return n == 0x31 && rights == USER_DATA;
	if (page == (uintptr_t)&area->out)
		return n == sizeof(area->out) / PAGE_SIZE && rights == USER_READ;
	return page == (uintptr_t)&area->in && n == sizeof(area->in) / PAGE_SIZE &&
	       rights == USER_DATA;
}

/* The thread `net`: at times answers each frame for which there is room. */
static void net(void)
{
	const volatile uint8_t *frame;
	bool answers = rnd_below(2);

	if (!poked)
		return;
	poked = false;
	(void)userdriver_begin();
	while (device.driver->receive(&device, &frame)) {
		CHECK(frame[0] == (uint8_t)received);
		device.driver->release(&device);
		received++;
		if (answers && device.driver->room(&device)) {
			device.driver->send(&device, 60);
			answered++;
		}
	}
	userdriver_end();
	set_mask(false);
}

void wait_on(struct wait_queue *q)
{
	(void)q;
	net();
}

bool wait_on_until(struct wait_queue *q, uint64_t at)
{
	(void)q;
	(void)at;
	for (woken = false; !woken && (poked || (to_come && held < HELD)); ) {
		if (rnd_below(2))
			net();
		else
			arrive();
	}
	late |= !woken && (held || area->in.taken != area->out.put ||
			   area->in.put != area->out.taken);
	return woken;
}

static void plug(void)
{
	free(area);
	area = aligned_alloc(PAGE_SIZE, sizeof(*area));
	memset(area, 0, sizeof(*area));
	device = (struct nic){ .driver = &apart_driver, .memory = area, .lost = true };
	driver = (struct process){ .pid = 5, .component = COMPONENT };
	other = (struct process){ .pid = 6 };
	masked = pending = poked = withdrawn = fails = late = false;
	held = to_come = 0;
	received = sent = answered = 0;
	userdriver_allow(COMPONENT);
}

static void say_address(void)
{
	memcpy(area->in.address, "\x52\x54\0\1\2\3", NIC_ADDRESS);
	area->in.started = area->in.link = 1;
}

TEST(driving_only_the_driver_can_call)
{
	struct quest_nic map;

	plug();
	CHECK(userdriver_open(&other, &map) == -EPERM && !handed);
	CHECK(userdriver_wait(&driver, 0, 1) == -EBADF);
	CHECK(!userdriver_open(&driver, &map) && handed && map.bus == 0x100000);
	CHECK(userdriver_open(&driver, &map) == -EBUSY);
	CHECK(userdriver_open(&other, &map) == -EPERM);
	CHECK(userdriver_wait(&other, 0, 1) == -EBADF);
	CHECK(userdriver_used(&driver) && !userdriver_used(&other));
	userdriver_leave(&other);
	CHECK(!withdrawn && userdriver_used(&driver));
	userdriver_leave(&driver);
	CHECK(withdrawn && device.lost && !userdriver_used(&driver));
	CHECK(userdriver_wait(&driver, 0, 1) == -EBADF);
}

TEST(driving_fails_without_effect)
{
	struct quest_nic map;

	plug();
	fails = true;
	CHECK(userdriver_open(&driver, &map) == -ENETDOWN && withdrawn && device.lost);
	fails = false;
	driver.ending = true;
	CHECK(userdriver_open(&driver, &map) == -EINTR && !userdriver_used(&driver));
	driver.ending = false;
	CHECK(!userdriver_open(&driver, &map));
	userdriver_leave(&driver);
}

TEST(driving_an_impossible_word_ends_the_driver)
{
	struct quest_nic map;

	plug();
	CHECK(!userdriver_open(&driver, &map));
	say_address();
	area->in.put = 1000;
	CHECK(userdriver_wait(&driver, 0, 1) == -EINTR);
	CHECK(driver.ending && driver.status == 6 && device.lost);
	userdriver_leave(&driver);
	driver.ending = false;
	CHECK(!userdriver_open(&driver, &map) && !device.lost && !area->in.put);
	userdriver_leave(&driver);
}

/* Other threads may run, and frames may come, between any two steps of the driver. */
static void others(void)
{
	if (!rnd_below(3))
		arrive();
	if (!alone && !rnd_below(3))
		net();
}

static void drive(void)
{
	alone = rnd_below(2);
	while (alone && to_come && rnd_below(HELD))
		arrive();
	while (area->in.taken != area->out.put) {
		area->in.taken++;
		sent++;
		others();
	}
	while (held && area->in.put - area->out.taken < QUEST_NIC_RECEIVED) {
		area->in.slots[area->in.put % QUEST_NIC_RECEIVED].length = 60;
		area->in.slots[area->in.put % QUEST_NIC_RECEIVED].frame[0] =
			(uint8_t)area->in.put;
		held--;
		others();
		area->in.put++;
		others();
	}
}

TEST(driving_no_wake_up_is_lost)
{
	struct quest_nic map;
	unsigned int round, came = 0;
	long seen = 0;

	plug();
	CHECK(!userdriver_open(&driver, &map));
	say_address();
	for (round = 0; round < ROUNDS; round++) {
		unsigned int more = (unsigned int)rnd_below(rnd_below(16) ? 3 : 200);

		came += more;
		to_come += more;
		drive();
		if (rnd_below(2))
			drive();
		seen = userdriver_wait(&driver, (uint32_t)seen, 1);
		CHECK(seen >= 0);
	}
	for (round = 0; round < 10 * ROUNDS && !late && seen >= 0; round++) {
		drive();
		seen = userdriver_wait(&driver, (uint32_t)seen, 1);
	}
	CHECK(!late && !device.wrong && received == came && sent == answered);
	userdriver_leave(&driver);
}
