/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The contract between qv.ko and programs: ioctls on /dev/qv, events read from it, and the console
 * devices /dev/qv-cell/<name>/console. Includes linux/qv_reply.h (limits, reason codes, struct
 * qv_reply) and linux/qv_report.h (failures, exits, log, events).
 *
 * Every ioctl structure begins with struct qv_reply. The driver fills it in on success *and* on
 * failure (then the ioctl also returns -1 with a fitting errno): programs show .text and .remedy to
 * the person, never the errno.
 *
 * Rules for callers: set .abi to QV_ABI_VERSION, zero everything unused. A file that is not open
 * for writing may make only the calls that change and interrupt nothing: QV_IOC_STATUS,
 * QV_IOC_CELL_LIST, QV_IOC_CELL_INFO, QV_IOC_LOG, QV_IOC_POOL and QV_IOC_POOL_CPUS without
 * QV_POOL_SET, QV_IOC_STATS without .reset_held. All others fail with EPERM, and leave the reply as
 * it was.
 *
 * QV_IOC_DISABLE, QV_IOC_POOL and QV_IOC_CELL_DESTROY accept any .abi, so that the qvctl of a
 * later version can end QV before its own module is loaded. Their numbers and structures
 * (qv_reply, qv_simple, qv_pool, qv_cell_name) never change.
 */
#ifndef _UAPI_LINUX_QV_H
#define _UAPI_LINUX_QV_H

#include <linux/types.h>
#include <linux/ioctl.h>
#include <linux/qv_reply.h>
#include <linux/qv_report.h>

/* QV_IOC_STATUS: the features of the machine and the state of QV */
struct qv_status_info {
	struct qv_reply reply;
	__u32 enabled;		/* 1: the monitor runs under Linux */
	__u32 num_cells;
	__u32 vendor;		/* 0: no usable virtualization, 1: AMD-V, 2: VT-x */
	__u32 features;		/* QV_FEATURE_* */
	__u32 x2apic;		/* 1: the machine runs its APICs in x2APIC mode */
	__u32 num_cpus;		/* CPUs under the monitor (0 when not enabled) */
	__u32 tsc_khz;
	__u32 monitor_text;	/* bytes of monitor code */
	__u32 obstacle;		/* enum qv_reason why enable would fail now, else 0 */
	__u32 lost_cpus;	/* CPUs of cells that no longer answer the monitor */
	/* CPUs of the machine that are not under the monitor (0 when not enabled) */
	__u32 cpus_outside;
	__u32 ipi_direct;	/* 1: enabled with QV_ENABLE_IPI_DIRECT */
	__u32 dma_level;	/* enum qv_dma_level */
	__u32 reserved;
	char obstacle_text[QV_TEXT_LEN];
	char obstacle_remedy[QV_TEXT_LEN];
	/* why .dma_level is not QV_LEVEL_FULL; empty if it is, or when not enabled */
	char dma_obstacle[QV_TEXT_LEN];
};
/* How a hostile Linux's devices are kept from cells and the monitor */
enum qv_dma_level {
	QV_LEVEL_NONE	= 0,	/* not at all */
	/*
	 * they interrupt CPUs of Linux only, and reach memory that Linux's tables name: a hostile
	 * Linux can name any memory. Devices of cells are confined
	 */
	QV_LEVEL_DEVICES = 1,
	/* they reach memory of Linux only, but their interrupts may reach every CPU */
	QV_LEVEL_MEMORY	= 2,
	QV_LEVEL_FULL	= 3,	/* they reach memory and CPUs of Linux only */
};
#define QV_FEATURE_NPT		(1u << 0)	/* AMD-V: nested paging */
#define QV_FEATURE_NRIPS	(1u << 1)	/* the processor saves the next RIP at exits */
#define QV_FEATURE_DECODE	(1u << 2)	/* decode assists */
#define QV_FEATURE_FLUSH_ASID	(1u << 3)
#define QV_FEATURE_PAGE1G	(1u << 4)
#define QV_FEATURE_INVLPGB	(1u << 5)	/* the processor has broadcast TLB flushes */
#define QV_FEATURE_SPEC_CTRL	(1u << 6)	/* SPEC_CTRL is virtualized */
#define QV_FEATURE_EPT		(1u << 7)	/* VT-x: nested paging */
/* VT-x: a cached translation has the number of its guest */
#define QV_FEATURE_VPID		(1u << 8)
#define QV_FEATURE_UNRESTRICTED	(1u << 9)	/* VT-x: guests may be in real mode */
#define QV_FEATURE_X2APIC	(1u << 10)	/* the processor has x2APIC mode */

