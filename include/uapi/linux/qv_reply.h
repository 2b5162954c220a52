/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Limits, reason codes, and struct qv_reply, with which every ioctl structure begins. */
#ifndef _UAPI_LINUX_QV_REPLY_H
#define _UAPI_LINUX_QV_REPLY_H

#include <linux/types.h>

#define QV_ABI_VERSION	11

#define QV_NAME_LEN	32	/* cell name with its NUL: [a-z0-9][a-z0-9_-]* */
#define QV_TEXT_LEN	248	/* length of a sentence with its NUL */
#define QV_MAX_CPUS	64	/* largest number of CPUs that QV manages */
#define QV_MAX_CELLS	15	/* largest number of cells at once, without the front end */
#define QV_MAX_PORTS	16	/* largest number of port ranges of one cell */
#define QV_MAX_DEVICES	8	/* largest number of PCI functions of one cell */
#define QV_MAX_CHANNELS	16	/* largest number of channels of one cell */
#define QV_MAX_WITH	8	/* largest number of ends for a cell's channels at run time */
#define QV_CHANNEL_ENDS	9	/* largest number of ends of a channel */
#define QV_CHANNEL_SCHEMA_LEN 64
#define QV_CHANNEL_MODE	0660
#define QV_CMDLINE_LEN	1024	/* length of a command line with its NUL */
/* Limit of interrupts per millisecond by which Linux reaches a cell, if its file names none */
#define QV_BELL_RATE	10
#define QV_BELL_RATE_MAX 1000
#define QV_STANDBY_MAX	16	/* of qv_cell_create.standby */
#define QV_WATCHDOG_MIN	100	/* ms */
#define QV_WATCHDOG_MAX	3600000	/* ms */
#define QV_MAX_IMAGE	(256u << 20)	/* largest length of an image file or module, in bytes */
#define QV_MAX_MODULES	8	/* largest number of modules of one cell */
#define QV_MODULE_ARGS_LEN 128	/* length of a module's string with its NUL */
#define QV_FRONT_END	"linux"	/* the front end's name where a cell name is asked for */

/* Reason codes. The sentence gives the details. Codes are never renumbered. */
enum qv_reason {
	QV_OK			= 0,
	QV_E_ABI		= 1,	/* caller and driver have different ABI versions */
	QV_E_ARGUMENT		= 2,	/* a field is malformed */
	QV_E_NO_VIRT		= 3,	/* CPU or firmware lacks the virtualization that QV needs */
	/* virtualization is switched off (and locked) by firmware */
	QV_E_VIRT_DISABLED	= 4,
	QV_E_VIRT_IN_USE	= 5,	/* another hypervisor (KVM) holds SVM or VT-x */
	QV_E_NO_NESTED		= 6,	/* the CPU has no nested paging */
	QV_E_RENDEZVOUS		= 7,	/* a CPU did not arrive in time; all CPUs backed out */
	QV_E_NOT_ENABLED	= 8,
	QV_E_ENABLED		= 9,	/* already enabled */
	QV_E_CELLS_EXIST	= 10,	/* disable refused: there are cells */
	QV_E_NO_MEMORY		= 11,
	QV_E_NAME_TAKEN		= 12,
	QV_E_NO_CELL		= 13,	/* no such cell */
	QV_E_CPU		= 14,	/* CPU does not exist, is 0, taken or cannot leave Linux */
	QV_E_IMAGE		= 15,	/* image malformed or does not fit */
	QV_E_STATE		= 16,	/* the state of the cell does not allow this */
	QV_E_TOO_MANY		= 17,	/* one of the limits above is reached */
	QV_E_MONITOR		= 18,	/* the monitor refused the call: .text has its reason */
	QV_E_CPU_STUCK		= 19,	/* a CPU did not answer the monitor in time */
	QV_E_BUSY		= 20,	/* another management call is under way */
	/* a CPU that QV must give back, or bring under the monitor, is offline */
	QV_E_CPU_OFFLINE	= 21,
	QV_E_LOCKDOWN		= 22,	/* kernel lockdown forbids it */
	QV_E_UNSUPPORTED	= 23,	/* QV does not support this machine (yet) */
	QV_E_INTERRUPTED	= 24,	/* a signal ended the wait; .text describes the state */
	/* a running cell has locked management; it has to agree first */
	QV_E_LOCKED		= 25,
	QV_E_NOT_AGREED		= 26,	/* the cell did not agree in time: the lock stays */
	QV_E_DEVICE		= 27,	/* a PCI function cannot be given to a cell */
	QV_E_DMA		= 28,	/* the device could do DMA, and nothing would restrict it */
	QV_E_PORT		= 29,	/* a port that no cell may have, or that another cell has */
	QV_E_NO_PREVIOUS	= 30,	/* RAM holds no log of an earlier session */
	/* the cell was created without .debug, which hides its registers */
	QV_E_NO_DEBUG		= 31,
	QV_E_CHANNEL		= 32,	/* a channel is malformed, or its ends do not agree */
};

/* out: the result of the call */
struct qv_reply {
	__u32 abi;		/* in: QV_ABI_VERSION */
	__u32 code;		/* out: enum qv_reason */
	__u64 duration_ns;	/* out: how long the call took in the driver */
	__u64 held_ns;		/* out: longest time QV held another front-end CPU meanwhile */
	/* out: the problem, a sentence; on success empty, or a part that the call could not do */
	char text[QV_TEXT_LEN];
	char remedy[QV_TEXT_LEN];	/* out: the remedy; may be empty */
};

#endif
