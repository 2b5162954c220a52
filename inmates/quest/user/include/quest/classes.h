/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_CLASSES_H
#define QUEST_CLASSES_H

/* Classes of devices that an I/O VCPU serves (bits). */
enum iovcpu_class {
	IOVCPU_CLASS_ALL = 0, IOVCPU_CLASS_ATA = 1, IOVCPU_CLASS_NET = 2, IOVCPU_CLASS_USB = 4,
	IOVCPU_CLASS_DISK = 8, IOVCPU_CLASS_CDROM = 16, IOVCPU_CLASS_GPIO = 32,
	IOVCPU_CLASS_INPUT = 64,
};

#endif
