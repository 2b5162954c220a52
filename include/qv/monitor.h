/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between driver and monitor of one build. Not an ABI: both come in one module, so
 * nothing here needs to be stable.
 *
 * An *instance* of the monitor lives in one physically contiguous block of RAM that holds all it
 * has: code, stacks, control blocks, page tables. Every instance sees itself at the same virtual
 * addresses, so a CPU moves from one to another by loading CR3 inside the monitor's code.
 */
#ifndef QV_MONITOR_H
#define QV_MONITOR_H

#include <qv/types.h>

#define QV_PAGE			4096u
#define QV_HUGE			(2u << 20)

/* Virtual addresses of an instance, all inside one GiB (one page directory) */
#define QV_VA_IMAGE		0x40000000ull	/* code and constants, copied per instance */
#define QV_VA_APIC		0x40100000ull	/* the xAPIC page */
#define QV_VA_WINDOW		0x40180000ull	/* one page per CPU: guest memory being looked at */
#define QV_VA_BLOCK		0x40200000ull	/* the instance's own block */
#define QV_VA_MANAGE		0x40800000ull	/* manager only: another instance's block */
#define QV_VA_SCRUB		0x40A00000ull	/* manager only: memory being cleared */

/* Offsets in a block */
#define QV_OFF_STATUS		0x00000u	/* struct qv_mon_status; Linux may read it */
#define QV_OFF_LOG		0x04000u	/* struct qv_mon_log; Linux may read it */
#define QV_OFF_MARK		0x0f000u	/* struct qv_mon_mark; Linux may read it */
#define QV_OPEN_LEN		0x10000u	/* all above: read-only for the front end */
#define QV_OFF_IMAGE		0x10000u
#define QV_IMAGE_MAX		0x10000u
/* struct instance; starts with struct qv_mon_boot */
#define QV_OFF_INSTANCE		0x20000u
#define QV_INSTANCE_LEN		0x20000u
#define QV_OFF_CPUS		0x40000u	/* QV_CPU_LEN each; then pages for page tables */
#define QV_CPU_LEN		0x8000u

#define QV_BLOCK_FRONT_END	(4u << 20)
#define QV_BLOCK_CELL		QV_HUGE

/* At the end of the front end's block: a copy of each cell's request, first cell first */
#define QV_REQUEST_LEN		0x5000u
#define QV_OFF_REQUESTS		(QV_BLOCK_FRONT_END - (QV_MON_CELLS - 1) * QV_REQUEST_LEN)

#define QV_MON_CPUS		64
#define QV_MON_RAM_RANGES	64
#define QV_MON_CELLS		16	/* instances; 0 is the front end */
#define QV_MON_RUNS		1024	/* pieces of one cell's memory */
#define QV_MON_PORTS		16
#define QV_MON_EXITS		16	/* slots: enum qv_exit */
#define QV_MON_DEVICES		8	/* PCI functions of one cell */
#define QV_MON_BARS		6	/* of one function */
#define QV_MON_IOAPICS		16
#define QV_MON_FIRMWARE_PORTS	16	/* ranges */
#define QV_MON_GUARDS		16
#define QV_MON_BELL_RATE_MAX	1000	/* a millisecond */

/* Head of the image: an ELF-less flat binary, see image.lds */
struct qv_image_header {
	char magic[8];		/* "QVMON01" */
	u32 entry;		/* address: a CPU comes from Linux, rdi = struct pcpu */
	u32 text_end;		/* address: end of the executable part, page-aligned */
	u32 image_end;		/* address: end of the image */
	u32 vendor;		/* 1 AMD-V, 2 VT-x */
	u32 vectors;		/* address: entries of exceptions 0..31, 4 bytes each ... */
	u32 vector_rest;	/* ... and of all other vectors */
	/* address: the monitor's segments; 0x10 code, 0x18 data, 0x20 TSS (hidden part only) */
	u32 gdt;
};

/* A range of I/O ports, both ends included */
struct qv_mon_ports { u16 first, last; };

/*
 * Bytes of a board's registers that Linux may not write freely: one with a bit of @bits set (0:
 * any) passes only if its bits @mask are @value.
 */
struct qv_mon_guard {
	u16 first, last;	/* ports, both included */
	u8 bits, mask, value, reserved;
	u32 what;		/* enum qv_mon_event: how a write that is dropped is logged */
};

/*
 * VT-x: control words as this processor wants them (SDM vol. 3, appendix A): the bits that must be
 * set, the bits that QV requires for every guest, and each feature of instructions (RDTSCP,
 * INVPCID, XSAVES, TPAUSE...) that the processor offers. The driver has checked that the other bits
 * that the monitor sets are allowed.
 */
