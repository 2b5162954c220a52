// SPDX-License-Identifier: GPL-2.0-only
/* Runs the attack that the command line names and reports its outcome. */
#include <stdarg.h>
#include <inmate/apic.h>
#include <inmate/boot.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include "attack.h"

struct attack {
	const char *name;
	attack_fn *run;
	uint64_t a, b;
};

/* The row for a run without attacks: see tests/attack/gaps.py */
static void nothing(uint64_t a, uint64_t b)
{
}

static void nothing_lasting(uint64_t a, uint64_t b)
{
	for (;; still_here())
		cpu_relax();
}

/* For tests/attack/test_direct.py: writes the id of its APIC in xAPIC mode */
static void change_id(uint64_t value, uint64_t b)
{
	apic_raw(0x20, value);
	survived("id %x", apic_get(0x20));
}

static const struct attack attacks[] = {
	{ "nothing", nothing, 0, 0 },
	{ "nothing-lasting", nothing_lasting, 0, 0 },
	{ "change-id", change_id, 0x55000000, 0 },
#define ATTACK(name, function, a, b, ...) { name, function, a, b },
#include "../rows/all.h"
#undef ATTACK
};

volatile uint64_t recover_at;
volatile int64_t trapped;
static const char *current = "none";
static uint8_t last_stack[8192] __attribute__((aligned(16)));

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address);

void still_here(void)
{
	cell_beat();
}

_Noreturn void silence(void)
{
	irq_disable();
	for (;;)
		cpu_relax();
}

_Noreturn void live_on(void)
{
	irq_disable();
	for (;;) {
		cell_beat();
		if (cell_request() == QV_REQUEST_SHUTDOWN)
			cell_set_state(QV_INMATE_HALTED);
		cpu_relax();
	}
}

static _Noreturn void conclude(const char *how, const char *fmt, va_list ap)
{
	print("%s %s: ", how, current);
	vprint(fmt, ap);
	print("\n");
	live_on();
}

_Noreturn void survived(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conclude("survived", fmt, ap);
}

void report_survival(void)
{
	print("survived %s: so far\n", current);
}

_Noreturn void breach(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conclude("breach", fmt, ap);
}

static _Noreturn void fault(int64_t vector, uint64_t rip, uint64_t error)
{
	print("fault %s %d at %lx, error %lx\n", current, (int)vector, (unsigned long)rip,
	      (unsigned long)error);
	live_on();
}

void fault_ends(void)
{
	if (trapped >= 0)
		fault(trapped, 0, 0);
}

static void after_fault(uint64_t vector, uint64_t rip, uint64_t error)
{
	fault((int64_t)vector, rip, error);
}

/* Returns to the label of TRY, or else to the end of the attack, on a separate stack */
static void exception(struct trap_frame *frame)
{
	if (recover_at) {
		trapped = (int64_t)frame->vector;
		frame->rip = recover_at;
		return;
	}
	frame->rdi = frame->vector;
	frame->rsi = frame->rip;
	frame->rdx = frame->error;
	frame->rip = (uintptr_t)after_fault;
	frame->cs = 0x08;		/* the exception may come from CPL 3 */
	frame->ss = 0x10;
	frame->rsp = (uintptr_t)last_stack + sizeof(last_stack) - 8;
	frame->rflags = 2;
}

static const struct attack *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (!strcmp(attacks[i].name, name))
			return &attacks[i];
	return NULL;
}

/*
 * The attack's name comes from the command line or the keyboard, so that many attacks share a cell
 */
static const char *name_of_attack(void)
{
	static char name[64];
	size_t n = 0;
	uint8_t key;

	if (cell_info()->cmdline[0])
		return cell_info()->cmdline;
	while (n < sizeof(name) - 1) {
		if (!cell_take_keys(&key, 1))
			continue;
		if (key == '\r')
			break;
		name[n++] = key;
	}
	return name;
}

_Noreturn void inmate_main(uint32_t magic, uint32_t boot_address)
{
	const struct attack *attack;
	const char *name;

	(void)magic;
	(void)boot_address;
	trap_init();
	trap_set_exception(exception);
	if (!cell_detect())
		cpu_stop();
	console_init();
	apic_init(cell_info()->x2apic);
	cell_set_state(QV_INMATE_RUNNING);
	if (!strcmp(cell_info()->cmdline, "witness"))
		witness();
	if (!strcmp(cell_info()->cmdline, "peer"))
		peer();
	name = name_of_attack();
	attack = find(name);
	if (!attack) {
		print("no attack is called '%s'\n", name);
		live_on();
	}
	current = attack->name;
	print("begin %s\n", current);
	attack->run(attack->a, attack->b);
	survived("it came back");
}
