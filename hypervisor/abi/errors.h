/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the monitor refuses a call: a number, and the sentence that the driver prints (law 5). */
#ifndef QV_ABI_ERRORS_H
#define QV_ABI_ERRORS_H

/* All values are 0x100 or more, so that they cannot be mistaken for a count */
#define QV_MON_ERRORS(X) \
	X(QV_ME_CALL, \
	  "no such hypercall, or not allowed here") \
	X(QV_ME_BUSY, \
	  "another management call is under way") \
	X(QV_ME_POINTER, \
	  "the request does not lie in the front end's RAM") \
	X(QV_ME_INSTANCE, \
	  "no such cell instance") \
	X(QV_ME_STATE, \
	  "the cell is not in a state that allows this") \
	X(QV_ME_SLOTS, \
	  "all cell instances are in use") \
	X(QV_ME_CPUS, \
	  "the CPU list is malformed") \
	X(QV_ME_CPU_TAKEN, \
	  "a CPU does not belong to the front end, or makes this call") \
	X(QV_ME_CPU_STUCK, \
	  "a CPU did not answer in time") \
	X(QV_ME_CPU_LOST, \
	  "a CPU of the cell does not answer; the monitor keeps all that it may still reach") \
	X(QV_ME_BLOCK, \
	  "the block for the instance is not RAM of the front end") \
	X(QV_ME_MEMORY, \
	  "a piece of the cell's memory is not RAM of the front end, or is listed twice") \
	X(QV_ME_CONSOLE, \
	  "the console pages are not RAM of the front end") \
	X(QV_ME_PORTS, \
	  "the port list is malformed") \
	X(QV_ME_ENTRY, \
	  "the entry state is malformed") \
	X(QV_ME_TABLES, \
	  "no pages left for page tables") \
	X(QV_ME_SWITCH, \
	  "the processor refused a step of the switch to the monitor") \
	X(QV_ME_VMRUN, \
	  "the processor refused the guest state") \
	X(QV_ME_LOCKED, \
	  "a running cell has locked management") \
	X(QV_ME_MAY_NOT_LOCK, \
	  "the cell was created without the right to lock") \
	X(QV_ME_PORT_NEVER, \
	  "the list has a port that no cell may have") \
	X(QV_ME_DEVICES, \
	  "the device list is malformed") \
	X(QV_ME_DEVICE_NONE, \
	  "a device is not there, is a bridge, or lies outside the known config space") \
	X(QV_ME_DEVICE_TAKEN, \
	  "a device belongs to another cell, or is listed twice") \
	X(QV_ME_DEVICE_BAR, \
	  "a device's registers are not where a cell may have them") \
	X(QV_ME_DEVICE_PIN, \
	  "a device's interrupt pin or vector is not one a cell may have") \
	X(QV_ME_PORT_TAKEN, \
	  "a port, of the list or of a device's I/O BAR, belongs to another cell") \
	X(QV_ME_RATE, \
	  "the cell's doorbell was rung a moment ago: try again later") \
	X(QV_ME_NO_DEBUG, \
	  "the cell was created without the right to be looked at") \
	X(QV_ME_X2APIC, \
	  "the processors lack x2APIC mode, " \
	  "or one of the cell's would take interrupts for a logical id of Linux") \
	X(QV_ME_IPI, \
	  "direct IPIs would void a lock, " \
	  "or were not chosen at enable or for the cells that are there") \
	X(QV_ME_CHANNEL, \
	  "a channel's description is malformed, or names another cell") \
	X(QV_ME_CHANNEL_DIFFERS, \
	  "the ends of a channel describe it differently, " \
	  "or a cell has had this end and `reconnect` is `never`, or has it now") \
	X(QV_ME_CHANNEL_SLOTS, \
	  "all channels are in use") \
	X(QV_ME_BELL, \
	  "a channel's bell has a vector below 32, or a CPU outside its end's cell, " \
	  "or the channel has no end of Linux") \
	X(QV_ME_KEY, \
	  "the cell has not opened a channel with Linux by this key") \
	X(QV_ME_IOMMU, \
	  "a unit of the IOMMU does not answer, or is in a state that QV does not know") \
	X(QV_ME_MESSAGES, \
	  "the IOMMU's table has no room for the interrupts of the cell's PCI functions: " \
	  "give the cell fewer CPUs, or functions with `dma: off`") \
	X(QV_ME_HEIR, \
	  "no other cell has the function, or has it with these settings")
enum qv_mon_error {
	QV_ME_OK = 0,
	QV_ME_SILENT = 1,	/* done, but a unit of the IOMMU does not answer */
	QV_ME_BASE = 0xff,
#define X(name, text) name,
	QV_MON_ERRORS(X)
#undef X
};

#endif
