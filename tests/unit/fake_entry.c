// SPDX-License-Identifier: GPL-2.0-only
/* In place of core/traps.S, and of the CPUs that this process has not. */
#include "fake.h"
#include "fake_traps.h"
#include "fake_vendor.h"
#include "core/enter.h"
#include "core/msr.h"
#include "unit.h"

jmp_buf fake_back;
const char *fake_called;
u64 fake_stuck;

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
	me()->enter.arrived = FAKE_CPUS - 1;		/* the others wait already */
	if (!setjmp(fake_back))
		monitor_entry(pcpu_of(0));
	if (me()->enter.verdict != ENTER_GO)
		unit_give_up("the monitor did not come up");
}

/* ---- the other CPUs ---- */

static void in_front_end(struct pcpu *cpu)
{
	u32 cmd = atomic_swap(&cpu->cmd, 0);
	struct pcpu *there;

	if (cmd & CMD_CATCH)
		cpu->phase = CPU_WAIT_SIPI;
	atomic_or(&cpu->ack, cmd & ~(CMD_BECOME | CMD_HOME));
	if (!(cmd & CMD_BECOME))
		return;
	there = pcpu_in(QV_VA_MANAGE, cpu->next_index);
	there->phase = there->index ? CPU_WAIT_SIPI : CPU_RUNNING;
	if (!there->index)
		((struct qv_mon_status *)(QV_VA_MANAGE + QV_OFF_STATUS))->state = QV_MON_RUNNING;
	atomic_or(&there->ack, CMD_BECOME);
}

static void in_cell(struct pcpu *cpu)
{
	u32 cmd = atomic_swap(&cpu->cmd, 0);

	if (cmd & CMD_STOP)
		cpu->phase = CPU_STOPPED;
	atomic_or(&cpu->ack, cmd & ~(CMD_BECOME | CMD_HOME));
	if (cmd & CMD_HOME) {
		pcpu_of(cpu->home_index)->phase = CPU_WAIT_SIPI;
		atomic_or(&pcpu_of(cpu->home_index)->ack, CMD_HOME);
	}
}

void fake_answer(u32 low, u32 apic_id)
{
	const struct instance *managed = (const struct instance *)(QV_VA_MANAGE + QV_OFF_INSTANCE);
	u32 i;

	if ((low >> 8 & 7) != 4 || fake_stuck >> apic_id & 1)
		return;
	for (i = 0; i < FAKE_CPUS; i++)
		if (pcpu_of(i)->apic_id == apic_id && load(&pcpu_of(i)->cmd)) {
			in_front_end(pcpu_of(i));
			return;
		}
	for (i = 0; i < managed->boot.num_cpus; i++)
		if (pcpu_in(QV_VA_MANAGE, i)->apic_id == apic_id)
			in_cell(pcpu_in(QV_VA_MANAGE, i));
}
