// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "../mm/pages.h"
#include "samples.h"

static uint64_t pages_of(uint32_t room)
{
	return (room * sizeof(uint32_t) + PAGE_SIZE - 1) / PAGE_SIZE;
}

bool samples_open(struct samples *s, uint32_t room)
{
	bool irqs = irq_save();

	*s = (struct samples){ .values = (uint32_t *)pages_alloc(pages_of(room)), .room = room };
	irq_restore(irqs);
	return s->values;
}

void samples_close(struct samples *s)
{
	bool irqs = irq_save();

	pages_free((uint64_t)s->values, pages_of(s->room));
	irq_restore(irqs);
	s->values = NULL;
}

void samples_add(struct samples *s, uint64_t cycles)
{
	if (s->n < s->room)
		s->values[s->n++] = cycles > UINT32_MAX ? UINT32_MAX : (uint32_t)cycles;
}

/* Heap sort, since it needs no recursion and no memory. */
static void sift(uint32_t *a, uint32_t root, uint32_t n)
{
	uint32_t child, value = a[root];

	for (; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && a[child + 1] > a[child])
			child++;
		if (a[child] <= value)
			break;
		a[root] = a[child];
	}
	a[root] = value;
}

static void sort(uint32_t *a, uint32_t n)
{
	uint32_t i, last;

	for (i = n / 2; i-- > 0;)
		sift(a, i, n);
	while (n > 1) {
		last = a[--n];
		a[n] = a[0];
		a[0] = last;
		sift(a, 0, n);
	}
}

void samples_print(struct samples *s, const char *what)
{
	const uint32_t *a = s->values, last = s->n - 1;

	sort(s->values, s->n);
	print("%s rounds=%u min=%u p50=%u p99=%u p99.99=%u max=%u\n", what, s->n, a[0], a[s->n / 2],
	      a[last - s->n / 100], a[last - s->n / 10000], a[last]);
}
