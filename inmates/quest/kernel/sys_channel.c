// SPDX-License-Identifier: GPL-2.0-only
/* System calls: channels. The library reads and writes without them (user/lib/channel.c). */
#include <qv/channel.h>
#include "../mm/usercopy.h"
#include "clock.h"
#include "machine.h"
#include "syscall.h"
#include "userchannel.h"

long sys_channel_attach(struct call *c)
{
	const struct space *s = &c->process->space;
	char name[QV_CHAN_NAME_LEN];
	struct quest_channel to;
	int n = copy_string_from_user(s, name, c->arg[0], sizeof(name));

	if (n < 0)
		return n == -1 ? -EFAULT : -ENAMETOOLONG;
	if (!user_writable(s, c->arg[1], sizeof(to)))
		return -EFAULT;
	n = userchannel_attach(c->process, name, &to);
	if (n >= 0)
		(void)copy_to_user(s, c->arg[1], &to, sizeof(to));
	return n;
}

/* The other threads of the program run while this one waits, so `to` is checked again. */
long sys_channel_open_key(struct call *c)
{
	const struct space *s = &c->process->space;
	struct quest_channel to;
	struct quest_key wish;
	int n;

	if (!copy_from_user(s, &wish, c->arg[0], sizeof(wish)) ||
	    !user_writable(s, c->arg[1], sizeof(to)))
		return -EFAULT;
	if (wish.peer[sizeof(wish.peer) - 1])
		return -ENAMETOOLONG;
	n = userchannel_open_key(c->process, &wish, &to);
	if (n < 0 || copy_to_user(s, c->arg[1], &to, sizeof(to)))
		return n;
	(void)userchannel_detach(c->process, n);
	return -EFAULT;
}

long sys_channel_detach(struct call *c)
{
	return userchannel_detach(c->process, call_int(c, 0));
}

/* The time limit is a time of CLOCK_MONOTONIC; NULL: no limit. */
long sys_channel_sleep(struct call *c)
{
	uint64_t end = UINT64_MAX;
	struct timespec t;

	if (c->arg[2]) {
		if (!copy_from_user(&c->process->space, &t, c->arg[2], sizeof(t)))
			return -EFAULT;
		if (!clock_sane(&t))
			return -EINVAL;
		end = clock_after(c->process->epoch, &t);
	}
	return userchannel_sleep(c->process, call_int(c, 0), (uint32_t)c->arg[1], end);
}

long sys_channel_ring(struct call *c)
{
	return userchannel_ring(c->process, call_int(c, 0));
}
