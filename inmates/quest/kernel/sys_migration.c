// SPDX-License-Identifier: GPL-2.0-only
/* System calls: moving to another cell. */
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../migration/migration.h"
#include "../mm/usercopy.h"
#include "../user/include/quest/types.h"
#include "syscall.h"

/* The three flags of the papers. The time is in ms: a deadline or a time-out, or 0. */
long sys_vcpu_migration(struct call *c)
{
	uint32_t ms = (uint32_t)c->arg[0];
	int dest = call_int(c, 1), flag = call_int(c, 2);
	bool limited = ms && flag != MIG_RELAX;

	if (flag && flag != MIG_RELAX && flag != MIG_STRICT)
		return -EINVAL;
	return migration_wish(c->process, migration_nth(dest == DEST_ANY ? 0 : dest),
			      limited ? rdtsc() + timer_from_us(ms * 1000ull) : UINT64_MAX,
			      flag == MIG_STRICT);
}

long sys_vcpu_migration_status(struct call *c)
{
	struct quest_migration status = { .pending = migration_pending(c->process) };

	status.error = c->process->wish.error;
	status.moves = c->process->wish.moves;

	copy_string(status.cell, cell_present() ? cell_info()->name : "alone",
		    sizeof(status.cell));
	return copy_to_user(&c->process->space, c->arg[0], &status, sizeof(status)) ? 0 : -EFAULT;
}

long sys_vcpu_migration_dest(struct call *c)
{
	char name[QUEST_CELL_NAME];
	const char *cell;
	int n, length = copy_string_from_user(&c->process->space, name, c->arg[0], sizeof(name));

	if (length < 0)
		return length == -1 ? -EFAULT : -ENAMETOOLONG;
	for (n = 0; (cell = migration_cell(migration_nth(n))); n++)
		if (!strcmp(cell, name))
			return n;
	return -ENODEV;
}