/*
 * QV_IOC_ENABLE. Offline CPUs that Linux permits are brought online, taken under the monitor, and
 * sent offline again.
 */
struct qv_enable {
	struct qv_reply reply;
	__u32 flags;		/* QV_ENABLE_* */
	__u32 reserved;
};
/* refuse (QV_E_CPU_OFFLINE) when a CPU would stay outside the monitor */
#define QV_ENABLE_STRICT	(1u << 0)
/*
 * Linux's interrupt commands cause no exit and may reach the CPUs of cells, until disable. Excludes
 * cells with a lock (QV_E_LOCKED). Refused as QV_ENABLE_STRICT is.
 */
#define QV_ENABLE_IPI_DIRECT	(1u << 1)
/*
 * The monitor takes the IOMMU from Linux where it can: see qv_status_info.dma_level. With this flag
 * enable is refused (QV_E_UNSUPPORTED) where it cannot.
 */
#define QV_ENABLE_IOMMU		(1u << 2)
/* The IOMMU stays with Linux. Excludes QV_ENABLE_IOMMU */
#define QV_ENABLE_NO_IOMMU	(1u << 3)

/*
 * QV_IOC_POOL: memory that QV keeps for cells, in pieces of 2 MiB. Cells take from it first, and
 * refill it when they go.
 */
struct qv_pool {
	struct qv_reply reply;
	__u32 flags;		/* QV_POOL_SET, or 0 */
	__u32 reserved;
	/* bytes: with QV_POOL_SET in: a multiple of 2 MiB; out: the size of the pool */
	__u64 size;
	__u64 free;		/* out: bytes that no cell has */
	__u64 lent;		/* out: bytes of the pool that cells have */
};
#define QV_POOL_SET	(1u << 0)

/*
 * QV_IOC_POOL_CPUS: CPUs that QV keeps ready for cells. They go offline in Linux once, and stay
 * offline between cells, so that no create and no destroy stops Linux for it.
 */
struct qv_pool_cpus {
	struct qv_reply reply;
	__u32 flags;		/* QV_POOL_SET, or 0 */
	__u32 num_cpus;		/* with QV_POOL_SET in: 0..QV_MAX_CPUS; out: how many are kept */
	__u32 cpus[QV_MAX_CPUS];	/* Linux CPU numbers, never 0; out: in ascending order */
};

/* QV_IOC_DISABLE */
struct qv_simple {
	struct qv_reply reply;
};

enum qv_boot { QV_BOOT_MULTIBOOT2 = 1 };

enum qv_cell_state {
	QV_STATE_CREATED	= 1,	/* resources are taken, no image is loaded */
	QV_STATE_LOADABLE	= 2,	/* image is loaded, start may follow */
	QV_STATE_RUNNING	= 3,
	QV_STATE_SHUT_DOWN	= 4,	/* on request: shut down, or stopped by force */
	QV_STATE_FAILED		= 5,	/* stopped by the monitor or the watchdog */
};

/*
 * A channel (qv/channel.h has the types, policies and flags). The cell is an end of it. Linux is
 * the end QV_FRONT_END. A channel exists while a cell that lists it exists.
 */