struct qv_mon_vmx {
	u32 revision;		/* of VMCS and VMXON regions */
	u32 pin, proc, proc2, exit, entry;
};

/* The driver's data for the first instance. Linux is still trusted then. */
struct qv_mon_boot {
	u64 block_pa;
	u32 block_len;
	u32 num_cpus;
	u32 tsc_khz;
	u32 enter_ms;		/* deadline for all CPUs to be inside */
	u32 x2apic;
	/* the machine remaps interrupts: IOAPIC entries are in that format */
	u32 remapped;
	u32 levels;		/* of paging in Linux: 4 or 5 */
	u32 nested_levels;	/* of nested tables */
	/* nested tables are of VT-x: entries carry a memory type, bit 2 allows execution */
	u32 ept;
	u32 page1g;		/* 1 GiB pages exist */
	u32 next_rip;		/* the processor saves the next RIP at exits ... */
	u32 decode;		/* ... and the instruction's bytes at nested faults */
	u32 invlpgb;		/* Linux may use broadcast TLB flushes */
	u32 spec_ctrl;		/* the guest's SPEC_CTRL is in its control block */
	u32 test_hooks;		/* QV_TEST_*: module parameter, 0 but in tests */
	u32 phys_bits;
	u32 image_len;
	u32 text_len;
	u32 num_ram;
	u64 cr3;		/* of this instance */
	u64 tramp_va, tramp_pa;	/* the driver's trampoline page (front end only) */
	/* VA in it (AMD-V) or in the driver's text (VT-x) where a CPU goes back to Linux */
	u64 tramp_leave;
	/* Linux's address of the block; on VT-x, tramp_leave gets addresses in terms of it */
	u64 block_va;
	struct qv_mon_vmx vmx;	/* VT-x only */
	struct { u64 start, end; } ram[QV_MON_RAM_RANGES];
	struct { u32 linux_cpu, apic_id; } cpus[QV_MON_CPUS];
	/* From ACPI: PCI config space of segment 0 (MCFG; ecam_len 0: none), IOAPICs (MADT),
	 * the ports of the board's power management and hotplug (FADT, DSDT), which no cell may
	 * have, and which of their bytes Linux may not write freely */
	u64 ecam_pa;		/* where bus 0 lies, or would */
	u64 ecam_len;		/* bytes from there to the end of the last bus */
	u32 num_ioapics;
	u32 num_firmware_ports;
	u64 ioapics[QV_MON_IOAPICS];	/* physical address of the page */
	struct qv_mon_ports firmware_ports[QV_MON_FIRMWARE_PORTS];
	u32 num_guards, reserved;
	struct qv_mon_guard guards[QV_MON_GUARDS];
};

#define QV_TEST_FAULTS		1u	/* guests may ask for a fault of the monitor's own */
#define QV_TEST_BAD_VMRUN	2u	/* at enable, the second CPU's guest state is illegal */
/* at enable, the second CPU's processor refuses a step of the driver's (VT-x) */
#define QV_TEST_BAD_STEP	4u
#define QV_TEST_NO_GUARDS	8u	/* Linux may sleep and eject */

/* A segment register as in the VMCS: rights bit 16: unusable */
struct qv_linux_seg {
	u16 sel, pad;
	u32 limit, rights, pad2;
	u64 base;
};

/*
 * Linux state of a CPU at the moment the trampoline left it; filled there. On VT-x also the state
 * for the CPU's way back, of which the driver loads the part that a VM exit does not.
 */
struct qv_linux_state {
	u64 rsp, rip, rflags;
	u64 cr0, cr3, cr4, efer;
	u64 gdt_base, idt_base;
	u32 gdt_limit, idt_limit;
	u16 cs, ss, ds, es;
	u16 tr, ldt, pad[2];
	u64 pat, s_cet, debugctl, ssp_table;
	struct qv_linux_seg fs, gs, tr_seg, ldt_seg;	/* VT-x; AMD-V has VMSAVE */
	u64 dr7, sysenter_cs, sysenter_esp, sysenter_eip;	/* VT-x: an exit changes them */
	u64 error;		/* out: 0 or enum qv_mon_error, when the CPU came straight back */
};

/* ---- what Linux reads in an instance's open part ---- */

