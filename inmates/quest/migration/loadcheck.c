// SPDX-License-Identifier: GPL-2.0-only
#include "../sched/admission.h"
#include "../user/include/quest/errors.h"
#include "load.h"

static void make_printable(char name[SCHED_NAME])
{
	unsigned int i;

	name[SCHED_NAME - 1] = '\0';
	for (i = 0; name[i]; i++)
		if (name[i] < ' ' || name[i] > '~')
			name[i] = '?';
}

static bool check_vcpu(const struct mig_load_vcpu *v)
{
	return v->io <= 1 && v->budget && v->period <= ADMISSION_PERIOD_MAX &&
	       (v->io ? v->budget < v->period : v->budget <= v->period) && v->used <= 1000;
}

int mig_check_load(struct mig_load *load, size_t bytes, uint32_t tsc_khz)
{
	uint32_t i;

	if (bytes < mig_load_bytes(0) || load->listed > LOAD_VCPUS ||
	    bytes != mig_load_bytes(load->listed) || load->num_vcpus > SCHED_VCPUS ||
	    load->num_vcpus < load->listed || load->test > ADMISSION_EXACT)
		return -EBADMSG;
	if (load->tsc_khz != tsc_khz)
		return -EPROTO;
	for (i = 0; i < load->listed; i++) {
		if (!check_vcpu(&load->vcpus[i]))
			return -EBADMSG;
		make_printable(load->vcpus[i].name);
	}
	return 0;
}
