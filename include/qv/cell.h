/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The part of QV that an inmate sees, in addition to its RAM, CPUs and devices.
 *
 * The cell's RAM starts at guest-physical 0 (and ends where the boot
 * protocol's memory map says). The legacy VGA window, which no kernel uses
 * as RAM, holds eight pages:
 *
 *   0xB8000  screen   80x25 text cells as on a VGA (character, attribute); shared with Linux
 *   0xB9000  info     read-only for the inmate; fixed from start on
 *   0xBA000  comm     shared with Linux; each field has one writer
 *   0xBA400  recovery what the inmate tells of its components; in the comm page
 *   0xBB000  latency  histograms that the inmate keeps; shared with Linux, which only reads them
 *   0xBC000  stream   16 KiB ring of output bytes; shared with Linux
 *
 * No access to these pages causes an exit. An inmate that does not find
 * QV_INFO_MAGIC at 0xB9000 is not in a cell. A higher ABI number only adds fields at the end.
 *
 * Access to anything else stops the cell: it becomes `failed`.
 */
#ifndef QV_CELL_H
#define QV_CELL_H

#ifdef __KERNEL__
#include <linux/types.h>
#elif !defined(QV_FREESTANDING_TYPES)
#include <stdint.h>
#endif

#define QV_SCREEN_GPA	0xB8000
#define QV_INFO_GPA	0xB9000
#define QV_COMM_GPA	0xBA000
#define QV_RECOVERY_GPA	0xBA400
#define QV_RECOVERY_LEN	0xC00		/* bytes of the comm page for struct qv_recovery */
#define QV_LATENCY_GPA	0xBB000
#define QV_STREAM_GPA	0xBC000
#define QV_STREAM_LEN	0x4000		/* length of the stream in bytes; a power of two */
#define QV_SCREEN_COLS	80
#define QV_SCREEN_ROWS	25

#define QV_INFO_MAGIC	0x4C4C45435651ull	/* "QVCELL" */
#define QV_INFO_ABI	7
#define QV_INFO_MAX_CPUS 64
#define QV_INFO_MAX_DEVICES 8
#define QV_INFO_MAX_BARS 6
#define QV_INFO_MAX_CHANNELS 16

/*
 * Guest-physical addresses of all channels of a cell. Each begins at a multiple of QV_CHANNEL_STEP,
 * after the one before
 */
#define QV_CHANNEL_GPA	0xFF000000
#define QV_CHANNEL_LEN	0x1000000
#define QV_CHANNEL_STEP	0x10000
/* length of a window for a channel at run time */
#define QV_KEY_LEN	0x200000

/* CPUID leaf 0x40000000 in a cell: ebx, ecx, edx hold this text; eax = highest leaf */
#define QV_CPUID_SIGNATURE	"QVQuestV-QV "
/* CPUID leaf 0x40000001: eax = address of the info page, ebx = ABI number */
#define QV_CPUID_BASE	0x40000000

/*
 * A PCI function of the cell. Its config space is at qv_info.ecam + (bdf << 12): reads are direct,
 * writes are filtered (Documentation/how-to/devices.md says which registers take them). Every other
 * function is absent: its config space reads as ones. Memory BARs lie at their own addresses.
 */
struct qv_info_device {
	uint32_t bdf;			/* bus << 8 | device << 3 | function */
	uint16_t vendor, device;	/* PCI ids */
	uint32_t flags;			/* QV_INFO_DEVICE_* */
	/*
	 * Vector of the interrupt that its pin raises on the first CPU, level-triggered: clear its
	 * cause before EOI. 0: the pin is not connected.
	 */
	uint32_t vector;
	struct qv_info_bar {
		/* guest-physical address of a memory BAR, or first port of an I/O BAR */
		uint64_t base;
		uint64_t size;		/* length in bytes, or number of ports; 0: no such BAR */
		uint32_t ports;		/* 1: I/O ports */
		uint32_t index;		/* BAR number, 0..5 */
	} bars[QV_INFO_MAX_BARS];
};
/* bus mastering (DMA, MSI, MSI-X) may be switched on */
#define QV_INFO_DEVICE_MASTER	(1u << 0)
/* MSI and MSI-X do not arrive, because Linux remaps interrupts */
#define QV_INFO_DEVICE_NO_MESSAGES	(1u << 1)
/* DMA uses the cell's addresses, and reaches its RAM only. Else DMA uses those of the machine */
#define QV_INFO_DEVICE_PROTECTED	(1u << 2)
/*
 * Another cell has the function. All of its config space is ones until it moves to this cell, which
 * a doorbell announces: then its class (offset 8) is no longer ones, and it works as the cell's
 * other functions. Do not touch its BARs before. It was switched off (no bus mastering, no
 * interrupts), but not reset: reset it before bus mastering, or it does DMA by the other cell's
 * rings, to the same addresses in this cell.
 */