struct qv_mon_failure {		/* as struct qv_failure_record of the uapi */
	u32 reason, cpu;
	u64 exit_code, info1, info2;
	u64 rip, rflags, cr0, cr2, cr3, cr4, efer;
	u64 address, tsc;
	u64 regs[16];
	u8 bytes[16];
};

struct qv_mon_cpu_status {
	u32 linux_cpu, apic_id;
	u64 exits[QV_MON_EXITS];
	/* TSC cycles of the longest stay in the monitor, own management calls apart */
	u64 held_max;
	u64 cycles;		/* TSC cycles spent in the monitor */
	u64 denied;
	u64 call_max;		/* TSC cycles of the longest management call made here */
	/* NMIs given to Linux because an NMI of QV may have merged with one of Linux */
	u64 nmis_in_doubt;
	/* front end: 1: it is with a cell, and did not answer when the cell was to end */
	u64 lost;
	u64 pad[6];		/* 240 bytes */
};

struct qv_mon_status {
	u32 state;		/* enum qv_mon_state */
	u32 num_cpus;
	u64 first_entry_tsc;	/* when the boot CPU entered its inmate */
	u32 locked;		/* cell: it has locked management. Counts while it runs */
	u32 pad;
	/* or, reason 0: state of the boot CPU when it was stopped */
	struct qv_mon_failure failure;
	struct qv_mon_cpu_status cpus[QV_MON_CPUS];
	u64 samples;		/* how many were taken; written after .sample */
	/* the last: reason 0, address: enum qv_cpu_state, bytes: from rip - 1 on */
	struct qv_mon_failure sample;
};

enum qv_mon_state {
	QV_MON_NONE, QV_MON_CREATED, QV_MON_RUNNING, QV_MON_STOPPED, QV_MON_FAILED,
};

struct qv_mon_log_entry {
	u64 seq;		/* from 1; written last */
	u64 tsc;
	u32 cpu;		/* Linux number */
	u32 what;		/* enum qv_mon_event */
	u64 a, b;
	u64 pad[3];
};
#define QV_MON_LOG_ENTRIES 512	/* a power of two; 32 KiB */

struct qv_mon_log {
	u64 head;		/* entries ever written */
	u64 pad[7];
	struct qv_mon_log_entry entries[QV_MON_LOG_ENTRIES];
};

/*
 * Makes a log findable in RAM after a warm reset: at QV_OFF_MARK of a block that is aligned to
 * QV_HUGE. The driver writes it for the front end, and the manager copies it for each cell. It is
 * not changed later.
 */
#define QV_MARK_MAGIC	0x31474F4C4D5651ull	/* "QVMLOG1" */
struct qv_mon_mark {
	u64 magic;		/* QV_MARK_MAGIC */
	u64 block_pa;		/* where it lies: a copy elsewhere is none */
	u64 session;		/* CLOCK_REALTIME in ns at enable: the same for all instances */
	u64 tsc;		/* at the same moment */
	u64 boot_ns;		/* CLOCK_BOOTTIME at that moment */
	u64 tsc_khz;
	u64 id;			/* instance */
	u64 name[4];		/* of the cell: 32 characters; the monitor does not read them */
	u64 sum;		/* qv_mark_sum() */
};

/* The complement of the sum of all words but the last */
static inline u64 qv_mark_sum(const struct qv_mon_mark *mark)
{
	const u64 *words = (const u64 *)mark;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < sizeof(*mark) / sizeof(u64) - 1; i++)
		sum += words[i];
	return ~sum;
}

