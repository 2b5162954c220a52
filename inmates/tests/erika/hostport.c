// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's port to the host: real stacks and the real switch, simulated interrupts.
 * Each change of stack is announced to the sanitizer.
 */
#include <string.h>
#include <inmate/context.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include "suite.h"

void os_stack_begin(uint64_t *save, uint8_t *top, void (*entry)(void));
void os_stack_call(uint8_t *top, void (*function)(const void *), const void *argument);

static bool on = true;
static uint8_t mask;
static bool pending[256];
static uint8_t serving[32];
static unsigned int depth;

static struct {
	const void *bottom;
	size_t size;
} host_stack, here;

static void (*beginning)(void);

static uint8_t blocked(void)
{
	uint8_t class = depth ? serving[depth - 1] >> 4 : 0;

	return class > mask ? class : mask;
}

static void serve(uint8_t vector)
{
	ISRType id;

	if (vector == CLOCK_VECTOR(os_class_of(os_timer_isr.level))) {
		os_isr2(&os_timer_isr);
		return;
	}
	for (id = 0; id < os_num_isrs; id++)
		if (os_isr_conf[id].vector == vector)
			break;
	if (os_isr_conf[id].category == 2) {
		os_isr2(&os_isr_conf[id]);
		return;
	}
	os_isr_conf[id].entry();
	os_port_acknowledge();
}

static void deliver(void)
{
	int vector;

	for (vector = 255; on && vector >> 4 > blocked(); vector--) {
		if (!pending[vector])
			continue;
		pending[vector] = false;
		serving[depth++] = (uint8_t)vector;
		on = false;
		serve((uint8_t)vector);
		on = true;
		vector = 256;
	}
}

bool os_port_off(void)
{
	bool was = on;

	on = false;
	return was;
}

void os_port_on(void)
{
	on = true;
	deliver();
}

void os_port_mask(unsigned int class)
{
	mask = class;
	deliver();
}

void os_port_acknowledge(void)
{
	if (!depth)
		suite_fail("an interrupt is acknowledged that is not served");
	depth--;
}

void os_port_trigger(uint8_t vector)
{
	pending[vector] = true;
	deliver();
}

/*
 * Leaves the current stack for that of the running task, or idle. With `fake` NULL the current
 * stack is not used again.
 */
static void leave_stack(void **fake)
{
	const struct os_stack *stack = os.running ? &os_conf_of(os.running)->stack : NULL;

	here.bottom = stack ? stack->base : host_stack.bottom;
	here.size = stack ? stack->size : host_stack.size;
	__sanitizer_start_switch_fiber(fake, here.bottom, here.size);
}

static void arrive(void *fake)
{
	const void *bottom;
	size_t size;

	__sanitizer_finish_switch_fiber(fake, &bottom, &size);
	if (!host_stack.bottom) {
		host_stack.bottom = bottom;
		host_stack.size = size;
	}
}

void os_port_switch(uint64_t *save, uint64_t load)
{
	void *fake = NULL;

	leave_stack(save == &os_dead_sp ? NULL : &fake);
	switch_context(save, load);
	arrive(fake);
}

static void begin(void)
{
	arrive(NULL);
	beginning();
}

void os_port_begin(uint64_t *save, uint8_t *top, void (*entry)(void))
{
	void *fake = NULL;

	beginning = entry;
	leave_stack(save == &os_dead_sp ? NULL : &fake);
	/* the task that ended on this stack has left marks of the sanitizer */
	ASAN_UNPOISON_MEMORY_REGION(here.bottom, here.size);
	os_stack_begin(save, top, begin);
	arrive(fake);
}

static void (*called)(const void *argument);

static void call(const void *argument)
{
	const void *bottom;
	void *fake = NULL;
	size_t size;

	__sanitizer_finish_switch_fiber(NULL, &bottom, &size);
	called(argument);
	__sanitizer_start_switch_fiber(&fake, bottom, size);
}

void os_port_call(uint8_t *top, void (*function)(const void *argument), const void *argument)
{
	void *fake = NULL;

	called = function;
	__sanitizer_start_switch_fiber(&fake, os_isr_stack.base, os_isr_stack.size);
	os_stack_call(top, call, argument);
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

uint64_t os_port_cycles(void)
{
	return clock_cycles();
}

uint32_t os_port_khz(void)
{
	return CLOCK_KHZ;
}

void os_port_arm(uint64_t cycles)
{
	clock_arm(cycles);
}

void os_port_start(void)
{
}

/* The suite has an IdleHook(), so the kernel does not wait. */
void os_port_idle(void)
{
	suite_fail("the kernel waits for an interrupt");
}

_Noreturn void os_port_stop(StatusType error)
{
	(void)error;
	suite_end();
}