struct qv_channel_plan {
	char name[QV_NAME_LEN];		/* as the name of a cell */
	char schema[QV_CHANNEL_SCHEMA_LEN];	/* NAME@HASH of the payload; may be empty */
	__u32 type;			/* enum qv_chan_type */
	__u32 full;			/* enum qv_chan_full; 0 for other types than rings */
	__u32 flags;			/* QV_CHAN_RECONNECT, _BELL, _ONE_SHOT, or 0 */
	__u32 num_ends;			/* 2..QV_CHANNEL_ENDS */
	__u64 item;			/* bytes of an item, or of the memory */
	__u64 slots;			/* of a ring; else 1 */
	/* with QV_CHAN_BELL, of this cell alone; else 0: */
	__u32 bell_vector;		/* 32..255, or 0: 0x22 + the channel's number in the cell */
	__u32 bell_cpu;			/* the bell interrupts .cpus[bell_cpu] of the cell */
	char ends[QV_CHANNEL_ENDS][QV_NAME_LEN];	/* the writer, then the other ends */
	/* owner, group and mode of its device; without an end of Linux all are 0 */
	__u32 uid, gid;
	__u32 mode;			/* bits of 0666; 0: QV_CHANNEL_MODE */
	/* QV_CHAN_MEMORY: so many of .ends, from the first on, write it. 0: as 1 */
	__u32 writers;
};

/*
 * A file that is loaded into the cell's memory behind the image. The inmate finds it by a module
 * tag of the boot information, with the string .args.
 */
struct qv_module {
	__u64 data;			/* user pointer to the file's content; CELL_INFO: 0 */
	__u64 len;			/* length in bytes: 1..QV_MAX_IMAGE */
	char args[QV_MODULE_ARGS_LEN];
};

