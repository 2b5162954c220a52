// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../../../lib/linux/manage.h"
#include "../../quest/arch/user.h"
#include "../../quest/drivers/bell.h"
#include "../../quest/drivers/channel.h"
#include "../../quest/ipc/cellset.h"
#include "../../quest/kernel/dispatch.h"
#include "../../quest/kernel/machine.h"
#include "../../quest/kernel/process/move.h"
#include "../../quest/kernel/process/park.h"
#include "../../quest/kernel/program.h"
#include "../../quest/kernel/threadslot.h"
#include "../../quest/kernel/vcpu/vcpu.h"
#include "../../quest/migration/build.h"
#include "../../quest/migration/channels.h"
#include "../../quest/migration/costs.h"
#include "../../quest/migration/delay.h"
#include "../../quest/migration/load.h"
#include "../../quest/mm/arena.h"
#include "../../quest/mm/paging.h"
#include "unit.h"
#include "world.h"

#define MEMORY		0x10000000ul	/* an address of the host that no sanitizer uses */
#define PAGES		(RAM_PAGES + 2 * ARENA_PAGES_HERE)
#define STREAM		(8u << 20)
#define KHZ		1000000
#define ARENA		7		/* session */

struct machine machine = { .tsc_khz = KHZ };
struct archive archive;
struct mig_link world_link;
struct mig_message world_answer;
unsigned int world_answers, world_part, world_runs, world_least, world_learned;
uint64_t world_wait_us;
bool (*world_source)(void);

static uint64_t now, kernel_root;
static struct process processes[PROCESS_MAX];
static struct sched sched;
static struct qv_end here, there;
static unsigned char window[16 * QV_CHAN_PAGE] __attribute__((aligned(QV_CHAN_PAGE)));
static unsigned char stream[STREAM];
static size_t size, sent;
static jmp_buf end;

static bool all_may(void)
{
	return true;
}

