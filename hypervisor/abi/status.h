/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of an instance: Linux reads it in the instance's open part. */
#ifndef QV_ABI_STATUS_H
#define QV_ABI_STATUS_H

#include "abi/limits.h"
#include "abi/types.h"

/* state at a failure, with the members of struct qv_failure_record of the uapi */
struct qv_mon_failure {
	u32 reason, cpu;
	u64 exit_code, info1, info2;
	u64 rip, rflags, cr0, cr2, cr3, cr4, efer;
	u64 address, tsc;
	u64 regs[16];
	u8 bytes[16];
};

struct qv_mon_cpu_status {
	u32 linux_cpu, apic_id;
	u64 exits[QV_EXIT_SLOTS];
	/*
	 * TSC cycles of the longest stay of this CPU in the monitor, except for its own management
	 * calls
	 */
	u64 held_max;
	u64 cycles;		/* TSC cycles spent in the monitor */
	u64 denied;
	u64 call_max;		/* TSC cycles of the longest management call that this CPU made */
	/* NMIs given to Linux because an NMI of QV may have merged with one of Linux */
	u64 nmis_in_doubt;
	/* front end: 1 if the CPU is with a cell and did not answer when the cell was stopped */
	u64 lost;
	/* calls of a cell's CPU to ring a channel, and those that were too soon: none was rung */
	u64 bells, bell_overruns;
	u64 pad[4];		/* 240 bytes */
};

struct qv_mon_status {
	u32 state;		/* enum qv_mon_state */
	u32 num_cpus;
	u64 first_entry_tsc;	/* TSC when the boot CPU entered the inmate */
	u32 locked;		/* cell: it has locked management; valid only while it runs */
	/* on standby: number of failures since the start; written after the record */
	u32 failures;
	/* the failure; with reason 0: state of the boot CPU when the cell was stopped */
	struct qv_mon_failure failure;
	struct qv_mon_cpu_status cpus[QV_MAX_CPUS];
	u64 samples;		/* number of samples taken; written after .sample */
	/* the last sample: .reason is 0, .address an enum qv_cpu_state, .bytes from rip - 1 on */
	struct qv_mon_failure sample;
};

enum qv_mon_state {
	QV_MON_NONE, QV_MON_CREATED, QV_MON_RUNNING, QV_MON_STOPPED, QV_MON_FAILED,
};

#endif
