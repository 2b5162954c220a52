// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command for two interrupt sources, each with its own I/O VCPU. The handler of one takes long.
 * Measures how soon the other handler runs meanwhile.
 */
#include <inmate/apic.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include "../../quest/kernel/deferred.h"
#include "../../quest/kernel/process/process.h"
#include "../../quest/kernel/vcpu/vcpu.h"
#include "../../quest/shell/shell.h"
#include "../../quest/shell/words.h"

#define ICR		0x300
#define ICR_SELF	0x40000
#define SLOW_US		5000
#define PATIENCE_US	1000
#define PATIENCE	1000

static volatile unsigned int slow_begun, slow_ended, quick_runs, slow_masked;
static volatile uint64_t quick_at;

static void slow_handler(void)
{
	uint64_t end = rdtsc() + timer_from_us(SLOW_US);

	slow_begun++;
	while (rdtsc() < end)
		cpu_relax();
	slow_ended++;
}

static void quick_handler(void)
{
	quick_at = rdtsc();
	quick_runs++;
}

/* Simulates a device, which sends no interrupt while it is masked. */
static void slow_mask(bool masked)
{
	slow_masked = masked;
}

static struct deferred slow = { .mask = slow_mask, .handler = slow_handler };
static struct deferred quick = { .source.hold = GATE_PRIORITY, .handler = quick_handler };

static void slow_interrupt(struct trap_frame *frame)
{
	(void)frame;
	deferred_raise(&slow);
}

static void quick_interrupt(struct trap_frame *frame)
{
	(void)frame;
	deferred_raise(&quick);
}

static void raise(const struct deferred *d)
{
	if (d != &slow || !slow_masked)
		apic_write(ICR, ICR_SELF | d->source.vector);
}

/* On an I/O VCPU of 0.5 ms in 20 ms */
static bool start(struct deferred *d, const char *name, trap_handler *handler)
{
	int id = vcpu_create(name, IO_VCPU, 500, 20000, KERNEL_PID);

	trap_set_irq(d->source.vector, handler);
	return id >= 0 && deferred_start_on(d, name, id);
}

static void wait_for(const volatile unsigned int *count, unsigned int least)
{
	unsigned int i;

	for (i = 0; i < PATIENCE && *count < least; i++)
		thread_sleep_us(PATIENCE_US);
}

/*
 * Raises the interrupt of the slow source, and raises it `more` times while its handler is due.
 * Then raises the interrupt of the quick source.
 */
static void measure(uint64_t more)
{
	uint64_t fired;
	unsigned int i;

	raise(&slow);
	wait_for(&slow_begun, 1);
	while (more--)
		raise(&slow);
	fired = rdtsc();
	raise(&quick);
	wait_for(&quick_runs, 1);
	print("quick ran %u times, after %lu us; slow had begun %u times and ended %u\n",
	      quick_runs, (unsigned long)timer_to_us(quick_at - fired), slow_begun, slow_ended);
	for (i = 0; i < PATIENCE && (slow.source.due || slow.source.running); i++)
		thread_sleep_us(PATIENCE_US);
	print("slow ran %u times\n", slow_ended);
}

int command_gate(int argc, char **argv);

/* gate priority|edge|level SLOW-VECTOR QUICK-VECTOR MORE: once in a machine */
int command_gate(int argc, char **argv)
{
	static const char *const holds[] = { "priority", "edge", "level" };
	uint64_t vectors[2], more;
	unsigned int hold;

	for (hold = 0; argc == 5 && hold < 3 && strcmp(argv[1], holds[hold]); hold++)
		;
	if (argc != 5 || hold == 3 || !words_value(argv[2], 0xEF, &vectors[0]) ||
	    !words_value(argv[3], 0xEF, &vectors[1]) || !words_value(argv[4], 100, &more))
		return SHELL_SHOW_USAGE;
	slow.source = (struct gate_source){ .hold = hold, .vector = (uint8_t)vectors[0] };
	quick.source.vector = (uint8_t)vectors[1];
	if (!start(&slow, "slow", slow_interrupt) || !start(&quick, "quick", quick_interrupt)) {
		print("no VCPU or no memory for them\n");
		return SHELL_FAILED;
	}
	measure(more);
	return 0;
}
