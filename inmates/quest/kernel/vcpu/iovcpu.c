// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "../../user/include/quest/classes.h"
#include "iovcpu.h"
#include "vcpu.h"

static const struct {
	const char *name;
	int io_class;
} classes[] = {
	{ "ata", IOVCPU_CLASS_ATA }, { "net", IOVCPU_CLASS_NET }, { "usb", IOVCPU_CLASS_USB },
	{ "disk", IOVCPU_CLASS_DISK }, { "cdrom", IOVCPU_CLASS_CDROM },
	{ "gpio", IOVCPU_CLASS_GPIO }, { "input", IOVCPU_CLASS_INPUT },
};

#define NUM_CLASSES	(sizeof(classes) / sizeof(classes[0]))

static struct {
	int io_class;
	bool of_program;
} vcpus[SCHED_VCPUS];

int iovcpu_class_of(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < NUM_CLASSES; i++)
		if (strlen(classes[i].name) == n && !memcmp(classes[i].name, name, n))
			return classes[i].io_class;
	return 0;
}

bool iovcpu_known(int io_class)
{
	size_t i;

	for (i = 0; i < NUM_CLASSES; i++)
		io_class &= ~classes[i].io_class;
	return !io_class;
}

void iovcpu_set(int id, int io_class, bool of_program)
{
	vcpus[id].io_class = io_class;
	vcpus[id].of_program = of_program;
}

int iovcpu_get(int id)
{
	return vcpus[id].io_class;
}

int iovcpu_select(int io_class)
{
	int id, common, most = 0, best = INPUT_VCPU;

	for (id = 0; id < SCHED_VCPUS; id++) {
		common = vcpus[id].of_program ? 0 :
			 __builtin_popcount((unsigned int)(vcpus[id].io_class & io_class));
		if (common > most) {
			most = common;
			best = id;
		}
	}
	return best;
}
