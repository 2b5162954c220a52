/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All data of one instance of the monitor. It lies in the instance's block,
 * at the same virtual address in every instance: there are no global
 * variables in the image (law 2).
 *
 * Who writes: struct pcpu by its own CPU, except .cmd, .ack, .kicks and .sipi (any CPU of
 * the instance, and the manager: see kick.c) and .flush (the manager too, before CMD_FLUSH to a
 * cell); .cell.post by the cell's CPUs and the manager in turns; the rest of struct instance by the
 * manager while it creates or destroys, or changes channels of a running cell.
 */
#ifndef QV_INSTANCE_H
#define QV_INSTANCE_H

#include <linux/qv.h>
#include <qv/cell.h>
#include "abi/boot.h"
#include "abi/create.h"
#include "abi/layout.h"
#include "abi/linux_state.h"
#include "abi/status.h"
#include "iommu/state.h"
#include "icr.h"
#include "pci.h"

/* Commands for another CPU: bits in pcpu.cmd, announced by an NMI */
#define CMD_FLUSH	(1u << 0)	/* drop cached nested translations */
#define CMD_CATCH	(1u << 1)	/* front end: stop executing Linux, then wait for a SIPI */
#define CMD_BECOME	(1u << 2)	/* front end: move to instance pcpu.next_cr3 */
#define CMD_INIT	(1u << 3)
#define CMD_SIPI	(1u << 4)	/* start at the vector in pcpu.sipi */
#define CMD_STOP	(1u << 5)	/* cell: never run the inmate again */
#define CMD_RETURN	(1u << 6)	/* cell: go back to the front end: pcpu.next_cr3 */
#define CMD_SAMPLE	(1u << 7)	/* cell: record the inmate's state */

enum cpu_phase {
	CPU_COMING,		/* the CPU comes from Linux and has no guest yet */
	/* the CPU executes its guest. From here on the values are those of enum qv_cpu_state */
	CPU_RUNNING,
	CPU_WAIT_SIPI,		/* the CPU is parked; a SIPI may start it */
	CPU_STOPPED,		/* the CPU is parked permanently: its cell has stopped or failed */
};

/* Register numbers as in instruction encodings */
enum { GPR_RAX, GPR_RCX, GPR_RDX, GPR_RBX, GPR_RSP, GPR_RBP, GPR_RSI, GPR_RDI };

struct pcpu {
	/* registers of the guest; rax and rsp are only valid during an exit */
	u64 regs[16];
	struct qv_linux_state linux_state;
	/* this CPU's entry of qv_mon_status, in the open part of this instance */
	struct qv_mon_cpu_status *status;
	u32 index;			/* index of this CPU in this instance */
	u32 linux_cpu, apic_id;
	u32 phase;			/* enum cpu_phase */
	u32 cmd, ack;			/* CMD_* that were sent, and those that are done */
	/* number of CPUs that have set a command here and not yet sent its NMI */
	u32 kicks;
	u32 sipi;
	u32 pci_latch;			/* cell: the value it wrote to port 0xCF8 */
	/* CMD_BECOME, CMD_RETURN: CR3 of the CPU's next instance, and its index there */
	u64 next_cr3;
	u32 next_index;
	u64 exit_tsc;
	/* TSC until which an NMI of QV may come without a command */
	u64 stray_until;
	/* the guest is in an NMI handler; another NMI is pending for it */
	bool nmi_masked, nmi_pending;
	bool faulting;			/* the monitor handles its own fault on this CPU */
	/* drop cached translations before the next entry into the guest */
	bool flush;
};

/*
 * A CPU's area of QV_CPU_LEN bytes. It begins with struct pcpu. The vendor's pages follow; the
 * first of them also holds the task state segment, for both vendors. The CPU's stack grows
 * downwards from the end.
 */
#define CPU_OFF_VENDOR	0x1000u
#define CPU_OFF_TSS	0x1800u
#define TSS_IST1	0x24u		/* offset in the TSS: top of the stack for double faults */
#define CPU_OFF_IST	0x2000u		/* offset in the area: top of that stack */
_Static_assert(sizeof(struct pcpu) <= CPU_OFF_VENDOR, "CPU area");

