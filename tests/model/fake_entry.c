// SPDX-License-Identifier: GPL-2.0-only
/* Functions in place of core/traps.S, and of the CPUs that this process does not have. */
#include <string.h>
#include "fake.h"
#include "fake_traps.h"
#include "fake_vendor.h"
#include "core/init.h"
#include "core/kick.h"
#include "core/msr.h"
#include "core/vendor.h"
#include "unit.h"

jmp_buf fake_back;
const char *fake_called;
u64 fake_stuck;
u32 fake_deaf;

void fake_back_to(const char *name)
{
	fake_called = name;
	longjmp(fake_back, 1);
}

bool msr_read_safe(u32 msr, u64 *value)
{
	*value = fake_msr(msr);
	return *value;
}

bool msr_write_safe(u32 msr, u64 value)
{
	if (!fake_msr(msr))
		return false;
	fake_note_wrmsr(msr, value);
	return true;
}

void fake_enter(void)
{
	u32 i;

	me()->front.enter.arrived = FAKE_CPUS - 1;	/* The other CPUs have already arrived. */
	if (!setjmp(fake_back))
		monitor_entry(pcpu_of(0));
	if (me()->front.enter.verdict != ENTER_GO)
		unit_give_up("the monitor did not come up");
	for (i = 1; i < FAKE_CPUS; i++) {
		fake_as(i);
		vendor_arrive(pcpu_of(i));
		pcpu_of(i)->phase = CPU_RUNNING;
	}
	fake_as(0);
}

/* ---- the other CPUs ---- */

/* Does the work of arrive_cell() for an instance that this process does not run. */
static void arrived(const struct pcpu *cpu)
{
	struct pcpu *there = pcpu_in(QV_VA_MANAGE, cpu->next_index);

	there->phase = there->index ? CPU_WAIT_SIPI : CPU_RUNNING;
	if (!there->index)
		((struct qv_mon_status *)(QV_VA_MANAGE + QV_OFF_STATUS))->state = QV_MON_RUNNING;
	atomic_or(&there->ack, CMD_BECOME);
}

/* Runs the monitor's own code until the CPU leaves for another instance. */
bool fake_front_nmi(struct pcpu *cpu)
{
	const u32 kicks = cpu->kicks;
	volatile bool moved = false;
	jmp_buf back;

	memcpy(back, fake_back, sizeof(back));
	fake_as(cpu->index);
	cpu->kicks = 0;				/* the NMI has already arrived */
	if (!setjmp(fake_back)) {
		front_nmi(cpu);
	} else {
		arrived(cpu);
		moved = true;
	}
	fake_as(0);
	cpu->kicks = kicks;
	memcpy(fake_back, back, sizeof(back));
	return moved;
}

bool fake_cell_nmi(struct pcpu *cpu)
{
	u32 cmd = __atomic_exchange_n(&cpu->cmd, 0, __ATOMIC_SEQ_CST);

	if (cmd & CMD_SAMPLE)
		((struct qv_mon_status *)(QV_VA_MANAGE + QV_OFF_STATUS))->samples++;
	if (cmd & CMD_STOP)
		cpu->phase = CPU_STOPPED;
	atomic_or(&cpu->ack, cmd & ~(CMD_BECOME | CMD_RETURN));
	if (cmd & CMD_RETURN) {
		pcpu_of(cpu->next_index)->phase = CPU_WAIT_SIPI;
		atomic_or(&pcpu_of(cpu->next_index)->ack, CMD_RETURN);
	}
	return cmd & CMD_RETURN;
}

void fake_answer(u32 low, u32 apic_id)
{
	const struct instance *managed = (const struct instance *)(QV_VA_MANAGE + QV_OFF_INSTANCE);
	u32 i;

	if ((low >> 8 & 7) != 4 || fake_stuck >> apic_id & 1)
		return;
	for (i = 0; i < FAKE_CPUS; i++)
		if (pcpu_of(i)->apic_id == apic_id && load(&pcpu_of(i)->cmd)) {
			if (!(load(&pcpu_of(i)->cmd) & fake_deaf))
				fake_front_nmi(pcpu_of(i));
			return;
		}
	for (i = 0; i < managed->boot.num_cpus; i++)
		if (pcpu_in(QV_VA_MANAGE, i)->apic_id == apic_id)
			fake_cell_nmi(pcpu_in(QV_VA_MANAGE, i));
}
