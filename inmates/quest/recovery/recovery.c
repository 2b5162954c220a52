// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/latency.h>
#include <inmate/printf.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/panic.h"
#include "../kernel/process/process.h"
#include "../kernel/vcpu/namedvcpu.h"
#include "../kernel/vcpu/vcpu.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/types.h"
#include "checkpoint.h"
#include "component.h"
#include "detector.h"
#include "file.h"
#include "outage.h"
#include "publish.h"
#include "recovery.h"
#include "takeover.h"

#define KEY		"recovery="
#define C_US		1000
#define T_US		10000
#define PATIENCE_US	1000000		/* the longest time until a program has ended */
#define PUBLISH_US	100000		/* how often Linux gets counts and states, at least */

static const struct archive_file *file;	/* NULL: none is to be read */
static int vcpu = -1;
static bool started;

int recovery_vcpu(void)
{
	return vcpu;
}

uint64_t recovery_bound(void)
{
	bool irqs = irq_save();
	uint64_t period = sched_vcpu(dispatch_sched(), vcpu)->params.period;

	irq_restore(irqs);
	return 2 * period;
}

static bool is_in(uint32_t set, unsigned int n)
{
	return set >> n & 1;
}

/* Gives `c` up: a program of it does not end. */
static void lose(struct component *c)
{
	c->state = COMPONENT_LOST;
	irq_enable();
	print("recovery: %s is given up: its program does not end\n", c->rule->name);
	irq_disable();
}

/* Ends the components of `set` that run, the last one first. Returns those that have ended. */
static uint32_t stop_all(uint32_t set)
{
	uint64_t until = rdtsc() + timer_from_us(PATIENCE_US);
	uint32_t stopped = 0;
	unsigned int n;

	for (n = num_components; n--;) {
		if (!is_in(set, n) || components[n].state != COMPONENT_RUNS)
			continue;
		if (component_stop(&components[n], until)) {
			components[n].state = COMPONENT_DOWN;
			stopped |= 1u << n;
		} else {
			lose(&components[n]);
		}
	}
	return stopped;
}

static void start_all(uint32_t set)
{
	unsigned int n;

	for (n = 0; n < num_components; n++)
		if (is_in(set, n))
			component_start(&components[n]);
}

/* The component is back: counts the length of its outage for `qvctl latency`. */
static void complete(struct component *c, struct outage *o, uint64_t at)
{
	char name[QV_LATENCY_NAME];

	o->alive = at;
	c->outage = -1;
	if (at - o->fault > c->longest)
		c->longest = at - o->fault;
	(void)format_buf(name, sizeof(name), "recovery %s", c->rule->name);
	latency_add(latency_open(name), at - o->fault);
	recovery_publish(recovery_bound());
	irq_enable();
	print("recovery: %s is back after %lu us\n", c->rule->name, timer_to_us(at - o->fault));
	irq_disable();
}

static void report(const struct component *c, const struct outage *o, const struct strategy *s)
{
	static const char *const names[STRATEGY_KINDS] = {
		"restart", "another implementation: ", "rollback to its checkpoint",
		"restart of the cell", "given up", "take-over by another cell",
	};

	recovery_publish(recovery_bound());	/* the line wakes its readers */
	irq_enable();
	print("recovery: %s: %s %lu%s: %s%s\n", c->rule->name, detectors[o->detector].name,
	      o->value, o->detector == DETECT_START ? component_why(c) : "",
	      o->detector == DETECT_PEER ? "taken over" : names[o->strategy], s ? s->program : "");
	irq_disable();
}

/* The other cell has component `n` by now. */
static void give_way(unsigned int n)
{
	(void)stop_all(decide_affected(rules, num_components, n));
	components[n].outage = -1;
	/* a cell in which the program has not ended does not wait: it must not claim */
	if (components[n].state == COMPONENT_LOST) {
		takeover_leave(n, false, rdtsc());
		return;
	}
	components[n].state = COMPONENT_STANDBY;
	takeover_publish(n);
	irq_enable();
	print("recovery: %s ends here: another cell has taken it over\n", rules[n].name);
	irq_disable();
}

/*
 * Carries `s` out for component `n`, which has ended after a fault at `fault`. `stopped`: those
 * that ended with it.
 */
static void carry_out(unsigned int n, const struct strategy *s, uint32_t stopped, uint64_t fault)
{
	struct component *c = &components[n];

	if (s->kind == STRATEGY_CELL)
		panic("component %s has failed, and the cell with it", c->rule->name);
	/* a program that does not end could run twice */
	if (s->kind >= STRATEGY_GIVE_UP && c->state != COMPONENT_LOST)
		takeover_leave(n, s->kind == STRATEGY_TAKEOVER, fault);
	if (s->kind == STRATEGY_GIVE_UP || c->state == COMPONENT_LOST) {
		c->state = COMPONENT_LOST;
		return;
	}
	if (s->kind == STRATEGY_TAKEOVER) {
		c->state = COMPONENT_STANDBY;
		return;
	}
	/* the other cell may have taken it while the program ended */
	if (takeover_used(n) && takeover_look(n) == PAIR_STOP) {
		give_way(n);
		return;
	}
	if (s->kind == STRATEGY_INSTEAD)
		(void)copy_string(c->program, s->program, sizeof(c->program));
	checkpoint_arm(n, s->kind == STRATEGY_ROLLBACK);
	start_all(stopped);
}

