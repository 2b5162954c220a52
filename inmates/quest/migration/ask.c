// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "stream.h"

int mig_ask(struct mig_stream *s, enum mig_kind kind, const void *body, uint32_t bytes, uint64_t us)
{
	const struct mig_message header = { .kind = kind, .bytes = bytes };

	if (!s->slot && !mig_claim(s))
		return -s->error;
	if (bytes)
		memcpy(s->slot + sizeof(header), body, bytes);
	if (!mig_commit(s, &header))
		return -s->error;
	mig_ring(s);
	return mig_receive(s, rdtsc() + timer_from_us(us)) ? 0 : -s->error;
}