/* Events that the monitor logs: number, then the sentence the driver prints (a, b) */
#define QV_MON_EVENTS(X) \
	X(QV_LOG_ENTERED,	"CPU is under the monitor (apic id %llu)") \
	X(QV_LOG_LEFT,		"CPU goes back to bare Linux") \
	X(QV_LOG_CREATED,	"cell instance %llu created, %llu pages of 2 MiB") \
	X(QV_LOG_STARTED,	"cell instance %llu starts") \
	X(QV_LOG_STOPPED,	"cell instance %llu stopped") \
	X(QV_LOG_RECLAIMED,	"cell instance %llu destroyed, its memory is cleared and back") \
	X(QV_LOG_FAILED,	"cell failed: reason %llu, address %#llx") \
	X(QV_LOG_REFUSED,	"hypercall %llu refused, error %llu") \
	X(QV_LOG_TOUCH_READ,	"Linux read memory that is not its own at %#llx: answered with ones") \
	X(QV_LOG_TOUCH_WRITE,	"Linux wrote memory that is not its own at %#llx: dropped") \
	X(QV_LOG_MSR_DENIED,	"access to MSR %#llx refused (value %#llx)") \
	X(QV_LOG_IPI_DENIED,	"IPI %#llx to a CPU outside the cell dropped (destination %#llx)") \
	X(QV_LOG_INSTRUCTION,	"instruction not allowed here: exit %#llx at %#llx") \
	X(QV_LOG_STUCK,		"CPU with apic id %llu did not answer") \
	X(QV_LOG_NOT_CAUGHT,	"CPU with apic id %llu was to move to a cell, but is not parked (phase %llu): it stays") \
	X(QV_LOG_MONITOR_FAULT,	"fault in the monitor: vector %llu at %#llx") \
	X(QV_LOG_INIT,		"an INIT signal from outside the cell was ignored") \
	X(QV_LOG_FAILED_AT,	"it stood at RIP %#llx, exit %#llx") \
	X(QV_LOG_LINUX_ENDS,	"Linux says that it goes down (%llu: 1 panic, 2 restart, 3 halt, 4 power-off)") \
	X(QV_LOG_CONFIG,	"PCI config access (function and register %#llx) refused, value %#llx") \
	X(QV_LOG_PORT,		"Linux used port %#llx, which is not its own: ones, or dropped (value %#llx)") \
	X(QV_LOG_IOAPIC,	"interrupt pin %llu was to reach what is not Linux's: masked (entry %#llx)") \
	X(QV_LOG_DEVICE,	"PCI function %#llx is given to the cell; bus mastering allowed: %llu") \
	X(QV_LOG_SMI,		"Linux wrote %#llx to port %#llx: a system management interrupt stops every CPU") \
	X(QV_LOG_SLEEP,		"Linux tried to put the machine to sleep by port %#llx: dropped (value %#llx)") \
	X(QV_LOG_EJECT,		"Linux tried to eject hardware by port %#llx: dropped (value %#llx)") \
	X(QV_LOG_SHUTDOWN,	"Linux met a triple fault at %#llx: the machine goes down as without a monitor") \
	X(QV_LOG_BOARD_DMA,	"Linux tried to have the board write memory by port %#llx: dropped (value %#llx)") \
	X(QV_LOG_SMI_ENABLE,	"Linux tried to enable more system management interrupts by port %#llx: dropped (value %#llx)")
enum qv_mon_event {
#define X(name, text) name,
	QV_MON_EVENTS(X)
#undef X
	QV_LOG_EVENTS
};

/* ---- front end's hypercalls: rax = number, rdi, rsi; rax = enum qv_mon_error or value ---- */
enum qv_hypercall {
	QV_HC_NOP,		/* the cheapest exit; for measuring */
	QV_HC_LEAVE,		/* this CPU goes back to bare Linux; only from the trampoline */
	QV_HC_CREATE,		/* rdi = physical address of struct qv_mon_create */
	QV_HC_START,		/* rdi = instance */
	QV_HC_STOP,		/* rdi = instance: its CPUs are parked */
	/* rdi = instance: clear and give back one piece; 0 = all done, 1 = repeat */
	QV_HC_RECLAIM,
	/* rdi = instance: interrupt its first CPU; QV_ME_RATE: not yet, ring again */
	QV_HC_DOORBELL,
	/* held_max and call_max of all CPUs of the front end restart at 0 */
	QV_HC_RESET_HELD,
	/* rdi = instance that runs: it has locked management; only it can unlock */
	QV_HC_LOCK,
	QV_HC_NOTE,		/* rdi = enum qv_mon_note: for the log */
	QV_HC_FAULT,		/* for tests: as QV_CALL_FAULT of qv/cell.h, rdi and rsi */
	/* rdi = instance | CPU of it << 8: its state goes to qv_mon_status.sample */
	QV_HC_SAMPLE,
	QV_HC_COUNT
};

enum qv_mon_note { QV_NOTE_PANIC = 1, QV_NOTE_RESTART, QV_NOTE_HALT, QV_NOTE_POWER_OFF };