/* QV_IOC_CELL_CREATE: take CPUs and memory, load the image: the cell is loadable */
struct qv_cell_create {
	struct qv_reply reply;
	char name[QV_NAME_LEN];
	__u32 num_cpus;			/* number of CPUs: 1..QV_MAX_CPUS */
	__u32 cpus[QV_MAX_CPUS];	/* Linux CPU numbers, none twice, never 0 */
	__u32 boot;			/* enum qv_boot */
	__u64 memory;			/* bytes of RAM: a multiple of 2 MiB, at least 2 MiB */
	__u64 image;			/* user pointer to the image file's content */
	__u64 image_len;		/* length of the image in bytes: 1..QV_MAX_IMAGE */
	char image_name[128];		/* the image's file name, for listings only */
	char cmdline[QV_CMDLINE_LEN];
	__u32 console;			/* 1: the cell has a console */
	__u32 num_ports;		/* number of port ranges: 0..QV_MAX_PORTS */
	/*
	 * The cell fails if its heartbeat does not change for this many ms. 0: no watchdog; else
	 * QV_WATCHDOG_MIN to QV_WATCHDOG_MAX.
	 */
	__u32 watchdog_ms;
	__u32 lock;			/* enum qv_lock */
	struct qv_port_range {
		__u16 first, last;	/* inclusive */
	} ports[QV_MAX_PORTS];
	__u32 num_devices;		/* number of PCI functions: 0..QV_MAX_DEVICES */
	/* limit of doorbells (keys, requests) per ms: 1..QV_BELL_RATE_MAX; 0 means QV_BELL_RATE */
	__u32 bell_rate;
	struct qv_device {
		__u32 segment;		/* PCI domain: 0 */
		__u32 bdf;		/* bus << 8 | device << 3 | function */
		__u32 dma;		/* enum qv_dma; CELL_INFO: the choice for QV_DMA_BEST */
		__u32 state;		/* out, CELL_INFO only: QV_DEVICE_* */
	} devices[QV_MAX_DEVICES];
	/*
	 * 1: QV_IOC_CELL_SAMPLE may show its CPUs' registers while it runs, and QV_IOC_CELL_MEMORY
	 * its memory when it no longer does
	 */
	__u32 debug;
	__u32 apic;			/* enum qv_apic */
	/*
	 * 1: the cell's interrupt commands cause no exit, and may reach every CPU of the machine.
	 * Excludes every .lock but QV_LOCK_NEVER, of this cell and of others (QV_E_LOCKED). Refused
	 * while a CPU is outside the monitor (QV_E_CPU_OFFLINE).
	 */
	__u32 ipi;
	__u32 num_channels;		/* number of channels: 0..QV_MAX_CHANNELS */
	/* memory that it shares with Linux or other cells, in the same words for all ends */
	struct qv_channel_plan channels[QV_MAX_CHANNELS];
	/*
	 * Channels at run time: pages of 2 MiB that are set aside for them, 0..QV_MAX_CHANNELS with
	 * .num_channels, and the other ends that they may have: cells, or QV_FRONT_END
	 */
	__u32 num_dynamic, num_with;
	char with_ends[QV_MAX_WITH][QV_NAME_LEN];
	/* the least enum qv_dma_level that the cell accepts: QV_E_DMA below it */
	__u32 dma_level;
	__u32 num_modules;		/* number of modules: 0..QV_MAX_MODULES */
	struct qv_module modules[QV_MAX_MODULES];
	/*
	 * How often, at most, the cell begins again by itself within .standby_ms after failures,
	 * also while Linux is dead: 0..QV_STANDBY_MAX. If not 0, a copy of all that is loaded takes
	 * some of .memory from the cell, and the cell has no channels at run time
	 */
	__u32 standby, standby_ms;
};
/* The mode of the local APICs of a cell's CPUs. In x2APIC mode the cell causes no exit */
enum qv_apic {
	QV_APIC_BEST	= 0,	/* x2APIC mode where it is possible, else as the machine's */
	QV_APIC_MACHINE	= 1,	/* as the machine's */
	/*
	 * x2APIC mode. Refused if the processor has none, or if an interrupt for the logical id of
	 * a CPU that stays with Linux would reach a CPU of the cell too.
	 */
	QV_APIC_X2APIC	= 2,
};
/* The cell may lock management. A hostile cell would lock it forever */
enum qv_lock {
	QV_LOCK_NEVER	= 0,
	QV_LOCK_MAY	= 1,	/* it may, by QV_CALL_LOCK or QV_IOC_CELL_LOCK */
	QV_LOCK_START	= 2,	/* it may, and management is locked as soon as the cell runs */
};
enum qv_dma {
	/* it reaches the cell's memory only. Refused unless the monitor owns the IOMMU */
	QV_DMA_PROTECTED	= 0,
	QV_DMA_OFF		= 1,	/* bus mastering is kept off: no DMA, no MSI */
	/* the device may read and write any memory of the machine */
	QV_DMA_UNSAFE		= 2,
	QV_DMA_BEST		= 3,	/* as QV_DMA_PROTECTED where that is possible, else off */
	/*
	 * Another cell has the function. This cell gets it when that cell has failed or was
	 * stopped, with the same setting. CELL_INFO: QV_DEVICE_HEIR, and that setting
	 */
	QV_DMA_HEIR		= 4,
};
/* qv_device.state */
#define QV_DEVICE_PIN		(1u << 0)	/* the device's interrupt pin is connected */
#define QV_DEVICE_MESSAGES	(1u << 1)	/* MSI and MSI-X of the device work */
/* the device has no reset: the cell finds it as Linux left it */
#define QV_DEVICE_NO_RESET	(1u << 2)
/*
 * a virtual function: a hostile Linux, which has the physical one, can lead its DMA to any memory
 * of the cell, so the level of the cell is QV_LEVEL_DEVICES at most
 */
#define QV_DEVICE_VIRTUAL	(1u << 3)
/* the cell waits for the function, which another cell has, or had at last */
#define QV_DEVICE_HEIR		(1u << 4)
/* bits 31..16: how often the IOMMU was seen to block its DMA since create, at most 0xffff */
#define QV_DEVICE_BLOCKED_SHIFT	16

/*
 * QV_IOC_CELL_START, _DESTROY, _LOCK: only .name is used. _SHUTDOWN: stops the cell by force after
 * .timeout_ms. _UNLOCK: asks the cell, and waits until it agrees or .timeout_ms has passed
 * (QV_E_NOT_AGREED).
 */