#define QV_INFO_DEVICE_HEIR	(1u << 3)

/* A channel (qv/channel.h). Its memory is write-back: map it as RAM */
struct qv_info_channel {
	char name[32];			/* NUL-terminated */
	uint64_t address;		/* guest-physical, of its life page */
	uint64_t length;		/* bytes */
	uint32_t end;			/* the end of this cell */
	uint32_t type;			/* enum qv_chan_type */
};

struct qv_info {
	uint64_t magic;			/* QV_INFO_MAGIC */
	uint32_t abi;			/* QV_INFO_ABI */
	uint32_t size;			/* bytes of this structure */
	char name[32];			/* name of the cell, NUL-terminated */
	/* bytes of RAM, from address 0 on; the window above is inside */
	uint64_t memory;
	uint32_t tsc_khz;		/* frequency of the TSC, which is invariant */
	/* 1: APIC in x2APIC mode (MSRs); 0: xAPIC page at 0xFEE00000 */
	uint32_t x2apic;
	uint32_t num_cpus;
	/* vector of the interrupt that announces news in the comm page (keys, requests); 0: none */
	uint32_t doorbell_vector;
	/* APIC ids of the cell's CPUs. The first CPU boots; the others wait for SIPI */
	uint32_t apic_ids[QV_INFO_MAX_CPUS];
	char cmdline[1024];
	/* since ABI 2 */
	/* guest-physical address of PCI config space, bus 0; 0: none */
	uint64_t ecam;
	uint32_t num_devices;
	/* 1: QV_CALL_LOCK and QV_CALL_UNLOCK are allowed; else they are #UD */
	uint32_t may_lock;
	struct qv_info_device devices[QV_INFO_MAX_DEVICES];
	/* since ABI 3 */
	uint32_t num_channels;
	/*
	 * since ABI 5: windows for channels at run time, the numbers after those of .channels.
	 * 0: QV_CALL_OPEN and the calls after it are #UD
	 */
	uint32_t dynamic;
	struct qv_info_channel channels[QV_INFO_MAX_CHANNELS];
	/* since ABI 4 */
	/* The bell to this cell of the channel with the same index. vector 0: none */
	struct qv_info_bell {
		uint32_t vector;	/* of the interrupt, edge-triggered */
		uint32_t cpu;		/* which of .apic_ids it interrupts */
	} bells[QV_INFO_MAX_CHANNELS];
	/* since ABI 7 */
	/* 1: the cell begins again by itself after a failure. QV_CALL_FAIL is allowed */
	uint32_t standby;
	uint32_t reserved;
};

/* comm.request values */
#define QV_REQUEST_NONE		0
#define QV_REQUEST_SHUTDOWN	1	/* finish, then set comm.state to QV_INMATE_HALTED */
/* agree with QV_CALL_UNLOCK, or do nothing: Linux waits for a while */
#define QV_REQUEST_UNLOCK	2

/* comm.state values */
#define QV_INMATE_BOOTING	0
#define QV_INMATE_RUNNING	1
/* the inmate has finished on request; the cell may be stopped */
#define QV_INMATE_HALTED	2
/* the inmate cannot continue: Linux stops the cell, which has failed; .panic says why */
#define QV_INMATE_PANICKED	3
#define QV_PANIC_LEN		64

#define QV_KEYS_LEN		256	/* length of the key queue in bytes; a power of two */

