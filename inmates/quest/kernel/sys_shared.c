// SPDX-License-Identifier: GPL-2.0-only
/* System calls: shared memory. */
#include "syscall.h"

long sys_shared_mem_alloc(struct call *c)
{
	return shared_alloc(c->process, c->arg[0]);
}

long sys_shared_mem_attach(struct call *c)
{
	return shared_attach(c->process, call_int(c, 0));
}

long sys_shared_mem_detach(struct call *c)
{
	return shared_detach(c->process, c->arg[0]);
}

long sys_shared_mem_free(struct call *c)
{
	return shared_free(c->process, call_int(c, 0));
}
