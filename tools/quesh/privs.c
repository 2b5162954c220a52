// SPDX-License-Identifier: GPL-2.0-only
#include "privs.h"

#include <errno.h>
#include <grp.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOBODY	65534

/* Without CAP_SETPCAP quesh cannot use the bounding set. */
static void drop_bounding_set(void)
{
	cap_value_t cap;

	for (cap = 0; cap_get_bound(cap) >= 0; cap++)
		(void)cap_drop_bound(cap);
}

static int become_nobody(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -1;
	if (setresuid((uid_t)-1, 0, (uid_t)-1) == 0) {
		errno = EPERM;	/* the process could become root again */
		return -1;
	}
	return 0;
}

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int result;

	if (!none)
		return -1;
	result = cap_set_proc(none);
	cap_free(none);
	return result;
}

int privs_drop(void)
{
	drop_bounding_set();
	if (become_nobody() || drop_capabilities())
		return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