/*
 * Calls to the cell's monitor, in ring 0: VMMCALL on AMD processors, VMCALL on Intel processors;
 * eax = number. Each costs one exit. Any other number is #UD, and so is a call that info.may_lock,
 * .num_channels, .dynamic or .standby does not allow, as without a monitor. The calls 1 and 2
 * change no register and cannot fail.
 *
 * While a running cell has management locked, Linux cannot create, start, stop or destroy a cell,
 * and cannot disable QV: the monitor refuses. Only the cell that locked can unlock. The lock also
 * ends when the monitor itself finds that this cell failed.
 */
#define QV_CALL_LOCK		1
#define QV_CALL_UNLOCK		2
/*
 * edi = index in info.channels: rings the bell of each other end of the channel that has one. Call
 * it after the memory is written. It is #UD if the cell has no such channel. A bell says only that
 * there may be news: several bells may become one. Since ABI 6 it returns 0 in rdi. If the cell
 * rings more often than its bell-rate, it rings no end, and returns the TSC of the cell's next
 * turn: call again at that time. Another CPU of the cell may be first.
 */
#define QV_CALL_BELL		3

/*
 * Channels at run time, if info.dynamic is not 0. These calls return in eax: enum qv_key_answer, or
 * the number of a window. The windows are the last info.dynamic * QV_KEY_LEN bytes of the range of
 * channels, so all other channels end before them.
 *
 * QV_CALL_OPEN: edi = guest-physical address of a struct qv_chan_page (qv/channel.h) in RAM, a
 *	multiple of 8; rsi = QV_KEY_END(): the end of this cell there, and the bell to this end.
 *	Returns 0 if the request is posted. The page has two ends, the name of this cell at its own
 *	end, and a key from 1 to 2^32 - 1. The other end must send the same bytes. session and all
 *	words life are 0. QV_CALL_BELL rings the other end of a window that has a channel; for
 *	another window it does nothing. An end also gets a bell when the other end opens or closes.
 * QV_CALL_CLOSE: edi = window. Returns 0 if the request is posted.
 * QV_CALL_ANSWER: returns the answer to the posted request, once: the window, and in rdi the
 *	guest-physical address of the channel there; or a refusal, and rdi does not change
 *
 * The first end that opens a key makes the channel, in memory of its own. It has the window at once
 * and finds its peer absent, until the other end opens the same key. A cell has one request at a
 * time, and posts at most one per millisecond.
 */
#define QV_CALL_OPEN		4
/* vector: of the bell, 32 to 255; 0: no bell to this end. cpu: number of the CPU in the cell */
#define QV_KEY_END(end, vector, cpu) \
	((uint32_t)(end) | (uint64_t)(vector) << 32 | (uint64_t)(cpu) << 48)
#define QV_CALL_CLOSE		5
#define QV_CALL_ANSWER		6
/*
 * The inmate cannot continue: the cell fails at once, with the reason `panic`, and .panic of the
 * comm page says why. It is #UD unless info.standby is 1
 */
#define QV_CALL_FAIL		7

enum qv_key_answer {
	QV_KEY_PENDING		= -1,	/* there is no answer yet: ask again */
	QV_KEY_RATE		= -2,	/* too early after the last request: try again */
	QV_KEY_BUSY		= -3,	/* another request of this cell has no answer yet */
	QV_KEY_MALFORMED	= -4,	/* the page, or its address, is not as said above */
	QV_KEY_DENIED		= -5,	/* the cell's file does not list the other end */
	/* the other end described this key differently, or this end is taken */
	QV_KEY_DIFFERS		= -6,
	QV_KEY_FULL		= -7,	/* all memory or windows that were set aside are in use */
	QV_KEY_NONE		= -8,	/* no such window, or no request */
	QV_KEY_STUCK		= -9,	/* a CPU of this cell did not answer: the window stays */
};

/*
 * Indices count up without end (mod 2^32). Take them modulo the length on access. A reader checks
 * head - tail <= length before it trusts them. Keys are bytes as a terminal sends them: ASCII, CR
 * for Enter, 0x7F for Backspace, ESC [ A..D for arrows.
 */