/* When the fault happened, as far as it is known. */
static uint64_t fault_time(const struct component *c, const struct process *p,
			   const struct outage *o)
{
	if (p && p->ended && detectors[o->detector].kind == DETECTOR_EVENT)
		return p->ended;
	if (detectors[o->detector].kind == DETECTOR_US)
		return o->detected - timer_from_us(o->value - c->rule->limit[o->detector]);
	return o->detected;
}

static void count(const struct outage *o)
{
	struct detector *d = &detectors[o->detector];

	d->found++;
	if (o->detected - o->fault > d->latest)
		d->latest = o->detected - o->fault;
}

static void recover(unsigned int n, const struct process *p, int detector, uint64_t value)
{
	struct component *c = &components[n];
	uint64_t now = rdtsc();
	struct outage *o = outage_new(&c->outage);
	const struct strategy *s = decide(c->rule, &c->history, checkpoint_usable(n, now),
					  takeover_possible(n), timer_to_us(now));
	uint32_t stopped;

	c->faults++;
	o->component = n;
	o->detector = (enum detector_id)detector;
	o->value = value;
	o->strategy = s->kind;
	o->detected = now;
	o->fault = fault_time(c, p, o);
	count(o);
	stopped = stop_all(decide_affected(rules, num_components, n));
	o->stopped = rdtsc();
	if (s->kind == STRATEGY_CELL)
		report(c, o, s);
	carry_out(n, s, stopped, o->fault);
	if (c->state == COMPONENT_RUNS)
		o->started = rdtsc();
	else if (c->state == COMPONENT_LOST)
		o->strategy = STRATEGY_GIVE_UP;
	if (s->kind != STRATEGY_CELL)
		report(c, o, s);
}

/* Starts component `n`, and those that need it and are down. */
static void start_with_others(unsigned int n)
{
	uint32_t set = decide_affected(rules, num_components, n);
	unsigned int i;

	for (i = 0; i < num_components; i++)
		if (is_in(set, i) && !components[i].pid &&
		    (i == n || components[i].state == COMPONENT_DOWN))
			component_start(&components[i]);
}

/* The other cell does not serve component `n`, or no cell has done so: starts it here. */
static void take_over(unsigned int n)
{
	struct component *c = &components[n];
	uint64_t now = rdtsc(), fault = takeover_fault(n, now);
	struct outage *o = NULL;

	if (fault) {
		o = outage_new(&c->outage);
		o->component = n;
		o->detector = DETECT_PEER;
		o->value = timer_to_us(now - fault);
		o->strategy = STRATEGY_TAKEOVER;
		o->fault = fault;
		o->detected = o->stopped = now;
		count(o);
		checkpoint_fetch(n);
	}
	checkpoint_arm(n, fault && checkpoint_usable(n, now));
	start_with_others(n);
	if (!o)
		return;
	o->started = rdtsc();
	report(c, o, NULL);
}

/* Looks at the other cell of component `n`. Returns whether that changed something. */
static bool look_at_other(unsigned int n)
{
	uint64_t now = rdtsc();
	enum pair_act act = takeover_look(n);

	detectors[DETECT_PEER].cycles += rdtsc() - now;
	detectors[DETECT_PEER].looks++;
	if (act == PAIR_START)
		take_over(n);
	else if (act == PAIR_STOP)
		give_way(n);
	return act != PAIR_STAY;
}

/* Restarts component `n` as it was declared, and those that need it. */
static void restart(unsigned int n)
{
	struct component *c = &components[n];
	uint32_t set = decide_affected(rules, num_components, n);

	c->asked = false;
	/* without its channels it could run in both cells */
	if (!component_is_ready(n))
		return;
	if (!takeover_has(n)) {			/* the next look starts it, if it may */
		if (c->state == COMPONENT_LOST && component_stop(c, rdtsc())) {
			c->state = COMPONENT_STANDBY;
			takeover_wait(n);
		}
		return;
	}
	(void)stop_all(set);
	(void)copy_string(c->program, c->rule->args.file, sizeof(c->program));
	c->history = (struct history){ .uses = { 0 } };
	c->outage = -1;
	checkpoint_arm(n, false);
	start_with_others(n);
}

/* A program that is off the CPU, or on its way to another cell, cannot be late. */
static bool is_away(struct component *c, struct process *p)
{
	if (p->ending || (p->state == PROCESS_LIVE && !p->leaving))
		return false;
	c->used_since = rdtsc();
	if (p->beat.last)
		p->beat.last = c->used_since;
	else
		c->started = c->used_since;
	return true;
}

/* The outage of `c` ends with its first heartbeat, or if it has none, with its start. */
static void look_for_life(struct component *c, const struct process *p)
{
	struct outage *o = outage_at(c->outage);
	uint64_t at = c->rule->limit[DETECT_BEAT] ? p->beat.first : c->started;

	if (o && at && !p->ending)
		complete(c, o, at);
}

