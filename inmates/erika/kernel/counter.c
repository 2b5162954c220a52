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

	return driver ? driver->ticks(&os_counters[id]) : os_counters[id].now;
}

uint64_t os_counter_next(CounterType id, uint64_t now, TickType value)
{
	uint64_t mod = modulus(id), at = now - now % mod + value;

	return at > now ? at : at + mod;
}

static struct os_timer **place_of(struct os_counter *counter, const struct os_timer *timer)
{
	struct os_timer **place = &counter->first;

	while (*place && *place != timer)
		place = &(*place)->next;
	return place;
}

void os_counter_arm(CounterType id, struct os_timer *timer, uint64_t due,
		    void (*expire)(struct os_timer *timer))
{
	const struct os_driver *driver = os_counter_conf[id].driver;
	struct os_counter *counter = &os_counters[id];
	struct os_timer **place = &counter->first;

	while (*place && (*place)->due <= due)
		place = &(*place)->next;
	timer->due = due;
	timer->expire = expire;
	timer->next = *place;
	*place = timer;
	if (driver && counter->first == timer)
		driver->arm(counter);
}

void os_counter_disarm(CounterType id, struct os_timer *timer)
{
	struct os_timer **place = place_of(&os_counters[id], timer);

	if (*place)
		*place = timer->next;
	timer->expire = NULL;
}

void os_counter_expire(struct os_counter *counter, uint64_t now)
{
	struct os_timer *timer = counter->first;
	void (*expire)(struct os_timer *);

	while (timer && timer->due <= now) {
		counter->first = timer->next;
		expire = timer->expire;
		timer->expire = NULL;
		expire(timer);
		timer = counter->first;
	}
}

/* Errors of a service for counter `id`. */
static StatusType id_error(CounterType id)
{
	StatusType error = os_check_caller(OS_TASK_ISR2);

	return error == E_OK && id >= os_num_counters ? E_OS_ID : error;
}

StatusType os_counter_increment(CounterType id)
{
	struct os_counter *counter = &os_counters[id];

	if (os_counter_conf[id].driver)
		return E_OS_ID;
	os_counter_expire(counter, ++counter->now);
	return E_OK;
}

StatusType IncrementCounter(CounterType counter)
{
	bool on = os_lock();
	StatusType error = OS_EXTENDED ? id_error(counter) : E_OK;

	if (error == E_OK)
		error = os_counter_increment(counter);
	if (error == E_OK)
		os_preempt_in_task();
	return os_leave(on, OSServiceId_IncrementCounter, error, counter, 0, 0);
}

static TickType value_of(CounterType id)
{
	return (TickType)(os_counter_ticks(id) % modulus(id));
}

StatusType GetCounterValue(CounterType counter, TickRefType value)
{
	bool on = os_lock();
	StatusType error = OS_EXTENDED ? id_error(counter) : E_OK;

	if (OS_EXTENDED && error == E_OK && !value)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK)
		*value = value_of(counter);
	return os_leave(on, OSServiceId_GetCounterValue, error, counter, (uintptr_t)value, 0);
}

static StatusType elapsed_error(CounterType id, const TickType *value, const TickType *elapsed)
{
	StatusType error = id_error(id);

	if (error != E_OK)
		return error;
	if (!value || !elapsed)
		return E_OS_PARAM_POINTER;
	return *value > os_counter_conf[id].base.maxallowedvalue ? E_OS_VALUE : E_OK;
}

StatusType GetElapsedValue(CounterType counter, TickRefType value, TickRefType elapsed)
{
	bool on = os_lock();
	StatusType error = OS_EXTENDED ? elapsed_error(counter, value, elapsed) : E_OK;

	if (error == E_OK) {
		TickType now = value_of(counter);

		*elapsed = (TickType)((now + modulus(counter) - *value) % modulus(counter));
		*value = now;
	}
	return os_leave(on, OSServiceId_GetElapsedValue, error, counter, (uintptr_t)value,
			(uintptr_t)elapsed);
}
