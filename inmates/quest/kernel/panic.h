/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_PANIC_H
#define QUEST_PANIC_H

/* Say why, in red, and stop this CPU: in a cell the heartbeat stops with it. */
_Noreturn void panic(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* From here on exceptions of the kernel end in a register dump, those of a program end the program. */
void panic_catch_exceptions(void);

#endif
