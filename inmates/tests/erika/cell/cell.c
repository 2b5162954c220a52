// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the conformance suite on a machine, with the kernel's port to inmates. Each family of cases
 * is a batch, and the application mode of the command line chooses the batch (`mode=N`).
 *
 * A case begins with the initial values of all variables of the kernel and of the suite:
 * region.lds places them in a region that run_case() restores.
 */
#include <inmate/apic.h>
#include <inmate/console.h>
#include <inmate/context.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include "../../../erika/port/boot.h"
#include "../suite.h"

#define IN_SERVICE	0x100		/* the APIC's first in-service register */
#define IN_SERVICE_END	0x180
#define STACKS		(MAX_TASKS + 2)	/* of tasks, of interrupts, of a case before StartOS() */
#define REGION_MAX	65536
#define SETTLE		64		/* instructions; an interrupt is taken after a few */

void os_stack_begin(uint64_t *save, uint8_t *top, void (*entry)(void));
uint64_t __wrap_os_port_cycles(void);
uint32_t __wrap_os_port_khz(void);
void __wrap_os_port_arm(uint64_t cycles);
_Noreturn void __wrap_os_port_stop(StatusType error);
_Noreturn void __real_os_port_stop(StatusType error);
int main(void);

/* Bounds of the region (region.lds) */
extern uint8_t region_data[], region_data_end[], region_bss[], region_bss_end[];

/* The files of cases (cases.S), each with a NUL at its end */
#define FAMILIES(X) \
	X(alarm) X(com) X(counter) X(event) X(hook) \
	X(interrupt) X(resource) X(sync) X(table) X(task)
#define DECLARE(family)	extern const char cases_##family[];
#define ROW(family)	{ #family, cases_##family },
FAMILIES(DECLARE)
static const struct {
	const char *name, *text;
} batches[] = { FAMILIES(ROW) };

/* Below each stack is its guard page. */
static uint8_t stacks[STACKS][OS_PAGE + STACK_BYTES] __attribute__((aligned(OS_PAGE)));
static uint8_t initial[REGION_MAX];
static const struct case_text *current;
static enum verdict verdict;
static uint64_t main_sp, case_sp;

uint8_t *run_stack(unsigned int number)
{
	return stacks[number] + OS_PAGE;
}

void run_settle(void)
{
	unsigned int i;

	for (i = 0; i < SETTLE; i++)
		cpu_relax();
}

void run_say(const char *line)
{
	print("%s\n", line);
}

void run_end(enum verdict result)
{
	irq_disable();
	verdict = result;
	switch_context(&case_sp, main_sp);
	__builtin_unreachable();
}

static void drop(struct trap_frame *frame)
{
	(void)frame;
}

static bool in_service(void)
{
	uint32_t reg, any = 0;

	for (reg = IN_SERVICE; reg < IN_SERVICE_END; reg += 0x10)
		any |= apic_read(reg);
	return any;
}

/* Ends the interrupts that the last case has left in service, and takes those that are pending. */
static void drop_interrupts(void)
{
	unsigned int vector;

	for (vector = TRAP_FIRST_IRQ; vector < APIC_SPURIOUS_VECTOR; vector++)
		trap_set_irq(vector, drop);
	write_cr8(0);
	while (in_service())
		apic_eoi();
	irq_enable();
	run_settle();
	irq_disable();
}

static void begin(void)
{
	suite_case(current);
}

enum verdict run_case(const struct case_text *text)
{
	current = text;
	memcpy(region_data, initial, region_data_end - region_data);
	memset(region_bss, 0, region_bss_end - region_bss);
	os_stack_begin(&main_sp, run_stack(STACKS - 1) + STACK_BYTES, begin);
	drop_interrupts();
	return verdict;
}

uint64_t __wrap_os_port_cycles(void)
{
	return clock_cycles();
}

uint32_t __wrap_os_port_khz(void)
{
	return CLOCK_KHZ;
}

void __wrap_os_port_arm(uint64_t cycles)
{
	clock_arm(cycles);
}

void __wrap_os_port_stop(StatusType error)
{
	if (error == E_OS_ILLEGAL_ADDRESS || error == E_OS_STACKFAULT)
		suite_fail("an exception");
	suite_end();
}

int main(void)
{
	unsigned int batch = boot_mode(), size = region_data_end - region_data;
	struct batch_count count = { 0, 0, 0 };

	if (batch >= sizeof(batches) / sizeof(batches[0]) || size > REGION_MAX) {
		print("there is no batch %u\n", batch);
		return 1;
	}
	memcpy(initial, region_data, size);
	batch_run(batches[batch].name, batches[batch].text, &count);
	print("batch %s: %u cases, %u passed, %u failed\n", batches[batch].name, count.cases,
	      count.passed, count.failed);
	__real_os_port_stop(E_OK);
}
