// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <string.h>
#include <inmate/console.h>
#include <inmate/context.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../../quest/arch/user.h"
#include "../../quest/kernel/dispatch.h"
#include "../../quest/kernel/lock.h"
#include "../../quest/kernel/machine.h"
#include "../../quest/kernel/panic.h"
#include "../../quest/kernel/process/children.h"
#include "../../quest/kernel/process/exit.h"
#include "../../quest/kernel/process/userthread.h"
#include "../../quest/kernel/threadslot.h"
#include "../../quest/kernel/userchannel.h"
#include "../../quest/kernel/userdriver.h"
#include "../../quest/kernel/vcpu/vcpu.h"
#include "../../quest/migration/migration.h"
#include "../../quest/mm/kstack.h"
#include "unit.h"
#include "baton.h"
#include "world.h"

#define CYCLES_PER_US	1000
#define STEPS		30000		/* a world that takes more of them hangs */

/* stdlib.h has types of the same names as types.h of Quest */
_Noreturn void abort(void);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *p);

struct machine machine;
unsigned int world_burst, world_unkept, world_kept_more;
size_t world_written;
int world_wished;

static unsigned char stacks[THREAD_MAX][KSTACK_BYTES] __attribute__((aligned(4096)));
_Static_assert(THREAD_MAX <= BATONS, "a baton for each thread");
static struct sched sched;
static struct thread *current, *idle;
static uint64_t now, state;
static unsigned int burst, pages;
static size_t written;
static bool in_order;
static void (*user_acts)(void);

/* ---- around the functions of string.c that Quest uses (the linker's option --wrap) ---- */

void *__real_inmate_memcpy(void *to, const void *from, size_t n);
void *__real_inmate_memset(void *to, int byte, size_t n);
void *__wrap_inmate_memcpy(void *to, const void *from, size_t n);
void *__wrap_inmate_memset(void *to, int byte, size_t n);

static void add_written(size_t n)
{
	written += n;
	world_written = written > world_written ? written : world_written;
}

void *__wrap_inmate_memcpy(void *to, const void *from, size_t n)
{
	add_written(n);
	return __real_inmate_memcpy(to, from, n);
}

void *__wrap_inmate_memset(void *to, int byte, size_t n)
{
	add_written(n);
	return __real_inmate_memset(to, byte, n);
}

/* ---- in place of dispatch.c ---- */

static unsigned int number_of(const struct thread *t)
{
	return (unsigned int)((t->stack - (uintptr_t)stacks) / KSTACK_BYTES);
}

void dispatch_init(struct thread *idle_thread, unsigned int vector, enum admission_test admission,
		   bool background)
{
	const struct sched_config config = {
		.quantum = 10000 * CYCLES_PER_US, .background = background,
		.admission = admission,
	};

	(void)vector;
	sched_init(&sched, &config, now);
	idle = current = idle_thread;
	sched_entity_init(&idle->sched);
}

struct sched *dispatch_sched(void)
{
	return &sched;
}

struct thread *dispatch_current(void)
{
	return current;
}

void dispatch_wake_for(struct thread *t, uint64_t period, uint64_t at)
{
	t->timer.queued = false;
	t->state = THREAD_READY;
	sched_ready_for(&sched, &t->sched, period, at);
}

void dispatch_wake(struct thread *t)
{
	dispatch_wake_for(t, 0, rdtsc());
}

void dispatch_admit(struct thread *t, int vcpu)
{
	sched_entity_init(&t->sched);
	t->own_vcpu = vcpu;
	(void)sched_bind(&sched, &t->sched, vcpu, rdtsc());
	dispatch_wake(t);
}

int dispatch_bind(struct thread *t, int vcpu)
{
	return sched_bind(&sched, &t->sched, vcpu, rdtsc());
}

void dispatch_vcpu_changed(int vcpu)
{
	(void)vcpu;
}

/* The present thread stops here until the world chooses it again. */
void world_yield(void)
{
	burst = 0;
	baton_return(number_of(current));
}

void let_interrupts_in(void)
{
	if (current != idle)
		world_yield();
}

void irq_enable(void)
{
	let_interrupts_in();
}

void dispatch_block(void)
{
	if (current->state == THREAD_DEAD)
		baton_end();
	sched_block(&sched, &current->sched, rdtsc());
	world_yield();
}

void dispatch_sleep(uint64_t at)
{
	current->timer.at = at;
	current->timer.queued = true;
	dispatch_block();
}