struct cell_slot {			/* the manager's record of a cell's instance */
	u32 state;			/* enum qv_mon_state; QV_MON_NONE: free */
	u32 reclaimed;			/* number of 2 MiB pages given back so far */
	u64 block_pa;
	/* the request that created it, a copy of the manager; valid unless .state is QV_MON_NONE */
	const struct qv_mon_create *q;
	u64 open_table;			/* table by which Linux reads the open part; never freed */
	/* the cell's CPUs that were not given back yet; bits are front-end indices */
	u64 cpus;
	u64 bell_next;			/* TSC of Linux's next turn to ring: bell_turn() */
	u32 detached;			/* number of channels that were given up so far */
	u64 post_next;			/* TSC before which no request of the cell is answered */
	u32 taken;			/* 1: the cell has its parts, and Linux has not */
	u32 lost;			/* 1: a CPU did not answer the stop, and may still run */
};

/* Returns true if the cell has the function, or gets it at its start */
static inline bool is_held(const struct qv_mon_device *d)
{
	return !(__atomic_load_n(&d->flags, __ATOMIC_SEQ_CST) & QV_MON_DEVICE_HEIR);
}

/* Each such function @d of the request @q */
#define FOR_EACH_HELD(d, q) \
	for (d = (q)->devices; d < (q)->devices + (q)->num_devices; d++) \
		if (is_held(d))

/*
 * Each such function of a cell whose slot has @member: .state, it exists; .taken, it was started
 * and is not destroyed. Twice: a function that moves to a slot that was passed is found there the
 * second time. Not for `break`
 */
#define FOR_EACH_DEVICE(d, member) \
	for (u32 _i = 0; _i < 2 * QV_INSTANCES; _i++) \
		if (me()->manager.cells[_i % QV_INSTANCES].member) \
			FOR_EACH_HELD(d, me()->manager.cells[_i % QV_INSTANCES].q)

struct enter_state {			/* state of enter.c: all CPUs enter together */
	u32 tickets, ready, arrived;
	u32 verdict;
	u64 error;
};
enum { ENTER_UNDECIDED, ENTER_GO, ENTER_BACK };

/* The state of front/ and enter.c. In a cell's instance it is unused and zero */
struct front_state {
	struct enter_state enter;
	/* physical addresses of tables that answer Linux's touches of hidden memory */
	u64 ones_table, sink_table;
	u32 ipi_direct;			/* 1: Linux's interrupt commands do not exit: ipi.c */
	/* the value that Linux wrote to the index register of each IOAPIC */
	u32 ioapic_index[QV_MON_IOAPICS];
};

/*
 * A channel, from the start of its first cell until its last user has gone. Or 2 MiB that a running
 * cell has set aside for a channel at run time: .is.page.ends is 0 while no channel is there, and
 * .is.page.length is 2 MiB then.
 */
struct channel {
	struct qv_mon_channel is;	/* pa[0] is 0: free. `end` is not used */
	u32 users;			/* bits are numbers of instances */
	u32 ends;			/* bits are ends that no further cell may have */
	/* BELL() of each end, 0: none. Used with the lock of records: channel_records.c */
	u64 bell[QV_CHAN_MAX_ENDS];
	u32 cleared;			/* pages; not 0: its last user gives it back, in pieces */
	u32 owner;			/* the cell that set the memory aside; 0: none */
	u32 shown;			/* 1: Linux has tables for its pages: channel_memory.c */
};

/*
 * A request of a cell for a channel at run time, in the cell's own instance. The CPU that takes
 * .state from POST_FREE to POST_FILLING writes it; the manager answers.
 */
struct chan_post {
	u32 state;			/* POST_* */
	u32 nr;				/* QV_CALL_OPEN or QV_CALL_CLOSE */
	s32 answer;			/* a window, or enum qv_key_answer */
	u32 target;			/* APIC id of a CPU of the front end */
	u64 next;			/* TSC of the turn for the next NMI */
	/* .end: this cell's end, to open; the window, to close */
	struct qv_mon_channel ask;
};
enum { POST_FREE, POST_FILLING, POST_SENT, POST_ANSWERED };