struct qv_comm {
	/* written by the inmate */
	uint64_t heartbeat;		/* heartbeat: any change means that the inmate is alive */
	uint32_t state;			/* QV_INMATE_* */
	uint32_t keys_tail;		/* index of the next key to take */
	/* position of the cursor: row * 80 + column; from 2000 on: hidden */
	uint32_t cursor;
	uint32_t stream_head;		/* number of bytes ever written to the stream (mod 2^32) */
	uint32_t screen_seq;		/* changes whenever the screen or the cursor has changed */
	/* longest line that the cell's shell accepts, in bytes; 0: unknown */
	uint32_t line_max;
	/* QV_LINE_TOLD | status of the last line executed; 0: no line yet, or unknown */
	uint32_t line_status;
	/* number of CPUs that idle_cycles counts; 0: the inmate does not count them */
	uint32_t idle_cpus;
	/* cycles of the TSC in which these CPUs had no work since the inmate's start, in sum */
	uint64_t idle_cycles;
	/* number of times that the shell asked the terminal with the keyboard to leave (`exit`) */
	uint32_t leave;
	char panic[QV_PANIC_LEN];	/* why; ASCII, NUL-terminated if it is shorter */
	uint32_t reserved1;
	uint64_t entered_tsc;		/* TSC at which a cell on standby entered its image */
	/* written by Linux */
	uint32_t request;		/* QV_REQUEST_*: followed by a doorbell */
	uint32_t keys_head;		/* index of the next free slot for a key */
	uint32_t reserved2[30];
	uint8_t keys[QV_KEYS_LEN];	/* written by Linux */
};

/*
 * The latency page: histograms of times that the inmate measures, such as how late a task ran. It
 * is zeros at the start of each life. The first `used` entries of .of are in use; each has one
 * writer, and its numbers other than .min only grow. All times are cycles of the TSC.
 *
 * Bucket 0 counts times below 1 << QV_LATENCY_FIRST. Bucket i > 0 counts those from
 * 1 << (QV_LATENCY_FIRST + i - 1) to below twice that. The last bucket counts all longer ones too.
 * The number of times is the sum of the buckets.
 */
#define QV_LATENCY_MAX		15
#define QV_LATENCY_BUCKETS	24
#define QV_LATENCY_FIRST	8
#define QV_LATENCY_NAME		32

struct qv_latency {
	uint32_t used;			/* number of histograms: 0..QV_LATENCY_MAX */
	uint32_t reserved[15];
	struct qv_histogram {
		char name[QV_LATENCY_NAME];	/* of the measurement; NUL-terminated */
		uint64_t sum;			/* of all times */
		uint64_t max;			/* the longest time */
		uint64_t min;			/* the shortest time; 0 if no time was counted */
		uint64_t missed;		/* number of times beyond their deadline */
		uint64_t bucket[QV_LATENCY_BUCKETS];
	} of[QV_LATENCY_MAX];
};

/*
 * The recovery block: the components that an inmate watches, and their last outages
 * (Documentation/how-to/recovery.md). The inmate writes it, and Linux only reads it. It is zeros at
 * the start of each life, and stays as it is when the cell has failed. All times are values or
 * cycles of the TSC.
 *
 * The inmate makes .seq odd, changes the block, and makes .seq even again. A reader copies the
 * block, and again if .seq was odd or has changed. A cell that failed may leave it odd.
 */
#define QV_RECOVERY_VERSION	2
#define QV_RECOVERY_COMPONENTS	16
#define QV_RECOVERY_DETECTORS	13	/* 10 in version 1 */
#define QV_RECOVERY_OUTAGES	16
#define QV_RECOVERY_REPLICAS	3
#define QV_RECOVERY_NAME	16	/* longest name of a component or detector, with its NUL */
#define QV_RECOVERY_PROGRAM	32	/* longest name of a program, with its NUL */