void dispatch_changed(void)
{
}

void dispatch_preempt(void)
{
}

void dispatch_arrived(void)
{
}

uint64_t dispatch_used(const struct thread *t)
{
	(void)t;
	return 0;
}

static void expire(struct thread *t)
{
	now = t->timer.at > now ? t->timer.at : now;
	if (t->state == THREAD_WAITING) {
		waitqueue_leave(t);
		t->late = true;
	}
	dispatch_wake(t);
}

/* ---- the world ---- */

uint64_t rdtsc(void)
{
	return ++now;
}

uint64_t world_below(uint64_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % n;
}

/* A new thread's context has its function and its argument (thread_prepare()). */
static void begin(void *arg)
{
	const struct thread *t = arg;
	const struct context *c = (const struct context *)(uintptr_t)t->rsp;
	thread_function *fn = (thread_function *)(uintptr_t)c->r12;

	fn((void *)(uintptr_t)c->r13);
	thread_exit();
}

static void resume(struct thread *t)
{
	unsigned int n = number_of(t);

	current = t;
	written = 0;
	baton_give(n, begin, t);
	current = idle;
	if (t->state != THREAD_DEAD)
		return;
	baton_join(n);
	sched_unbind(&sched, &t->sched, rdtsc());
	threadslot_free(t);
}

/* Returns a thread that sleeps, or is ready, chosen at random; NULL: no such thread. */
static struct thread *choose(bool sleeps)
{
	struct thread *t, *chosen = NULL;
	unsigned int n = 0;
	int i;

	for (i = 1; i < THREAD_MAX; i++) {
		t = threadslot_at(i);
		CHECK(!t || !t->process || i < THREAD_MAX - SHELL_THREADS);
		if (t && (sleeps ? t->timer.queued : t->state == THREAD_READY) &&
		    !world_below(++n))
			chosen = t;
	}
	return chosen;
}

static struct thread *earliest(void)
{
	struct thread *t, *first = NULL;
	int i;

	for (i = 1; i < THREAD_MAX; i++) {
		t = threadslot_at(i);
		if (t && t->timer.queued && (!first || t->timer.at < first->timer.at))
			first = t;
	}
	return first;
}

void world_run(void)
{
	unsigned int steps = 0;
	struct thread *t;

	while (steps++ < STEPS) {
		t = in_order || world_below(6) ? NULL : choose(true);
		if (!t && !(t = choose(false)))
			t = earliest();
		if (!t)
			return;
		if (t->timer.queued)
			expire(t);
		resume(t);
	}
	unit_give_up("threads run without end");
}

void world_begin(uint64_t seed, void (*act)(void))
{
	state = seed;
	user_acts = act;
	in_order = false;
	baton_init();
	world_unkept = 1000000;
	threads_init(0, ADMISSION_BOUND, false);
	vcpus_init();
}

void world_sleep_in_order(void)
{
	in_order = true;
}

void world_thread(thread_function *fn)
{
	CHECK(thread_create("kernel", SYSTEM_VCPU, fn, NULL) > 0);
}

struct process *world_program(const struct process *parent, unsigned int num_threads, int vcpu)
{
	static const struct trap_frame frame;
	struct process *p = process_new(parent, BEST_EFFORT_VCPU, "program");
	struct thread *t;
	unsigned int i;

	if (!p)
		return NULL;
	if (vcpu < 0)
		vcpu = vcpu_create("own", MAIN_VCPU, 1000, 100000, p->pid);
	if (vcpu >= 0)
		p->vcpu = vcpu;
	for (i = 0; i < num_threads; i++) {
		if (userthread_create(&t, p, i, &frame, SHELL_THREADS))
			break;
		p->threads[i] = (struct process_thread){ .state = SLOT_RUNS };
		p->num_threads++;
	}
	p->state = i ? PROCESS_LIVE : PROCESS_FREE;
	return i ? p : NULL;
}

static unsigned int threads_of(const struct process *p)
{
	unsigned int n = 0;
	struct thread *t;
	int i;

	for (i = 1; i < THREAD_MAX; i++) {
		t = threadslot_at(i);
		if (!t || t->process != p)
			continue;
		n++;
		CHECK(t->state != THREAD_NEW);
		CHECK(uservcpu_usable(t->own_vcpu, p->pid));
	}
	return n;
}