/* The state of manage/. In a cell's instance it is unused and zero */
struct manager_state {
	u64 left;			/* CPUs that have gone back to bare Linux */
	u64 away;			/* CPUs that are in a cell's instance: manage.h */
	struct cell_slot cells[QV_INSTANCES];
	u64 generation;			/* of ends of channels; counts up */
	struct channel channels[QV_MON_CHANNELS];
	/*
	 * Tables by which Linux reads parts of channels. Of .num_tables, which are never given
	 * back, the first .free_tables are listed and free
	 */
	u64 tables[QV_MON_CHANNELS];
	u32 num_tables, free_tables;
	u32 dynamic;			/* running cells that may open channels; bits are ids */
	u32 posted;			/* 1: a cell may have posted a request */
	u64 posts_until;		/* TSC until which an NMI may be for a request */
};

/*
 * The target of a bell. @index: of the CPU in the front end's instance; @id: of the instance that
 * is interrupted
 */
#define BELL(apic_id, index, id, vector) \
	((u64)(apic_id) << 32 | (index) << 16 | (id) << 8 | (vector))

/* The bells that a cell may ring. The manager alone writes the targets */
struct bells {
	u64 target[QV_MAX_CHANNELS][QV_CHAN_MAX_ENDS];	/* BELL() of the other ends; 0: none */
	u32 uses[QV_MAX_CPUS];		/* of each CPU: odd while it uses these, or post.target */
	u64 next;			/* TSC of the cell's next turn: bell_turn() */
};

/* The state of cell/. In the front end's instance it is unused and zero */
struct cell_state {
	struct pci_cell pci;		/* its devices */
	u64 failed[QV_STANDBY_MAX];	/* on standby: TSCs of the last failures */
	struct chan_post post;
};

enum front_lock {
	LOCK_MANAGER,			/* a management call, or the answer to requests of cells */
	LOCK_CHANNELS,			/* records and bells of channels */
	LOCK_IOAPIC,
	LOCK_CONFIG,			/* PCI config space */
	LOCK_IOMMU,
	FRONT_LOCKS
};

struct instance {
	struct qv_mon_boot boot;	/* must be the first member: the driver writes it */
	u32 id;				/* 0: front end */
	struct pt_pool pt_pool;
	struct paging host, nested, park;
	u64 *gmem_entries;		/* page-table entries of QV_VA_GMEM */
	u64 *directory;			/* page directory of the GiB in which the instance lies */
	struct icr_map icr;
	u32 locks[FRONT_LOCKS];		/* index + 1 of the CPU that has it; 0: none. core/lock.h */
	struct front_state front;
	struct manager_state manager;
	struct cell_state cell;
	struct iommu_state iommu;

	/*
	 * Front end: the request that is being checked (slot_request() has accepted requests).
	 * Cell: the request that created it.
	 */
	struct qv_mon_create req;

	u8 idt[256 * 16] __attribute__((aligned(4096)));
	u8 park_code[QV_PAGE] __attribute__((aligned(4096)));
	struct bells bells __attribute__((aligned(4096)));	/* in one page */
	/* map of the accesses to MSRs that exit, in the vendor's layout */
	u8 msr_map[0x2000] __attribute__((aligned(4096)));
	/* one bit per port: accesses to it exit. AMD-V also reads bits beyond the last port */
	u8 port_map[0x3000] __attribute__((aligned(4096)));
};

_Static_assert(QV_MAX_CPUS <= ICR_CPUS, "CPUs that the ICR filter knows");
_Static_assert(QV_MAX_CPUS <= 8 * sizeof(((struct instance *)0)->manager.away), "masks of CPUs");
_Static_assert(sizeof(struct instance) <= QV_INSTANCE_LEN, "instance area");

static inline struct instance *me(void)
{
	return (struct instance *)(QV_VA_BLOCK + QV_OFF_INSTANCE);
}

static inline struct qv_mon_status *my_status(void)
{
	return (struct qv_mon_status *)(QV_VA_BLOCK + QV_OFF_STATUS);
}

/* @block: QV_VA_BLOCK, or QV_VA_MANAGE for the instance being managed */
static inline struct pcpu *pcpu_in(u64 block, u32 index)
{
	return (struct pcpu *)(block + QV_OFF_CPUS + index * QV_CPU_LEN);
}

static inline struct pcpu *pcpu_of(u32 index)
{
	return pcpu_in(QV_VA_BLOCK, index);
}

#endif