struct qv_cell_name {
	struct qv_reply reply;
	char name[QV_NAME_LEN];
	__u32 timeout_ms;	/* ms to wait: SHUTDOWN (0: stop by force at once), UNLOCK */
	__u32 reserved;
};

/* QV_IOC_CELL_LIST: names in order of creation */
struct qv_cell_list {
	struct qv_reply reply;
	__u32 num_cells;
	__u32 reserved;
	char names[QV_MAX_CELLS][QV_NAME_LEN];
};

/* QV_IOC_CELL_INFO */
struct qv_cell_info {
	struct qv_reply reply;
	char name[QV_NAME_LEN];		/* in */
	__u32 id;			/* 1.. */
	__u32 state;			/* enum qv_cell_state */
	__u32 num_cpus;
	__u32 boot;
	__u32 cpus[QV_MAX_CPUS];
	__u64 memory;
	__u64 heartbeat;		/* changes while the inmate lives; 0: no heartbeat */
	__u64 started_ns;		/* CLOCK_BOOTTIME of the last start; 0: never */
	__u64 first_entry_ns;		/* ns from the start call to the first instruction */
	__u32 console;
	__u32 num_ports;
	struct qv_port_range ports[QV_MAX_PORTS];
	__u32 num_devices;
	__u32 bell_rate;		/* limit of doorbells per millisecond */
	struct qv_device devices[QV_MAX_DEVICES];
	__u32 watchdog_ms;		/* 0: off */
	__u32 locked;			/* 1: the cell runs, and has locked management */
	struct qv_failure_record failure;	/* the failure of this life */
	/* the failure of the last life that failed before this one */
	struct qv_failure_record last_failure;
	__u64 failures;			/* how often it has failed since it was created */
	/* 1: the cell was stopped by force, since it had not shut down in time */
	__u32 forced;
	__u32 debug;			/* 1: as in qv_cell_create */
	__u32 apic;			/* as requested: enum qv_apic */
	__u32 x2apic;			/* 1: its APICs are in x2APIC mode, 0: in xAPIC mode */
	__u32 ipi;			/* 1: its interrupt commands are direct */
	__u32 lock;			/* as requested: enum qv_lock */
	char image_name[128];
	char cmdline[QV_CMDLINE_LEN];
	/*
	 * As the inmate says: the cycles of the TSC in which idle_cpus of its CPUs had no work
	 * since its start, in sum. idle_cpus is 0 if it does not say.
	 */
	__u64 idle_cycles;
	__u32 idle_cpus;
	__u32 num_channels;
	struct qv_channel_plan channels[QV_MAX_CHANNELS];
	__u64 channel_memory;		/* bytes of Linux that its channels take */
	__u32 num_dynamic, num_with;	/* as in qv_cell_create */
	char with_ends[QV_MAX_WITH][QV_NAME_LEN];
	__u32 num_open;
	__u32 dma_level;		/* the least enum qv_dma_level, as requested */
	/* channels at run time of which Linux has an end. Those with other cells are not known */
	struct qv_channel_open {
		__u32 key, linux_end;	/* 0: Linux writes it, except for a mailbox */
		__u32 type, full, flags, reserved;
		__u64 item, slots;
	} open[QV_MAX_CHANNELS];
	__u32 num_modules, reserved;	/* as in qv_cell_create */
	struct qv_module modules[QV_MAX_MODULES];
	/* CLOCK_BOOTTIME of the failures above, to a millisecond; 0: no failure */
	__u64 failed_ns, last_failed_ns;
	__u32 standby, standby_ms;	/* as in qv_cell_create */
	/* how often it began again by itself in this life; included in .failures */
	__u32 restarts;
	__u32 reserved1;
	/* ns from the last of these failures until its image began again */
	__u64 restart_ns;
};

/*
 * QV_IOC_CHANNEL_OPEN: Linux takes its end of the channel that a running cell opened by this key.
 * The device is /dev/qv-channel/key-KEY, with KEY as 16 digits in hexadecimal. It exists until
 * QV_IOC_CHANNEL_CLOSE, or until the cell is started again or destroyed.
 */
