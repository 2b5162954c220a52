/* SPDX-License-Identifier: GPL-2.0-only */
/* The conformance suite of inmates/erika. README.md gives the language of its cases (*.cases). */
#ifndef SUITE_H
#define SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../erika/kernel/kernel.h"
#include <erika/com.h>

#define MAX_TASKS	26
#define MAX_OBJECTS	16
#define MAX_STEPS	400
#define MAX_ARGS	6
#define MAX_WORDS	40
#define MAX_LINE	400
#ifndef SUITE_STACK_PAGES
#define SUITE_STACK_PAGES	8
#endif
#define STACK_BYTES	(SUITE_STACK_PAGES * OS_PAGE)

/* The context of a step: tasks are 0..25, A..Z. */
enum who {
	WHO_ISR = 32, WHO_CALLBACK = 48, WHO_IDLE = 64, WHO_ERROR, WHO_PRE, WHO_POST, WHO_STARTUP,
	WHO_SHUTDOWN, WHO_COMERROR,
};

struct op;

struct step {
	int who;
	const struct op *op;
	uint64_t args[MAX_ARGS];
	unsigned int num_args;
	StatusType error;	/* the expected status, or the expected argument of a hook */
	bool has_value;
	uint64_t value;
	int line;
	char text[100];
};

/* An action of a step. `out` is the value that `->` checks. */
struct op {
	const char *name;
	StatusType (*call)(const uint64_t *args, uint64_t *out);
};
extern const struct op ops[], op_macros[];

/* The variant of the case, and its settings that are not in the kernel's tables (world.c). */
struct world {
	bool non_preemptable;		/* the variant */
	bool same_level;		/* the case needs the queue of BCC2, ECC2 */
	AppModeType mode;
};
extern struct world world;

void world_begin(void);
/* Carries out a setup line. Returns false if it is no setup line. */
bool world_setup(char **words, unsigned int n);
void world_finish(void);
uint64_t value_of(const char *word);
/* Reads a number at *at and moves behind it. */
uint64_t suite_number(const char **at);

/*
 * Executes the steps of `who`, which must be next. Those of a task end with `return` or do not
 * return; the others end before a step of another, or before `here`, which begins another call.
 */
void suite_run(int who);
/* Executes one step of idle; ends the case if no step is left. */
void suite_idle(void);
void suite_hook(int who, StatusType argument);
_Noreturn void suite_end(void);
_Noreturn void suite_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A case in one variant: the lines [begin, end) of a file, of which the first is `line`. */
struct case_text {
	const char *file, *begin, *end;
	int line;
	bool non;
	char title[160];
};

/* Executes a case. It ends by run_end(). */
_Noreturn void suite_case(const struct case_text *text);

/* batch.c: runs all cases of a file, which is NUL-terminated text, in all their variants. */
struct batch_count {
	unsigned int cases, passed, failed;
};
void batch_run(const char *file, const char *text, struct batch_count *count);

/* --- the runner: hostrun.c, cell/cell.c --- */

enum verdict { CASE_PASSED, CASE_FAILED, CASE_SKIPPED };

/* Calls suite_case() with the initial values of all variables of the kernel and of the suite. */
enum verdict run_case(const struct case_text *text);
/* Ends suite_case(). */
_Noreturn void run_end(enum verdict verdict);
void run_say(const char *line);
/* Returns the memory of a stack of STACK_BYTES: of a task, or MAX_TASKS for interrupts. */
uint8_t *run_stack(unsigned int number);
/* Waits until requested interrupts that nothing blocks have come. */
void run_settle(void);

/* --- clock.c: the system timer's clock, which only steps `time` move --- */

#define CLOCK_KHZ		1000000u
#define CLOCK_VECTOR(class)	((class) << 4 | 15)
uint64_t clock_cycles(void);
void clock_arm(uint64_t cycles);
void clock_pass(uint64_t cycles);

#endif
