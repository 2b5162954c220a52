// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Filters of messages: OSEK/VDX COM 3.0.3, 2.2.3. */
#include "com.h"

uint64_t os_filter_value(const struct os_message_conf *conf, const void *data)
{
	const uint8_t *bytes = data;
	uint64_t value = 0;
	uint32_t i, bits = conf->size * 8;

	if (!data || !conf->size || conf->size > sizeof(value))
		return 0;
	for (i = 0; i < conf->size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	if (conf->filter.is_signed && bits < 64 && value >> (bits - 1) & 1)
		value |= ~0ull << bits;
	return value;
}

static bool less(const struct os_filter *filter, uint64_t a, uint64_t b)
{
	return filter->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static bool every_n(const struct os_filter *filter, struct os_message *message)
{
	bool passes = message->seen == filter->offset;

	if (++message->seen == filter->period)
		message->seen = 0;
	return passes;
}

static bool passes(const struct os_filter *f, struct os_message *message, uint64_t new)
{
	uint64_t old = message->old;

	switch (f->kind) {
	case OS_FILTER_ALWAYS:
		return true;
	case OS_FILTER_NEVER:
		return false;
	case OS_FILTER_MASKEDNEWEQUALSX:
		return (new & f->mask) == f->x;
	case OS_FILTER_MASKEDNEWDIFFERSX:
		return (new & f->mask) != f->x;
	case OS_FILTER_NEWISEQUAL:
		return new == old;
	case OS_FILTER_NEWISDIFFERENT:
		return new != old;
	case OS_FILTER_MASKEDNEWEQUALSMASKEDOLD:
		return (new & f->mask) == (old & f->mask);
	case OS_FILTER_MASKEDNEWDIFFERSMASKEDOLD:
		return (new & f->mask) != (old & f->mask);
	case OS_FILTER_NEWISWITHIN:
		return !less(f, new, f->min) && !less(f, f->max, new);
	case OS_FILTER_NEWISOUTSIDE:
		return less(f, new, f->min) || less(f, f->max, new);
	case OS_FILTER_NEWISGREATER:
		return less(f, old, new);
	case OS_FILTER_NEWISLESSOREQUAL:
		return !less(f, old, new);
	case OS_FILTER_NEWISLESS:
		return less(f, new, old);
	case OS_FILTER_NEWISGREATEROREQUAL:
		return !less(f, new, old);
	case OS_FILTER_ONEEVERYN:
		return every_n(f, message);
	}
	return false;
}

bool os_filter_passes(MessageIdentifier id, const void *data)
{
	const struct os_message_conf *conf = &os_message_conf[id];
	uint64_t new = os_filter_value(conf, data);

	if (!passes(&conf->filter, &os_messages[id], new))
		return false;
	os_messages[id].old = new;
	return true;
}