/* The program of `c` has ended, which is no fault. Ends what it has started, too. */
static void end(struct component *c)
{
	if (component_stop(c, rdtsc() + timer_from_us(PATIENCE_US)))
		c->state = COMPONENT_ENDED;
	else
		lose(c);
}

/*
 * Returns whether component `n` was recovered or has ended, so that some time has passed. `acted`:
 * those for which the other cell had this one act in this period.
 */
static bool look_at(unsigned int n, uint32_t *acted)
{
	struct component *c = &components[n];
	struct process *p;
	uint64_t value;
	int d;

	if (c->asked)
		restart(n);
	if (takeover_used(n) && !is_in(*acted, n) && look_at_other(n)) {
		*acted |= 1u << n;
		return true;
	}
	if (c->state != COMPONENT_RUNS)
		return false;
	p = c->pid ? process_find(c->pid) : NULL;
	if (p && p->state != PROCESS_ZOMBIE && is_away(c, p))
		return false;
	if (p && p->ending && WIFMOVED(p->status)) {
		if (component_reap(c))
			c->state = COMPONENT_MOVED;
		return false;
	}
	if (p)
		look_for_life(c, p);
	d = detector_look(c, p, &value);
	if (d >= 0)
		recover(n, p, d, value);
	else if (p && p->state == PROCESS_ZOMBIE)
		end(c);
	return d >= 0 || c->state != COMPONENT_RUNS;
}

/*
 * Looks at all components, and again if one was recovered: others may have ended meanwhile. Another
 * cell cannot keep it from ending: it makes a component start or end once.
 */
static void look_at_all(void)
{
	uint32_t acted = 0;
	unsigned int n;
	bool again;

	do {
		again = false;
		for (n = 0; n < num_components; n++) {
			again |= look_at(n, &acted);
			let_interrupts_in();
		}
	} while (again);
}

/* Prepares all components, and starts those that can run, in order. */
static void begin(void)
{
	const char *wrong;
	bool can;
	unsigned int n, i;

	for (n = 0; n < num_components; n++) {
		wrong = component_init(n, recovery_bound() / 2);
		if (wrong) {
			irq_enable();
			print("recovery: %s is given up: %s\n", rules[n].name, wrong);
			irq_disable();
		}
	}
	for (n = 0; n < num_components; n++) {
		can = components[n].state == COMPONENT_DOWN;
		for (i = 0; i < n; i++)
			if (is_in(rules[n].needs, i) && components[i].state != COMPONENT_RUNS)
				can = false;
		if (can)
			component_start(&components[n]);
	}
}

static void watch(void *arg)
{
	uint64_t next, publish = 0;

	(void)arg;
	if (file && !file_read(file) && !num_components) {
		started = false;	/* the shell may name another file */
		return;
	}
	irq_disable();
	begin();
	for (;;) {
		next = rdtsc() + sched_vcpu(dispatch_sched(), vcpu)->params.period;
		look_at_all();
		if (rdtsc() >= publish) {
			recovery_publish(recovery_bound());
			publish = rdtsc() + timer_from_us(PUBLISH_US);
		}
		(void)wait_on_until(process_kernel_children(), next);
	}
}

/* Returns the VCPU of the command line, or creates one. */
static int own_vcpu(void)
{
	int id = namedvcpu_find("vcpu=recovery");

	if (id < 0)
		id = vcpu_create("recovery", MAIN_VCPU, C_US, T_US, KERNEL_PID);
	if (id >= 0)
		return id;
	print("recovery: no VCPU of its own: %s\n", sched_error_text(id));
	return SYSTEM_VCPU;
}

static const char *start_thread(void)
{
	started = true;
	vcpu = vcpu < 0 ? own_vcpu() : vcpu;
	return thread_create("recovery", vcpu, watch, NULL) < 0 ?
	       "there is no memory for its thread" : NULL;
}

static const char *find(const char *name)
{
	int n = archive_find(&archive, name);

	if (started)
		return "it has started already";
	if (n < 0 || archive.files[n].program)
		return "there is no such file: ls lists them";
	file = &archive.files[n];
	return NULL;
}

const char *recovery_start(const char *name)
{
	const char *wrong = find(name);

	if (wrong)
		return wrong;
	if (!file_read(file))
		return "no component starts";
	file = NULL;			/* the thread does not read it again */
	return start_thread();
}

void recovery_boot(const struct boot_info *boot)
{
	const char *at, *wrong;
	char name[ARCHIVE_NAME];
	size_t length, key = strlen(KEY);

	for (at = boot_word(boot->cmdline, &length); length; at = boot_word(at + length, &length)) {
		if (length <= key || memcmp(at, KEY, key) || length - key >= sizeof(name))
			continue;
		memcpy(name, at + key, length - key);
		name[length - key] = 0;
		wrong = find(name);
		if (!wrong)
			wrong = start_thread();
		if (wrong)
			print("recovery: %s: %s\n", name, wrong);
	}
	wrong = num_components && !started ? start_thread() : NULL;
	if (wrong)
		print("recovery: %s\n", wrong);
}