struct qv_channel_key {
	struct qv_reply reply;
	char name[QV_NAME_LEN];		/* in: the cell */
	__u32 key;			/* in: 1 or more */
	__u32 reserved;
};

#define QV_IOC_STATUS		_IOWR('Q', 0x01, struct qv_status_info)
#define QV_IOC_ENABLE		_IOWR('Q', 0x02, struct qv_enable)
#define QV_IOC_DISABLE		_IOWR('Q', 0x03, struct qv_simple)
#define QV_IOC_POOL		_IOWR('Q', 0x04, struct qv_pool)
#define QV_IOC_POOL_CPUS	_IOWR('Q', 0x05, struct qv_pool_cpus)
#define QV_IOC_CELL_CREATE	_IOWR('Q', 0x10, struct qv_cell_create)
#define QV_IOC_CELL_START	_IOWR('Q', 0x11, struct qv_cell_name)
#define QV_IOC_CELL_SHUTDOWN	_IOWR('Q', 0x12, struct qv_cell_name)
#define QV_IOC_CELL_DESTROY	_IOWR('Q', 0x13, struct qv_cell_name)
#define QV_IOC_CELL_LIST	_IOWR('Q', 0x14, struct qv_cell_list)
#define QV_IOC_CELL_INFO	_IOWR('Q', 0x15, struct qv_cell_info)
#define QV_IOC_CELL_LOCK	_IOWR('Q', 0x16, struct qv_cell_name)
#define QV_IOC_CELL_UNLOCK	_IOWR('Q', 0x17, struct qv_cell_name)
#define QV_IOC_CELL_SAMPLE	_IOWR('Q', 0x18, struct qv_cell_sample)
#define QV_IOC_CHANNEL_OPEN	_IOWR('Q', 0x19, struct qv_channel_key)
#define QV_IOC_CHANNEL_CLOSE	_IOWR('Q', 0x1a, struct qv_channel_key)
#define QV_IOC_CELL_MEMORY	_IOWR('Q', 0x1b, struct qv_cell_memory)
#define QV_IOC_STATS		_IOWR('Q', 0x20, struct qv_stats)
#define QV_IOC_LOG		_IOWR('Q', 0x21, struct qv_log)

/*
 * /dev/qv-cell/<name>/console
 *
 * mmap(PROT_READ, offset 0, QV_CONSOLE_LEN): the console pages of
 * include/qv/cell.h (screen, comm page, latency, output stream); the info page inside
 * reads as zeros.
 * read(), pread(): the screen as a VGA has it, QV_CONSOLE_SCREEN_LEN bytes: 25 rows of 80 cells,
 * each a character and an attribute. Returns at once: the present screen from the file's position
 * on, 0 at its end. lseek() sets the position, which write() ignores.
 * write(): bytes put into the key queue, then the cell is interrupted; returns
 * how many fitted; blocks while the queue is full unless O_NONBLOCK.
 * poll(): POLLIN when the inmate has printed since poll() last said so, at
 * most 50 ms later; POLLOUT when keys fit, POLLHUP once the cell is gone,
 * POLLERR when it is not running, POLLPRI when another file took the keyboard.
 * open() for writing: one writer at a time, else EBUSY; any number of readers. With O_EXCL it takes
 * the keyboard from the present writer, whose write() then fails with EBUSY.
 * The device survives stop and restart of its cell, and goes with destroy.
 */
#define QV_CONSOLE_LEN		0x8000
#define QV_CONSOLE_SCREEN_LEN	4000

/* QV_IOC_CONSOLE_CURSOR, on a console's file: where the cursor is */
struct qv_cursor {
	__u32 row, column;	/* 0..24, 0..79; both 0 if it is hidden */
	__u32 visible;		/* 0: the cursor is hidden */
	/* qv_comm.screen_seq of qv/cell.h: changes whenever the screen or the cursor has changed */
	__u32 seq;
};
#define QV_IOC_CONSOLE_CURSOR	_IOR('Q', 0x30, struct qv_cursor)

#endif
