/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Reports about cells and the front end: failures, a sample of a CPU, memory after the end,
 * counts of exits, the log, events.
 */
#ifndef _UAPI_LINUX_QV_REPORT_H
#define _UAPI_LINUX_QV_REPORT_H

#include <linux/types.h>
#include <linux/qv_reply.h>

/* Why a cell failed (vendor-neutral) */
enum qv_failure {
	QV_FAIL_NONE		= 0,
	QV_FAIL_MEMORY		= 1,	/* the cell touched memory outside it, at .address */
	/* the cell accessed an MSR outside the allow list: .address = MSR number */
	QV_FAIL_MSR		= 2,
	/* the cell accessed a port outside its list: .address = port */
	QV_FAIL_PORT		= 3,
	QV_FAIL_TRIPLE_FAULT	= 4,
	QV_FAIL_INSTRUCTION	= 5,	/* reserved: no monitor reports it */
	/* the cell sent an IPI to a CPU outside it: .address = ICR */
	QV_FAIL_IPI		= 6,
	QV_FAIL_EXIT		= 7,	/* an exit that the monitor does not expect: .exit_code */
	QV_FAIL_MONITOR		= 8,	/* a fault in the cell's own monitor instance */
	QV_FAIL_WATCHDOG	= 9,	/* the heartbeat of the cell stopped */
	/*
	 * .cpu did not answer when the cell was to end: it stays offline, with the cell's memory
	 * and devices.
	 */
	QV_FAIL_CPU_LOST	= 10,
	QV_FAIL_PANIC		= 11,	/* the inmate says that it cannot continue */
};

/* State found when a cell failed. Guest register order: rax rcx rdx rbx rsp rbp rsi rdi r8..r15 */
struct qv_failure_record {
	__u32 reason;		/* enum qv_failure; 0: the cell has not failed since its start */
	__u32 cpu;		/* Linux CPU number */
	__u64 exit_code;	/* code of the exit, in the vendor's numbering */
	__u64 info1, info2;	/* the vendor's further facts about the exit */
	__u64 rip, rflags, cr0, cr2, cr3, cr4, efer;
	__u64 address;		/* guest-physical address, MSR, port: see reason */
	__u64 tsc;
	__u64 regs[16];
	__u8 bytes[16];		/* instruction bytes at rip, zeros when unknown */
};

/* qv_failure_record.address of a sample */
enum qv_cpu_state {
	QV_CPU_RUNS	= 1,	/* the CPU executes the inmate, or waits in a HLT of the inmate */
	QV_CPU_WAITS	= 2,	/* the CPU waits for a SIPI of the cell */
	QV_CPU_STOPPED	= 3,	/* the cell has stopped or failed meanwhile */
};

/*
 * QV_IOC_CELL_SAMPLE: the present state of a CPU of a running cell. Needs .debug at create. It
 * costs the CPU one exit, which counts as a doorbell against .bell_rate. On AMD-V the exit ends a
 * HLT.
 */
struct qv_cell_sample {
	struct qv_reply reply;
	char name[QV_NAME_LEN];		/* in */
	__u32 cpu;			/* in: Linux CPU number, of a CPU of the cell */
	__u32 reserved;
	/* out: .reason 0, .address enum qv_cpu_state, .bytes from rip - 1 on */
	struct qv_failure_record at;
};

/*
 * QV_IOC_CELL_MEMORY: reads the RAM of a cell that has failed or was shut down. Needs .debug at
 * create. The first call takes the cell from the monitor, which does not clear its memory: the
 * counters of QV_IOC_STATS are gone then, and qv_cell_info.failure has the registers of the boot
 * CPU with .reason 0 if the cell has not failed. The memory stays as it is until the cell is
 * started or destroyed.
 */
struct qv_cell_memory {
	struct qv_reply reply;
	char name[QV_NAME_LEN];		/* in */
	__u64 from;		/* in: guest-physical address */
	__u64 buf;		/* user pointer */
	/* in: bytes of room in *buf, at most 2 MiB are used; out: bytes used, 0 at the end */
	__u32 len;
	__u32 reserved;
};

