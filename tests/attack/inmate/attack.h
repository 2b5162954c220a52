/* SPDX-License-Identifier: GPL-2.0-only */
/* What the hostile inmate's parts share. */
#ifndef ATTACK_H
#define ATTACK_H

#include <stdbool.h>
#include <stdint.h>

/* One attack: two numbers from its row say what exactly */
typedef void attack_fn(uint64_t a, uint64_t b);

#define ATTACK(name, function, ...) attack_fn function;
#include "../rows/all.h"
#undef ATTACK

/* How an attack ends when the monitor lets it live; none of these returns */
_Noreturn void survived(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void breach(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says that it lives, for as long as it lives: beats, answers a request to end */
_Noreturn void live_on(void);

/* The line that says so, for those that go on with something else */
void report_survival(void);

/* Not even that: loops with interrupts off and never beats again */
_Noreturn void silence(void);

/* Counts that it lives, for long loops whose end nobody waits for */
void still_here(void);

/*
 * TRY(code, outputs : inputs : clobbers): afterwards `trapped` is -1, or the
 * vector of the exception that the code met. The code keeps the stack pointer.
 */
extern volatile uint64_t recover_at;
extern volatile int64_t trapped;

#define TRY(code, ...) do { \
	trapped = -1; \
	__asm__ volatile("movq $991f, recover_at\n\t" code "\n991:\n\tmovq $0, recover_at" : __VA_ARGS__); \
} while (0)

/* Ends the attack as the exception did, if there was one: a line "fault NAME VECTOR" */
void fault_ends(void);

/* A call of the monitor, by the instruction of the processor's vendor; its answer. A TRY. */
uint64_t call(uint64_t number, uint64_t a, uint64_t b);

/* Guest-physical memory at `pa`, mapped writable (and executable) wherever it is */
volatile uint8_t *window(uint64_t pa);
/* Same with the entry's flags in the caller's hand: AMD64 manual volume 2, 5.3 */
volatile uint8_t *window_flags(uint64_t pa, uint64_t flags);

/* The second CPU of the cell; code is 16-bit, position-independent, and starts at its first byte */
void start_second(const void *code, uint64_t length);
void ipi(uint32_t low, uint32_t dest);
void ipi_only(uint32_t low);	/* no exception is expected, or somebody else takes it */
void ipi_wait(void);
uint32_t second_id(void);
void apic_raw(uint32_t reg, uint32_t value);
uint32_t apic_get(uint32_t reg);

/* The witness: beats by its own timer every millisecond, and keeps its worst gap */
_Noreturn void witness(void);

/* At the end of the screen's page, behind its 4,000 bytes: what the witness shows to Linux */
#define WITNESS_GPA	(0xB8000 + 4032)
struct witness_page {
	uint64_t beats;
	uint64_t worst;		/* cycles of the TSC between two beats; any key starts it anew */
	uint64_t tsc_khz;
	uint64_t resets;
};

#endif
