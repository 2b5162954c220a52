// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Counters: AUTOSAR OS 4.x, 7.5 and 8.4. Time is counted in 64-bit ticks since StartOS(); the value
 * that services show wraps after maxallowedvalue. Armed timers are in a list by due time: the time
 * to arm one grows with the number of armed timers of the counter; the time to expire does not.
 */
#include "kernel.h"

static uint64_t modulus(CounterType id)
{
	return (uint64_t)os_counter_conf[id].base.maxallowedvalue + 1;
}

uint64_t os_counter_ticks(CounterType id)
{
	const struct os_driver *driver = os_counter_conf[id].driver;

	return driver ? driver->ticks(id) : os_counters[id].now;
}

uint64_t os_counter_due(CounterType id, unsigned int absolute, TickType time)
{
	uint64_t now = os_counter_ticks(id), mod = modulus(id), turn;

	if (!absolute)
		return now + time;
	turn = now - now % mod;
	return turn + time > now ? turn + time : turn + time + mod;
}

void os_counter_arm(CounterType id, struct os_timer *timer, uint64_t due,
		    void (*expire)(struct os_timer *timer))
{
	struct os_counter *counter = &os_counters[id];
	struct os_timer **place = &counter->first;
	const struct os_driver *driver;

	while (*place && (*place)->due <= due)
		place = &(*place)->next;
	timer->counter = id;
	timer->due = due;
	timer->expire = expire;
	timer->next = *place;
	*place = timer;
	driver = os_counter_conf[id].driver;
	if (place == &counter->first && driver)
		driver->arm(id);
}

void os_counter_disarm(struct os_timer *timer)
{
	struct os_timer **place = &os_counters[timer->counter].first;

	while (*place != timer)
		place = &(*place)->next;
	*place = timer->next;
	timer->expire = NULL;
}

void os_counter_expire(CounterType id)
{
	struct os_counter *counter = &os_counters[id];
	uint64_t now = os_counter_ticks(id);
	struct os_timer *timer;
	void (*expire)(struct os_timer *);

	while ((timer = counter->first) && timer->due <= now) {
		counter->first = timer->next;
		expire = timer->expire;
		timer->expire = NULL;
		if (timer->cycle)
			os_counter_arm(timer->counter, timer, timer->due + timer->cycle, expire);
		expire(timer);
	}
}

StatusType os_counter_increment(CounterType id)
{
	if (os_counter_conf[id].driver)
		return E_OS_ID;
	os_counters[id].now++;
	os_counter_expire(id);
	return E_OK;
}

StatusType IncrementCounter(CounterType counter)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, counter, os_num_counters);

	if (error == E_OK)
		error = os_counter_increment(counter);
	if (error == E_OK)
		os_preempt_in_task();
	return os_leave(OSServiceId_IncrementCounter, error, counter, 0, 0);
}

static TickType value_of(CounterType id)
{
	return (TickType)(os_counter_ticks(id) % modulus(id));
}

StatusType GetCounterValue(CounterType counter, TickRefType value)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, counter, os_num_counters);

	if (OS_EXTENDED && error == E_OK && !value)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK)
		*value = value_of(counter);
	return os_leave(OSServiceId_GetCounterValue, error, counter, (uintptr_t)value, 0);
}

static StatusType elapsed_error(CounterType id, const TickType *value, const TickType *elapsed)
{
	if (!value || !elapsed)
		return E_OS_PARAM_POINTER;
	return *value > os_counter_conf[id].base.maxallowedvalue ? E_OS_VALUE : E_OK;
}

StatusType GetElapsedValue(CounterType counter, TickRefType value, TickRefType elapsed)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, counter, os_num_counters);

	if (OS_EXTENDED && error == E_OK)
		error = elapsed_error(counter, value, elapsed);
	if (error == E_OK) {
		TickType now = value_of(counter);

		*elapsed = (TickType)((now + modulus(counter) - *value) % modulus(counter));
		*value = now;
	}
	return os_leave(OSServiceId_GetElapsedValue, error, counter, (uintptr_t)value,
			(uintptr_t)elapsed);
}
