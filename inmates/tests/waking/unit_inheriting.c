// SPDX-License-Identifier: GPL-2.0-only
/*
 * A network driver that is a program waits on the I/O VCPU of the network. When the function or the
 * kernel wakes it, this VCPU has the period of the receiver with the shortest one, and so its
 * priority (nic_wake() of drivers/net/nic.c, and kernel/wait.c).
 */
#include <string.h>
#include <qv/cell.h>
#include "../../quest/drivers/net/driver.h"
#include "../../quest/drivers/net/nic.h"
#include "../../quest/kernel/deferred.h"
#include "../../quest/kernel/dispatch.h"
#include "../../quest/kernel/wait.h"
#include "unit.h"

#define MS		100000ull

const struct nic_driver e1000e_driver, igb_driver, igbvf_driver, apart_driver;
static const struct qv_info info;
static struct thread idle, driver, hog, receivers[3];
static struct wait_queue events, served;	/* of the driver, of receivers */
static int network;

const struct qv_info *cell_info(void) { return &info; }
void deferred_raise(struct deferred *d) { (void)d; }
static void work(void) { }

bool deferred_start_on(struct deferred *d, const char *name, int vcpu)
{
	(void)name;
	d->vcpu = vcpu;
	return true;
}

static int create(enum vcpu_type type, uint64_t budget, uint64_t period)
{
	const struct vcpu_params p = {
		.type = type, .budget = budget, .period = period, .owner = 1,
	};
	int id = sched_vcpu_create(dispatch_sched(), &p, 0);

	CHECK(id >= 0);
	return id;
}

static void settle(struct thread *expected)
{
	dispatch_changed();
	dispatch_check();
	CHECK(dispatch_current() == expected);
}

/* The thread begins on VCPU `vcpu`, and waits. */
static void begin(struct thread *t, int vcpu, struct wait_queue *q)
{
	t->state = THREAD_READY;
	dispatch_admit(t, vcpu);
	settle(t);
	wait_on(q);
	settle(&idle);
}

static uint64_t period(void)
{
	return vcpu_period(sched_vcpu(dispatch_sched(), network));
}

/* The driver waits, and nothing but it and receivers has run. */
static void plug(void)
{
	memset(receivers, 0, sizeof(receivers));
	idle = driver = hog = (struct thread){ .state = THREAD_READY };
	events = served = (struct wait_queue){ .head = NULL };
	dispatch_init(&idle, 0, ADMISSION_BOUND, true);
	network = create(IO_VCPU, MS, 10 * MS);
	CHECK(nic_serve(work, network, &served));
	begin(&driver, network, &events);
}

static void add_hog(void)
{
	dispatch_admit(&hog, create(MAIN_VCPU, MS, 6 * MS));
	settle(&hog);
}

TEST(driver_in_ring_3_inherits_the_shortest_period_of_receivers)
{
	plug();
	begin(&receivers[0], create(MAIN_VCPU, MS, 8 * MS), &served);
	begin(&receivers[1], create(MAIN_VCPU, MS / 2, 4 * MS), &served);
	begin(&receivers[2], create(BACKGROUND_VCPU, 0, 0), &served);
	add_hog();
	nic_wake(&events);
	settle(&driver);
	CHECK_EQ(period(), 4 * MS);
	wait_on(&events);
	settle(&hog);
	/* that receiver has got its frame, and the other one still waits */
	wake_thread(&receivers[1]);
	settle(&receivers[1]);
	nic_wake(&events);
	CHECK_EQ(period(), 8 * MS);
	settle(&receivers[1]);
}

TEST(driver_in_ring_3_has_its_own_period_without_receivers)
{
	plug();
	begin(&receivers[0], create(BACKGROUND_VCPU, 0, 0), &served);
	add_hog();
	nic_wake(&events);
	settle(&hog);
	CHECK(driver.state == THREAD_READY);
	CHECK_EQ(period(), 10 * MS);
}