/* Values >= 0x100 so that they cannot be taken for a count */
#define QV_MON_ERRORS(X) \
	X(QV_ME_CALL,		"no such hypercall, or not allowed here") \
	X(QV_ME_BUSY,		"another management call is under way") \
	X(QV_ME_POINTER,	"the request does not lie in the front end's RAM") \
	X(QV_ME_INSTANCE,	"no such cell instance") \
	X(QV_ME_STATE,		"the cell is not in a state that allows this") \
	X(QV_ME_SLOTS,		"all cell instances are in use") \
	X(QV_ME_CPUS,		"the CPU list is malformed") \
	X(QV_ME_CPU_TAKEN,	"a CPU is not the front end's, or is the one that calls") \
	X(QV_ME_CPU_STUCK,	"a CPU did not answer in time") \
	X(QV_ME_CPU_LOST,	"a CPU of the cell does not answer; what it may still reach stays with the monitor") \
	X(QV_ME_BLOCK,		"the block for the instance is not RAM of the front end") \
	X(QV_ME_MEMORY,		"a piece of the cell's memory is not RAM of the front end, or is listed twice") \
	X(QV_ME_WINDOW,		"the console window is not RAM of the front end") \
	X(QV_ME_PORTS,		"the port list is malformed") \
	X(QV_ME_ENTRY,		"the entry state is malformed") \
	X(QV_ME_TABLES,		"no pages left for page tables") \
	X(QV_ME_SWITCH,	"the processor refused a step of the switch to the monitor") \
	X(QV_ME_VMRUN,		"the processor refused the guest state") \
	X(QV_ME_LOCKED,		"a running cell has locked management") \
	X(QV_ME_MAY_NOT_LOCK,	"the cell was created without the right to lock") \
	X(QV_ME_PORT_NEVER,	"a port in the list is one that no cell may have") \
	X(QV_ME_DEVICES,	"the device list is malformed") \
	X(QV_ME_DEVICE_NONE,	"a device is not there, is a bridge, or lies outside the known config space") \
	X(QV_ME_DEVICE_TAKEN,	"a device belongs to another cell, or is listed twice") \
	X(QV_ME_DEVICE_BAR,	"a device's registers are not where a cell may have them") \
	X(QV_ME_DEVICE_PIN,	"a device's interrupt pin or vector is not one a cell may have") \
	X(QV_ME_PORT_TAKEN,	"a port, of the list or of a device's I/O BAR, belongs to another cell") \
	X(QV_ME_RATE,		"the cell's doorbell was rung a moment ago: once more, later") \
	X(QV_ME_NO_DEBUG,	"the cell was created without the right to be looked at")
enum qv_mon_error {
	QV_ME_OK = 0,
	QV_ME_BASE = 0xff,
#define X(name, text) name,
	QV_MON_ERRORS(X)
#undef X
};

/* Entry state of a cell's boot CPU: flat 32-bit protected mode, paging off */
struct qv_mon_entry {
	u32 eip, eax, ebx, reserved;
};

/* A PCI function of a cell. The monitor reads from the function itself all that it can */
struct qv_mon_device {
	u32 bdf;			/* bus << 8 | device << 3 | function */
	u32 flags;			/* QV_MON_DEVICE_* */
	/* its interrupt line: index in qv_mon_boot.ioapics; QV_MON_NO_PIN: none */
	u32 ioapic, pin;
	u32 vector;			/* 32..254, for the pin */
	u32 reserved;
	struct qv_mon_bar {
		u64 base, len;		/* memory: whole pages; ports: below 64 Ki; len 0: none */
		u32 ports;		/* 1: I/O ports, 0: memory */
		u32 reserved;
	} bars[QV_MON_BARS];
};
/* may be a bus master: DMA anywhere, MSI (unsafe-dma) */
#define QV_MON_DEVICE_MASTER	(1u << 0)
#define QV_MON_DEVICE_HIGH	(1u << 1)	/* the pin is active high (else low) */
#define QV_MON_NO_PIN		(~0u)

struct qv_mon_create {
	u64 block_pa;			/* QV_BLOCK_CELL bytes, aligned to 2 MiB */
	u64 window_pa;			/* 8 pages shared with Linux; page 1 is not used */
	u32 num_cpus, num_runs, num_ports;
	u32 doorbell_vector;		/* 32..255 */
	u32 lock;			/* enum qv_lock of the uapi */
	/* doorbells a millisecond at most; 1..QV_MON_BELL_RATE_MAX */
	u32 bell_rate;
	u64 name[4];			/* for the mark */
	u32 cpus[QV_MON_CPUS];		/* indices into qv_mon_boot.cpus; the first boots */
	struct qv_mon_ports ports[QV_MON_PORTS];
	u32 num_devices;
	u32 debug;			/* 1: Linux may look at its CPUs' registers while it runs */
	struct qv_mon_device devices[QV_MON_DEVICES];
	struct qv_mon_entry entry;
	struct qv_mon_run {
		u64 pa;			/* aligned to 2 MiB, strictly ascending */
		u64 count;		/* of 2 MiB pages */
	} runs[QV_MON_RUNS];
};

#endif
