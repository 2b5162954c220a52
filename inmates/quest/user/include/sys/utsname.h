/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_SYS_UTSNAME_H
#define QUEST_SYS_UTSNAME_H

struct utsname {
	char sysname[32], nodename[32];		/* "Quest"; the cell's name, or "alone" */
	char release[32], version[32], machine[32];
};

int uname(struct utsname *name);	/* EFAULT */

#endif