void world_check(void)
{
	const struct process *p;
	const struct vcpu *v;
	unsigned int images = 0;
	int i, status;

	for (i = 0; i < PROCESS_MAX; i++) {
		p = process_at(i);
		if (!p)
			continue;
		if (p->state == PROCESS_LIVE)
			CHECK(threads_of(p) == p->num_threads && p->num_threads && !p->image);
		else
			CHECK(!threads_of(p));
		CHECK(!p->leaving || p->state != PROCESS_LIVE);
		images += p->state == PROCESS_DETACHED;
	}
	for (i = VCPU_FIXED; i < SCHED_VCPUS; i++) {
		v = sched_vcpu(&sched, i);
		p = v ? process_find(v->params.owner) : NULL;
		CHECK(!v || (p && p->state != PROCESS_ZOMBIE));
	}
	CHECK(!pages == !images);
	CHECK(images || !world_kept_more);
	while (process_wait(KERNEL_PID, -1, true, &status) > 0)
		;
}

/* ---- in place of the rest of the kernel ---- */

/* Others may run before the search ends. */
uint64_t pages_alloc_step(size_t n, size_t *from)
{
	if (!*from && world_below(2)) {
		*from = 1;
		return 0;
	}
	pages += (unsigned int)n;
	return (uintptr_t)aligned_alloc(PAGE_SIZE, n * PAGE_SIZE);
}

void pages_free(uint64_t address, size_t n)
{
	pages -= (unsigned int)n;
	free((void *)(uintptr_t)address);
}

size_t pages_unkept(void)
{
	return world_unkept > world_kept_more ? world_unkept - world_kept_more : 0;
}

void pages_keep_more(int n)
{
	world_kept_more += (unsigned int)n;
}

bool kstacks_init(unsigned int n)
{
	return n <= THREAD_MAX;
}

uint64_t kstack_make(unsigned int n)
{
	burst++;
	world_burst = burst > world_burst ? burst : world_burst;
	return (uintptr_t)stacks[n];
}

void kstack_drop(unsigned int n)
{
	memset(stacks[n], 0xA5, KSTACK_BYTES);
}

int kstack_guarded(uint64_t va)
{
	(void)va;
	return -1;
}

char boot_guard[1], boot_stack[1];

void first_return(void)
{
}

uint64_t timer_from_us(uint64_t us)
{
	return us * CYCLES_PER_US;
}

uint64_t timer_to_us(uint64_t cycles)
{
	return cycles / CYCLES_PER_US;
}

void user_fpu_init(struct fpu_state *f)
{
	memset(f, 0, sizeof(*f));
}

void user_fpu_copy(struct fpu_state *to, const struct thread *from)
{
	*to = *from->fpu;
}

void user_forget(const struct thread *t)
{
	(void)t;
}

void user_leave_space(void)
{
}

_Noreturn void user_enter(struct trap_frame *frame)
{
	for (;;) {
		world_yield();
		user_acts();
		process_leave(frame);
	}
}

void files_close_all(struct process *p)
{
	(void)p;
}

void shared_process_ends(struct process *p)
{
	(void)p;
}

bool shared_used(const struct process *p)
{
	(void)p;
	return false;
}

bool userchannel_used(const struct process *p)
{
	(void)p;
	return false;
}

void userchannel_leave(const struct process *p)
{
	(void)p;
}

bool userdriver_used(const struct process *p)
{
	(void)p;
	return false;
}

void userdriver_leave(const struct process *p)
{
	(void)p;
}

void space_destroy(struct space *s)
{
	s->root = 0;
	let_interrupts_in();
}

void space_unmap(struct space *s, uint64_t start, uint64_t end)
{
	(void)s;
	(void)start;
	(void)end;
}

uint64_t space_stack_top(unsigned int n)
{
	return USER_STACKS + (n + 1) * 2 * STACK_BYTES;
}

void lock_inherit(const struct process *p)
{
	(void)p;
}

void lock_inherit_all(void)
{
	let_interrupts_in();
}

const char *migration_cell(int link)
{
	return link ? NULL : "two";
}

int migration_nth(int n)
{
	return n ? -1 : 0;
}

bool migration_pending(struct process *p)
{
	(void)p;
	return false;
}

int migration_wish(struct process *p, int link, uint64_t until, bool strict)
{
	(void)link;
	(void)until;
	(void)strict;
	world_wished = p->pid;
	return 0;
}

_Noreturn void panic(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vfprintf(stderr, fmt, args);
	va_end(args);
	abort();
}
