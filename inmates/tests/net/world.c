// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <inmate/console.h>
#include "../../quest/drivers/net/e1000e.h"
#include "../../quest/drivers/net/nic.h"
#include "../../quest/drivers/net/physical.h"
#include "../../quest/kernel/clock.h"
#include "../../quest/kernel/dispatch.h"
#include "../../quest/kernel/panic.h"
#include "../../quest/kernel/pollqueue.h"
#include "../../quest/kernel/process/process.h"
#include "../../quest/kernel/wait.h"
#include "../../quest/mm/pages.h"
#include "../../quest/net/interface.h"
#include "../../quest/net/serve.h"
#include "../../quest/net/table.h"
#include "unit.h"
#include "world.h"

#define HEAP		(512u << 10)
#define RDT		0x2818
#define TDT		0x3818
#define RESET		(1u << 26)
#define VALID		(1u << 31)
#define DONE		1u
#define WAIT_US		10000
#define WAITS_MAX	100000		/* so many waits are a hang */
#define BURST		32

static uint32_t registers[PF_REGISTERS / 4];
static struct e1000e_memory *memory;
static struct nic device;
static uint32_t rx_at, tx_at;		/* the function's next descriptors */
static uint64_t now = 1;			/* in us: the TSC counts as many */
static unsigned int failing, allocations, waits;
static size_t allocated;
static struct process process = { .pid = WORLD_PID, .job = WORLD_PID };
static struct wait_queue queue;

/* ---- the function ---- */

static void pause_us(uint64_t us)
{
	now += us;
	registers[0] &= ~RESET;
	registers[0x5400 / 4] = 0x12005452;
	registers[0x5404 / 4] = VALID | 0x5634;
}

struct nic *nic_device(void)
{
	return &device;
}

bool nic_listens(void)
{
	return device.driver->listen;
}

void nic_poke(void)
{
}

bool world_describe(const void *frame, size_t size, uint16_t length, uint8_t status,
		    uint8_t errors)
{
	struct e1000e_rx *d = &memory->rx[rx_at];

	if (rx_at == registers[RDT / 4])
		return false;
	memcpy(memory->rx_buffer[rx_at], frame, size);
	d->length = length;
	d->errors = errors;
	d->status = status;
	rx_at = (rx_at + 1) % NIC_RX;
	return true;
}

bool world_receive(const void *frame, size_t length)
{
	return world_describe(frame, length, (uint16_t)length, 3, 0);
}

size_t world_sent(uint8_t frame[FRAME_MAX])
{
	struct e1000e_tx *d = &memory->tx[tx_at];
	size_t length = d->length;

	if (tx_at == registers[TDT / 4])
		return 0;
	CHECK(length <= NIC_FRAME_MAX);
	memcpy(frame, memory->tx_buffer[tx_at], length);
	d->status = DONE;
	tx_at = (tx_at + 1) % NIC_TX;
	return length;
}

/* ---- the kernel ---- */

uint64_t rdtsc(void) { return now; }
uint64_t timer_from_us(uint64_t us) { return us; }
uint64_t timer_to_us(uint64_t cycles) { return cycles; }
uint64_t clock_wait_end(uint64_t at) { return at; }
void let_interrupts_in(void) { }
struct process *process_current(void) { return &process; }
long process_interrupted(const struct process *p) { return p->ending; }
void wake_all(struct wait_queue *q) { (void)q; }

struct wait_queue *poll_queue(bool network)
{
	(void)network;
	return &queue;
}

uint64_t pages_alloc(size_t n)
{
	void *pages = NULL;

	return posix_memalign(&pages, PAGE_SIZE, n * PAGE_SIZE) ? 0 : (uint64_t)(uintptr_t)pages;
}

void print(const char *format, ...)
{
	(void)format;
}

void panic(const char *format, ...)
{
	fprintf(stderr, "panic: %s\n", format);
	abort();
}

bool wait_on_until(struct wait_queue *q, uint64_t at)
{
	(void)q;
	if (++waits == WAITS_MAX)
		unit_give_up("a call does not return");
	world_work(WAIT_US);
	return now < at;
}

/* ---- lwIP's heap ---- */

void *world_malloc(size_t n)
{
	size_t *made;

	if (allocated + n > HEAP || (failing && !rnd_below(failing)))
		return NULL;
	made = malloc(sizeof(*made) * 2 + n);
	if (!made)
		return NULL;
	*made = n;
	allocated += n;
	allocations++;
	return made + 2;
}

void *world_calloc(size_t count, size_t n)
{
	void *made = world_malloc(count * n);

	return made ? memset(made, 0, count * n) : NULL;
}

void world_free(void *at)
{
	size_t *made = at;

	allocated -= made[-2];
	allocations--;
	free(made - 2);
}

void world_fail(unsigned int n)
{
	failing = n;
}

unsigned int world_allocated(void)
{
	return allocations;
}

/* ---- all ---- */

void world_count_waits(void)
{
	waits = 0;
}

void world_pass(uint64_t us)
{
	now += us;
}

void world_work(uint64_t us)
{
	now += us;
	do {
		interface_tick();
		serve_sockets();
	} while (interface_take(BURST));
}

void world_plug(void)
{
	void *made = NULL;

	if (posix_memalign(&made, PAGE_SIZE, sizeof(*memory)))
		abort();
	memory = memset(made, 0, sizeof(*memory));
	device = (struct nic){ .driver = &e1000e_driver, .registers = registers,
			       .memory = memory, .pause_us = pause_us };
	CHECK(!e1000e_driver.start(&device));
	registers[8 / 4] |= 2;		/* the link is up */
}

void world_begin_at(const struct port *port, bool dhcp)
{
	struct net_wish wish = { .address = { 192, 168, 7, 2 }, .prefix = 24, .name = "quest" };

	if (dhcp)
		wish = (struct net_wish){ .dhcp = true, .name = "quest" };
	CHECK(sockets_init() && interface_start(port, &wish));
	sockets_begin(true);
	world_work(1000000);
}

void world_begin(bool dhcp)
{
	world_plug();
	world_begin_at(&nic_port, dhcp);
}