enum qv_component_state {
	QV_COMPONENT_DOWN,		/* a component that it needs is down, or it has not begun */
	QV_COMPONENT_RUNS,
	QV_COMPONENT_ENDED,		/* it has done its work */
	QV_COMPONENT_MOVED,		/* it is in another cell now */
	QV_COMPONENT_LOST,		/* given up */
	QV_COMPONENT_STANDBY,		/* another cell has it, or is to take it */
};

enum qv_strategy {
	QV_STRATEGY_RESTART,
	QV_STRATEGY_INSTEAD,		/* another implementation */
	QV_STRATEGY_ROLLBACK,		/* restart at its checkpoint */
	QV_STRATEGY_CELL,		/* the cell fails, so that it is started again */
	QV_STRATEGY_GIVE_UP,
	QV_STRATEGY_TAKEOVER,		/* by another cell, or from it */
};

struct qv_recovery {
	uint32_t version;		/* QV_RECOVERY_VERSION; 0: the inmate watches nothing */
	uint32_t seq;			/* odd while the block changes */
	uint32_t num_components;	/* number in .components */
	uint32_t num_detectors;		/* number in .detectors */
	/* outages of this life; number n is at .outages[n % QV_RECOVERY_OUTAGES] */
	uint32_t num_outages;
	uint32_t num_replicas;		/* number in .replicas; 0 in version 1 */
	uint64_t boot;			/* TSC at the start of the inmate */
	struct qv_component {
		char name[QV_RECOVERY_NAME];		/* NUL-terminated */
		char program[QV_RECOVERY_PROGRAM];	/* the implementation; NUL-terminated */
		uint32_t state;		/* enum qv_component_state */
		uint32_t pid;		/* 0: it does not run */
		uint32_t starts, faults;	/* in this life */
		uint64_t longest;	/* outage, from the fault until it was back */
	} components[QV_RECOVERY_COMPONENTS];
	struct qv_detector {
		char name[QV_RECOVERY_NAME];	/* NUL-terminated */
		uint64_t bound;		/* longest time allowed until it finds a fault */
		uint64_t latest;	/* longest time until it found one */
		uint64_t looks, cycles;	/* number of its looks, and their time together */
		uint32_t found;		/* faults */
		uint32_t reserved;
	} detectors[QV_RECOVERY_DETECTORS];
	struct qv_outage {
		uint32_t component;	/* index in .components */
		uint16_t detector;	/* index in .detectors */
		uint16_t strategy;	/* enum qv_strategy */
		uint64_t value;		/* as the detector measured it */
		/* TSC of the fault; of its phases, 0: that has not happened */
		uint64_t fault;
		uint64_t detected;
		uint64_t stopped;	/* all that is affected had ended */
		uint64_t started;	/* all that is affected ran again */
		uint64_t alive;		/* it was back: first heartbeat, if it has any */
	} outages[QV_RECOVERY_OUTAGES];
	/* components that run in three cells; not in version 1 */
	struct qv_replica {
		uint32_t component;	/* index in .components */
		uint32_t page;		/* that differed last, from 1; 0: none; 17: unknown */
		uint64_t votes;		/* on which this cell and another one agreed */
		/* this cell, then the others: how often the two others agreed against it */
		uint32_t outvoted[3];
		uint32_t late[3];	/* how often it did not vote in time */
		char cells[2][QV_RECOVERY_NAME];	/* the others; NUL-terminated; may be cut */
	} replicas[QV_RECOVERY_REPLICAS];
};

/*
 * The stream: the inmate puts every byte it prints at stream[head % LEN],
 * then advances head; it never waits, so a slow reader loses the oldest bytes.
 * A shell puts QV_STREAM_READY there when it awaits a line, so that a program
 * can run one command and knows where its output ends. Before it shows its prompt
 * and the line again after other output, it clears the row: CR, ESC, "[K".
 */
#define QV_STREAM_READY		0x04	/* ASCII EOT; only in the stream, not on the screen */

/*
 * A shell writes comm.line_status before the READY that ends a line's output. The value is as a
 * POSIX shell's $?, 0 to 255: the exit status of a program, 128+N when signal N killed it, 127 when
 * there is no such command, 2 for wrong usage.
 */
#define QV_LINE_TOLD		0x80000000u

#endif
