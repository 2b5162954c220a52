// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdbool.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/latency.h>
#include <inmate/string.h>

_Static_assert(sizeof(struct qv_latency) <= 0x1000, "the latency page is a page");

static struct qv_latency *page(void)
{
	return (struct qv_latency *)QV_LATENCY_GPA;
}

/* Copies, since those in the page are shared with Linux */
static char names[QV_LATENCY_MAX][QV_LATENCY_NAME];
static bool counts[QV_LATENCY_MAX];	/* it has a time, so .min is one */
static uint32_t used;

int latency_find(const char *name)
{
	uint32_t i;

	for (i = 0; i < used; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

int latency_open(const char *name)
{
	int found = latency_find(name);

	if (found >= 0)
		return found;
	if (!cell_present() || used == QV_LATENCY_MAX || strlen(name) >= QV_LATENCY_NAME)
		return -1;
	copy_string(names[used], name, QV_LATENCY_NAME);
	memcpy(page()->of[used].name, names[used], QV_LATENCY_NAME);
	barrier();		/* Linux reads the name after .used: x86 keeps stores in order */
	((volatile struct qv_latency *)page())->used = ++used;
	return (int)used - 1;
}

void latency_add_by(int histogram, uint64_t cycles, uint64_t deadline)
{
	volatile struct qv_histogram *h;

	if (histogram < 0 || (uint32_t)histogram >= used)
		return;
	h = &((volatile struct qv_latency *)page())->of[histogram];
	h->sum += cycles;
	if (cycles > h->max)
		h->max = cycles;
	if (cycles < h->min || !counts[histogram])
		h->min = cycles;
	counts[histogram] = true;
	if (cycles > deadline)
		h->missed++;
	h->bucket[latency_bucket(cycles)]++;
}

void latency_add(int histogram, uint64_t cycles)
{
	latency_add_by(histogram, cycles, UINT64_MAX);
}
