/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the parts of the hostile inmate. */
#ifndef ATTACK_H
#define ATTACK_H

#include <stdbool.h>
#include <stdint.h>

/* The function of an attack; its row has the two numbers */
typedef void attack_fn(uint64_t a, uint64_t b);

#define ATTACK(name, function, ...) attack_fn function;
#include "../rows/all.h"
#undef ATTACK

/* The possible ends of an attack that the monitor does not stop; none of these functions returns */
_Noreturn void survived(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void breach(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Reports survival. Then sends heartbeats and answers a request to end */
_Noreturn void live_on(void);

/* Only prints the report of survival, for attacks that continue afterwards */
void report_survival(void);

/* Loops with interrupts off and sends no heartbeat */
_Noreturn void silence(void);

/* Sends one heartbeat, for endless loops */
void still_here(void);

/*
 * TRY(code, outputs : inputs : clobbers): afterwards `trapped` is -1, or the
 * vector of the exception that the code raised. The code keeps the stack pointer.
 */
extern volatile uint64_t recover_at;
extern volatile int64_t trapped;

#define TRY(code, ...) do { \
	trapped = -1; \
	__asm__ volatile("movq $991f, recover_at\n\t" code "\n991:\n\tmovq $0, recover_at" \
			 : __VA_ARGS__); \
} while (0)

/* Ends the attack with a line "fault NAME VECTOR" if there was an exception */
void fault_ends(void);

/* Makes a hypercall by the vendor's instruction, inside TRY. Returns the call's result. */
uint64_t call(uint64_t number, uint64_t a, uint64_t b);

/* Maps guest-physical memory at `pa` writable and executable */
volatile uint8_t *window(uint64_t pa);
/* Does the same with the given flags of the entry: AMD64 manual volume 2, 5.3 */
volatile uint8_t *window_flags(uint64_t pa, uint64_t flags);

/*
 * Starts the second CPU. Its code is 16-bit and position-independent, and starts at the first byte
 */
void start_second(const void *code, uint64_t length);
void ipi(uint32_t low, uint32_t dest);
/* sends an IPI. Use it if no exception is expected, or if another CPU takes it */
void ipi_only(uint32_t low);
void ipi_wait(void);
uint32_t second_id(void);
void apic_raw(uint32_t reg, uint32_t value);
uint32_t apic_get(uint32_t reg);

/* The witness sends a heartbeat every millisecond, by its timer, and records its worst gap */
_Noreturn void witness(void);

/* Uses its channels and checks them: peer.c. peer_begin() returns whether it has some */
_Noreturn void peer(void);
bool peer_begin(void);
void peer_check(void);

/* The channel that two peers open by a key: outsider.c attacks it */
#define LIVE_KEY	7
struct qv_chan_page;
void live_description(struct qv_chan_page *page, const char *first, const char *second);

/* The report of the witness to Linux, in the page of the screen after its 4,000 bytes */
#define WITNESS_GPA	(0xB8000 + 4032)
struct witness_page {
	uint64_t beats;
	uint64_t worst;		/* cycles of the TSC between two beats; any key resets it */
	uint64_t tsc_khz;
	uint64_t resets;
};

#endif