/* Exit reasons, the same for both vendors */
enum qv_exit {
	/* non-maskable interrupts, including those by which the monitor sends commands */
	QV_EXIT_NMI,
	QV_EXIT_ICR,		/* IPI sent through x2APIC */
	QV_EXIT_XAPIC,		/* write to the xAPIC page */
	QV_EXIT_MSR,		/* an access to any other MSR */
	QV_EXIT_CPUID,
	QV_EXIT_PORT,
	QV_EXIT_MEMORY,		/* nested page fault */
	QV_EXIT_HYPERCALL,
	QV_EXIT_CR,		/* control registers, XSETBV */
	QV_EXIT_INSTRUCTION,	/* INVD, virtualization instructions */
	QV_EXIT_EXCEPTION,	/* intercepted exception */
	QV_EXIT_TRIPLE_FAULT,
	QV_EXIT_OTHER,
	QV_EXIT_COUNT,
	QV_EXIT_SLOTS = 16,	/* room in the ABI for further reasons */
};

/* One CPU's counters, all since the CPU came under this monitor instance */
struct qv_cpu_stats {
	__u32 cpu;			/* Linux CPU number */
	__u32 apic_id;
	__u64 exits[QV_EXIT_SLOTS];	/* number of exits, by enum qv_exit */
	/* longest single stay in the monitor, except for management calls made on this CPU */
	__u64 held_max_ns;
	/* longest management call made on this CPU (front end only) */
	__u64 call_max_ns;
	__u64 cycles_in_monitor;	/* TSC cycles */
	/* number of forbidden touches that were answered (front end only) */
	__u64 denied;
	/* calls of a cell to ring a channel, and those that came sooner than .bell_rate allows */
	__u64 bells, bell_overruns;
};

/* QV_IOC_STATS */
struct qv_stats {
	struct qv_reply reply;
	char name[QV_NAME_LEN];		/* in: name of a cell, or QV_FRONT_END */
	/* in: number of entries that *cpus has room for; out: number of entries used */
	__u32 num_cpus;
	/* in: 1 restarts held_max_ns after reading (front end only) */
	__u32 reset_held;
	__u64 cpus;			/* user pointer to struct qv_cpu_stats[] */
};

/*
 * QV_IOC_LOG: text lines, each "SECONDS SOURCE: sentence\n", oldest first. A caller repeats the
 * call, with .len as before and all else as the last call left it, until .len is 0.
 *
 * The driver keeps a number of lines for each source: itself, the front end, and each cell. Lines
 * about life, management and failures are pushed out only by later ones of the same source.
 * All other lines have their own room. An equal line that no reader has read yet is counted
 * instead: "sentence (N times until SECONDS)". Where lines are lost, there is a line
 * "SOURCE: N lines are lost here".
 */
struct qv_log {
	struct qv_reply reply;
	__u64 buf;		/* user pointer */
	__u32 len;		/* in: bytes of room in *buf; out: bytes used */
	__u32 which;		/* in: enum qv_which_log */
	/*
	 * in: 0: the log ends with the line that is the last one now, and the driver sets this;
	 * ~0: it has no end, so that the call may be repeated later
	 */
	__u64 until;
	/* in: zeros: from the oldest line on; out: for the next call, in a form of the driver */
	__u64 place[40];
};
enum qv_which_log {
	QV_LOG_PRESENT	= 0,
	QV_LOG_PREVIOUS	= 1,	/* log of the monitors that ran when the machine last went down */
};

/* read() on /dev/qv: whole records, oldest first; poll() works; each open starts with new events */
enum qv_event_type {
	QV_EVENT_ENABLED = 1,
	QV_EVENT_DISABLED = 2,
	QV_EVENT_CELL = 3,	/* a cell changed state; .state is the new one, 0: destroyed */
	QV_EVENT_LOCK = 4,	/* .state 1: the cell has locked management, 0: unlocked */
};
struct qv_event {
	__u64 seq;		/* number of the event; a gap means that events were lost */
	__u64 time_ns;		/* CLOCK_REALTIME */
	__u32 type;
	__u32 state;
	char name[QV_NAME_LEN];
	char text[128];		/* a sentence */
};

#endif
