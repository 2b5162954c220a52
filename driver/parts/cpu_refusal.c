// SPDX-License-Identifier: GPL-2.0-only
/* Why Linux keeps a CPU, or a CPU is offline, in sentences */
#include <linux/errno.h>
#include <linux/kernel.h>
#include "qv.h"
#include "parts/cpus.h"

static const struct refusal {
	int error;		/* of remove_cpu() */
	const char *why, *remedy;
} refusals[] = {
	{ -EBUSY, "that CPU keeps the time for nohz_full CPUs, or no CPU may go offline now",
	  "choose another CPU, or try again later" },
	{ -ENOSPC, "the other CPUs have too few free interrupt vectors for its interrupts",
	  "choose another CPU, or let devices have fewer interrupts: "
	  "ethtool -L DEVICE combined 1" },
	{ -EOPNOTSUPP, "this platform lets no CPU go offline", "use another machine" },
	{ -EPERM, "a part of Linux forbids it", "see the kernel log (dmesg) for its name" },
	{ -ENOMEM, "there is too little memory to move its threads", "end programs" },
	{ -EINTR, "the request was interrupted", "try again" },
	{ -EAGAIN, "the request was interrupted", "try again" },
};

/* The scheduler refuses without a line in Linux's log */
static const struct refusal deadlines = {
	-EBUSY, "the deadlines of SCHED_DEADLINE threads do not fit on the CPUs that would stay",
	"end them or lower their runtime: ps -eLo pid,tid,cls,comm | grep DLN",
};

static const struct refusal unknown = {
	0, "and gives no reason that is known here", "see the kernel log (dmesg) for the reason",
};

static const struct refusal *refusal_of(int error, bool has_deadlines)
{
	u32 i;

	if (error == deadlines.error && has_deadlines)
		return &deadlines;
	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		if (refusals[i].error == error)
			return &refusals[i];
	return &unknown;
}

int qv_refuse_cpu(struct qv_reply *r, u32 cpu, int error, bool has_deadlines)
{
	const struct refusal *found = refusal_of(error, has_deadlines);

	return qv_refuse(r, QV_E_CPU, found->remedy, "Linux keeps CPU %u%s%s", cpu,
			 found == &unknown ? " " : ": ", found->why);
}

void qv_cpu_remedy(char *to, size_t size, const char *first, u32 cpu)
{
	scnprintf(to, size, "%secho 1 > /sys/devices/system/cpu/cpu%u/online", first, cpu);
}

int qv_refuse_offline(struct qv_reply *r, u32 cpu, const char *more)
{
	char remedy[QV_CPU_REMEDY];

	qv_cpu_remedy(remedy, sizeof(remedy), "bring it online: ", cpu);
	return qv_refuse(r, QV_E_CPU_OFFLINE, remedy, "CPU %u is offline%s", cpu, more);
}