static void make_memory(bool own_arena)
{
	static uint64_t bitmap[(MEMORY / PAGE_SIZE + PAGES) / 64 + 1];
	static void *memory;

	if (!memory)
		memory = mmap((void *)MEMORY, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(memory == (void *)MEMORY);
	pages_init(bitmap, MEMORY + RAM_PAGES * PAGE_SIZE);
	pages_release(MEMORY, MEMORY + RAM_PAGES * PAGE_SIZE);
	arena_init(MEMORY + RAM_PAGES * PAGE_SIZE,
		   own_arena ? ARENA_PAGES_HERE * PAGE_SIZE : 0);
	kernel_root = pages_alloc(1);
	memset((void *)kernel_root, 0, PAGE_SIZE);
	pages_keep(SHELL_PAGES, all_may);
	world_least = (unsigned int)pages_available();
}

void world_begin(bool own_arena)
{
	const struct sched_config config = { .quantum = 1, .admission = ADMISSION_EXACT };
	struct qv_chan_page plan = {
		.type = QV_CHAN_MAILBOX, .item = ITEM, .slots = 1, .ends = 2, .name = "link",
		.flags = QV_CHAN_RECONNECT,
	};

	now = 1ull << 40;
	make_memory(own_arena);
	sched_init(&sched, &config, now);
	memset(processes, 0, sizeof(processes));
	memset(window, 0, sizeof(window));
	CHECK(!qv_chan_lay_out(&plan) && plan.length <= sizeof(window));
	manage_make(window, &plan, 0x100);
	manage_start(window, 0);
	manage_start(window, 1);
	CHECK(!qv_end_attach(&there, window, plan.length, 0));
	CHECK(!qv_end_attach(&here, window, plan.length, 1));
	world_link = (struct mig_link){
		.stream.end = &here,
		.arena = (void *)(MEMORY + (RAM_PAGES + ARENA_PAGES_HERE) * PAGE_SIZE),
		.arena_bytes = ARENA_PAGES_HERE * PAGE_SIZE, .arena_session = ARENA,
	};
	world_answers = world_runs = world_learned = 0;
	world_part = ITEM - sizeof(struct mig_message);
	world_wait_us = 100;
	world_source = world_send_all;
	world_answer.kind = 0;
}

/* ---- the source ---- */

static void add(const void *data, size_t n)
{
	memcpy(stream + size, data, n);
	size += n;
}

void world_program(unsigned int pages, enum mig_rights rights, unsigned int gap, bool in_arena)
{
	static struct mig_header h;
	static struct thread_image t;
	static struct vcpu v;
	struct vcpu_image image = { .id = VCPU_FIXED };
	struct mig_page page = { .rights = rights, .in_arena = in_arena };
	unsigned int i;

	h = (struct mig_header){
		.magic = MIG_MAGIC, .version = MIG_VERSION, .build = mig_build(),
		.tsc_khz = KHZ, .num_threads = 1, .num_vcpus = 1, .vcpu = VCPU_FIXED,
		.pages = pages, .heap = USER_IMAGE, .brk = USER_IMAGE,
		.threads[0].state = SLOT_RUNS, .name = "program", .arena = in_arena ? ARENA : 0,
	};
	t = (struct thread_image){ .vcpu = VCPU_FIXED, .frame.rip = USER_IMAGE };
	v = (struct vcpu){ .state = VCPU_ACTIVE, .params = { "vcpu", MAIN_VCPU, 100, 1000, 0 } };
	sporadic_init(&v.main, 100, 1000, now);
	memcpy(image.plain, &v, VCPU_PLAIN);
	size = sent = 0;
	add(&h, sizeof(h));
	add(&t, sizeof(t));
	add(&image, sizeof(image));
	for (i = 0; i < pages; i++) {
		page.va = USER_IMAGE + (uint64_t)i * gap * PAGE_SIZE;
		page.at = in_arena ? i % ARENA_PAGES_HERE * PAGE_SIZE : 0;
		add(&page, sizeof(page));
		if (!in_arena)
			size += PAGE_SIZE;
	}
}

static void take_answer(void)
{
	struct qv_item item;
	const void *data;

	if (qv_end_peek(&there, &data, &item))
		return;
	memcpy(&world_answer, data, sizeof(world_answer));
	CHECK(!qv_end_release(&there));
	world_answers++;
}

bool world_send(enum mig_kind kind, unsigned int bytes)
{
	struct mig_message m = { .kind = kind };
	void *room;

	take_answer();
	if (qv_end_claim(&there, &room))
		return false;
	m.bytes = bytes < size - sent ? bytes : (uint32_t)(size - sent);
	m.last = sent + m.bytes == size;
	memcpy(room, &m, sizeof(m));
	memcpy((char *)room + sizeof(m), stream + sent, m.bytes);
	CHECK(!qv_end_commit(&there, sizeof(m) + m.bytes));
	sent += m.bytes;
	return true;
}

void world_restart(void)
{
	manage_start(window, 0);
	CHECK(!qv_end_attach(&there, window, sizeof(window), 0));
	world_answers = world_runs = 0;
	world_answer.kind = 0;
}

void world_spoil(void)
{
	if (sent < size)
		stream[sent + rnd_below(size - sent)] = (unsigned char)rnd();
}

bool world_send_all(void)
{
	if (sent == size) {
		take_answer();
		return !world_answers || world_answer.kind == MSG_ACCEPTED;
	}
	(void)world_send(sent ? MSG_MORE : MSG_BEGIN, world_part);
	return !world_answers || world_answer.kind == MSG_ACCEPTED;
}

/* ---- time ---- */

uint64_t rdtsc(void)
{
	return ++now;
}

void irq_enable(void)
{
}

uint64_t timer_from_us(uint64_t us)
{
	return us * US;
}

void world_run(void)
{
	if (!setjmp(end))
		mig_destination_work(&world_link);
}

static void wait_us(uint64_t us)
{
	now += us * US;
	if (pages_available() < world_least)
		world_least = (unsigned int)pages_available();
	if (!world_source())
		longjmp(end, 1);
}

uint64_t bell_count(unsigned int n)
{
	(void)n;
	return 0;
}

bool bell_wait(unsigned int n, uint64_t seen, uint64_t at)
{
	(void)n;
	(void)seen;
	wait_us(world_wait_us);
	return now < at;
}

void thread_sleep_us(uint64_t us)
{
	wait_us(us);
}

/* ---- processes ---- */

struct process *world_process(void)
{
	int i;

	for (i = 0; i < PROCESS_MAX; i++)
		if (processes[i].state)
			return &processes[i];
	return NULL;
}

struct process *process_at(int i)
{
	return processes[i].state ? &processes[i] : NULL;
}

struct process *process_new(const struct process *parent, int vcpu, const char *name)
{
	struct process *p = processes;

	(void)parent;
	(void)name;
	while (p->state)
		p++;
	*p = (struct process){ .state = PROCESS_STARTING, .pid = 7, .vcpu = vcpu };
	return p;
}

int move_image(struct process *p)
{
	static struct program_image image;

	memset(&image, 0, sizeof(image));
	p->image = &image;
	return 0;
}

int move_admit(struct process *p)
{
	(void)p;
	return 0;
}

int move_attach(int pid)
{
	(void)pid;
	world_process()->state = PROCESS_LIVE;
	world_runs++;
	return 0;
}

void move_discard(struct process *p, int status)
{
	(void)status;
	if (pages_available() < world_least)
		world_least = (unsigned int)pages_available();
	space_destroy(&p->space);
	p->state = PROCESS_FREE;
}

unsigned int threadslots_free(unsigned int kept)
{
	return THREAD_MAX - kept;
}

/* ---- the rest of the kernel ---- */

struct sched *dispatch_sched(void)
{
	return &sched;
}

void cellset_end(struct bounds_end *e, struct admission_entry set[SCHED_VCPUS], int id)
{
	(void)id;
	*e = (struct bounds_end){ .set = set };
}

uint64_t mig_build(void)
{
	return 5;
}

uint32_t user_mxcsr_mask(void)
{
	return 0xFFFF;
}

uint64_t mig_used(void)
{
	return now;
}

uint64_t mig_cost(enum mig_side side, const struct mig_size *s)
{
	(void)side;
	(void)s;
	return 1;
}

void mig_cost_learn(enum mig_side side, const struct mig_size *s, uint64_t used)
{
	(void)side;
	(void)s;
	(void)used;
	world_learned++;
}

uint64_t mig_wait(struct admission_entry set[SCHED_VCPUS], uint64_t demand, bool ready)
{
	(void)set;
	(void)ready;
	return demand;
}

void mig_delay_take(void)
{
}

int mig_channels_attach(struct process *p, const struct mig_header *h)
{
	(void)p;
	(void)h;
	return 0;
}

void mig_load_answer(struct mig_link *l)
{
	struct mig_message m = { .kind = MSG_LOAD };

	if (mig_release(&l->stream) && mig_claim(&l->stream))
		(void)mig_commit(&l->stream, &m);
}

void channel_ring_after(struct qv_end *e, unsigned int n)
{
	(void)e;
	(void)n;
}

void print(const char *fmt, ...)
{
	(void)fmt;
}

int archive_find(const struct archive *a, const char *name)
{
	(void)a;
	(void)name;
	return -1;
}

uint64_t paging_usable(uint64_t flags)
{
	return flags;
}

uint64_t paging_kernel_root(void)
{
	return kernel_root;
}

unsigned int paging_generation(void)
{
	return 0;
}

void paging_forget(uint64_t va)
{
	(void)va;
}

void paging_switch(uint64_t root)
{
	(void)root;
}
