// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../dispatch.h"
#include "../panic.h"
#include "../process/process.h"
#include "../wait.h"
#include "vcpu.h"

static const struct {
	const char *name;
	enum vcpu_type type;
	uint32_t budget_us, period_us;
} fixed[VCPU_FIXED] = {
	[BEST_EFFORT_VCPU] = { "best-effort", MAIN_VCPU, 10000, 100000 },
	[SYSTEM_VCPU] = { "system", MAIN_VCPU, 1000, 50000 },
	[SHELL_VCPU] = { "shell", MAIN_VCPU, 10000, 100000 },
	[INPUT_VCPU] = { "input", IO_VCPU, 200, 10000 },
};

void vcpus_init(void)
{
	unsigned int i;
	int id;

	for (i = 0; i < VCPU_FIXED; i++) {
		id = vcpu_create(fixed[i].name, fixed[i].type, fixed[i].budget_us,
				 fixed[i].period_us, KERNEL_PID);
		if (id != (int)i)
			panic("VCPU %s: %s", fixed[i].name, sched_error_text(id));
	}
}

/* Converts to cycles, rounded up. */
static uint64_t at_least_us(uint64_t us)
{
	uint64_t cycles = timer_from_us(us);

	return timer_to_us(cycles) < us ? cycles + 1 : cycles;
}

/*
 * Rounds C down and T up. So VCPUs that qvctl config check admits, in microseconds, are also
 * admitted here, in cycles.
 */
static struct vcpu_params params_of(const char *name, enum vcpu_type type, uint64_t budget_us,
				    uint64_t period_us)
{
	struct vcpu_params params = { .type = type };

	copy_string(params.name, name, sizeof(params.name));
	/* Admission refuses any time that is too long for the conversion. */
	params.budget = budget_us > ADMISSION_PERIOD_MAX ? UINT64_MAX : timer_from_us(budget_us);
	params.period = period_us > ADMISSION_PERIOD_MAX ? UINT64_MAX : at_least_us(period_us);
	return params;
}

static bool admitting;				/* an admission test is in progress */
static struct wait_queue admission_queue;	/* threads that wait for the end of that test */

/*
 * Returns when VCPU `id` was created, which distinguishes it from other VCPUs that had the same id
 * or will have it; 0 if no such VCPU exists.
 */
static uint64_t created_at(int id)
{
	const struct vcpu *v = sched_vcpu(dispatch_sched(), id);

	return v ? v->counts.created : 0;
}

/* A budget of another CPU's clock may have lost a cycle. */
static bool too_short(const struct vcpu_params *p)
{
	return p->type != BACKGROUND_VCPU && p->budget &&
	       p->budget <= timer_from_us(VCPU_LEAST_US - 1);
}

/*
 * Creates a VCPU (`replaces` is -1), or gives VCPU `replaces` other parameters. Interrupts are off
 * on entry. The exact test may take milliseconds, so interrupts are on during the test. Its time is
 * charged to the caller's VCPU.
 */
static int admit(const struct vcpu_params *params, int replaces)
{
	uint64_t created = created_at(replaces);
	int answer;

	if (too_short(params))
		return SCHED_TOO_SHORT;
	while (admitting)
		wait_on(&admission_queue);
	if (created_at(replaces) != created)
		return SCHED_NO_VCPU;
	admitting = true;
	sched_admission_begin(dispatch_sched(), params, replaces, rdtsc());
	/* at boot the caller is the idle thread, and interrupts must stay off */
	if (thread_current()->id != THREAD_IDLE_ID)
		irq_enable();
	sched_admission_test(dispatch_sched());
	irq_disable();
	answer = sched_admission_commit(dispatch_sched(), rdtsc());
	admitting = false;
	wake_many(&admission_queue);
	return answer;
}

int vcpu_create(const char *name, enum vcpu_type type, uint64_t budget_us, uint64_t period_us,
		int owner)
{
	struct vcpu_params params = params_of(name, type, budget_us, period_us);
	bool irqs = irq_save();
	int id;

	params.owner = owner;
	id = admit(&params, -1);
	irq_restore(irqs);
	dispatch_preempt();
	return id;
}

int vcpu_restore(const struct vcpu *was)
{
	bool irqs = irq_save();
	int id = admit(&was->params, -1);

	if (id >= 0)
		sched_vcpu_restore(dispatch_sched(), id, was, rdtsc());
	irq_restore(irqs);
	dispatch_preempt();
	return id;
}

uint64_t vcpu_begins_in_us(int id)
{
	bool irqs = irq_save();
	const struct vcpu *v = sched_vcpu(dispatch_sched(), id);
	uint64_t now = rdtsc(), at = v ? vcpu_eligible(v) : 0;

	irq_restore(irqs);
	return at > now ? timer_to_us(at - now) : 0;
}

int vcpu_destroy(int id)
{
	bool irqs = irq_save();
	int error = id >= 0 && id < VCPU_FIXED ? SCHED_IN_USE :
		    sched_vcpu_destroy(dispatch_sched(), id, rdtsc());

	irq_restore(irqs);
	return error;
}

static int set(int id, enum vcpu_type type, uint64_t budget_us, uint64_t period_us)
{
	bool irqs = irq_save();
	const struct vcpu *v = sched_vcpu(dispatch_sched(), id);
	int error = SCHED_NO_VCPU;
	struct vcpu_params params;

	if (v) {
		params = params_of(v->params.name, type, budget_us, period_us);
		error = admit(&params, id);
		dispatch_vcpu_changed(id);
	}
	irq_restore(irqs);
	dispatch_preempt();
	return error;
}

int vcpu_set(int id, uint64_t budget_us, uint64_t period_us)
{
	const struct vcpu *v = sched_vcpu(dispatch_sched(), id);

	return v ? set(id, v->params.type, budget_us, period_us) : SCHED_NO_VCPU;
}

int vcpu_fixed_find(const char *name)
{
	int id;

	for (id = 0; id < VCPU_FIXED; id++)
		if (!strcmp(fixed[id].name, name))
			return id;
	return SCHED_NO_VCPU;
}

int vcpu_fixed_set(int id, enum vcpu_type type, uint64_t budget_us, uint64_t period_us)
{
	if (type != BACKGROUND_VCPU && type != fixed[id].type)
		return SCHED_BAD_PARAMS;
	return set(id, type, budget_us, period_us);
}

int vcpu_fixed_default(int id)
{
	return set(id, fixed[id].type, fixed[id].budget_us, fixed[id].period_us);
}

bool vcpu_snapshot(int id, struct vcpu *copy)
{
	bool irqs = irq_save();
	const struct vcpu *v = sched_vcpu(dispatch_sched(), id);

	if (v) {
		sched_charge(dispatch_sched(), rdtsc());
		*copy = *v;
	}
	irq_restore(irqs);
	return v;
}
