// SPDX-License-Identifier: GPL-2.0-only
#include "core/instance.h"
#include "fake.h"
#include "heard.h"
#include "unit.h"

static u32 sent, last_vector, last_apic_id;

void heard_ipi(u32 low, u32 apic_id)
{
	if (low >> 8 & 7) {
		fake_answer(low, apic_id);
		return;
	}
	sent++;
	last_vector = low & 0xff;
	last_apic_id = apic_id;
}

void heard_nothing(void)
{
	sent = 0;
}

void heard_expect(u32 number, u32 vector, u32 cpu)
{
	CHECK_EQ(sent, number);
	if (number) {
		CHECK_EQ(last_vector, vector);
		CHECK_EQ(last_apic_id, pcpu_of(cpu)->apic_id);
	}
	sent = 0;
}
