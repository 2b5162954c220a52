/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front end's hypercalls. In: rax = number, rdi and rsi = arguments. Out: rax = enum
 * qv_mon_error, or the value of the call.
 */
#ifndef QV_ABI_CALLS_H
#define QV_ABI_CALLS_H

enum qv_hypercall {
	QV_HC_NOP,		/* does nothing, for measuring: the cheapest exit */
	QV_HC_LEAVE,		/* this CPU goes back to bare Linux; only from the trampoline */
	/* rdi = physical address of struct qv_mon_create; returns the number of the new instance */
	QV_HC_CREATE,
	QV_HC_START,		/* rdi = instance */
	QV_HC_STOP,		/* rdi = instance: parks its CPUs */
	/* rdi = instance: clears and gives back one piece. Returns 0: all done, 1: call again */
	QV_HC_RECLAIM,
	/* rdi = instance: interrupts its first CPU. QV_ME_RATE: too early, ring again later */
	QV_HC_DOORBELL,
	/* sets held_max and call_max of all CPUs of the front end to 0 */
	QV_HC_RESET_HELD,
	/* rdi = running instance: locks management for it; then only this instance can unlock */
	QV_HC_LOCK,
	QV_HC_NOTE,		/* rdi = enum qv_mon_note: for the log */
	/* for tests: QV_CALL_FAULT of abi/test_hooks.h, but with rdi and rsi */
	QV_HC_FAULT,
	/* rdi = instance | index of its CPU << 8: records its state in qv_mon_status.sample */
	QV_HC_SAMPLE,
	/*
	 * rdi = not 0: Linux's interrupt commands no longer pass the filter; 0: they do again.
	 * Refused: QV_ME_IPI. After QV_ME_CPU_STUCK the change is made, but a CPU may not obey yet
	 */
	QV_HC_IPI,
	/*
	 * rdi = physical address of a channel that Linux alone uses: clears it, gives it back. Of a
	 * channel at run time: Linux's end leaves
	 */
	QV_HC_CHANNEL,
	/*
	 * rdi = physical address of a channel with an end of Linux | index of a CPU << 56 | vector:
	 * its bells to Linux go there from now on, and one is sent. Vector 0: no bells. Never
	 * QV_ME_BUSY, since Linux moves interrupts with raw locks held
	 */
	QV_HC_BELL,
	/*
	 * rdi = physical address of a channel with an end of Linux: rings the bells of its cells.
	 * QV_ME_RATE: too early for one of them, which was not rung; ring again later. Never
	 * QV_ME_BUSY
	 */
	QV_HC_RING,
	/*
	 * rdi = instance | key << 8: Linux takes its end of the channel that the cell opened by
	 * this key. Returns the number of its memory among those of qv_mon_create.channels
	 */
	QV_HC_KEY,
	/*
	 * rdi = enum qv_mon_iommu; QV_ME_BUSY: call again, since QV_IOMMU_TAKE does one short step
	 * in each call, and none while another CPU uses a unit;
	 * QV_ME_STATE: there are cells, or it is so already;
	 * QV_ME_IOMMU: Linux has the registers now, and nothing restricts DMA. If it is the answer
	 * to QV_IOMMU_GIVE, then a unit may still use tables of the monitor
	 */
	QV_HC_IOMMU,
	/*
	 * rdi = running instance | index of a device << 8, which has QV_MON_DEVICE_HEIR: the
	 * stopped instance that has the function gives it to this one. QV_ME_IOMMU: call again.
	 * QV_ME_SILENT: it has moved, but its DMA may be blocked
	 */
	QV_HC_MOVE,
	QV_HC_COUNT
};

enum qv_mon_iommu {
	QV_IOMMU_TAKE,		/* the units of qv_mon_boot.iommus become the monitor's */
	QV_IOMMU_GIVE,		/* they become Linux's again */
	QV_IOMMU_LOOK,		/* logs the DMA that was blocked since the last look */
};

enum qv_mon_note { QV_NOTE_PANIC = 1, QV_NOTE_RESTART, QV_NOTE_HALT, QV_NOTE_POWER_OFF };

#endif
