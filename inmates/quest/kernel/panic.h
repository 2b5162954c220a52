/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_PANIC_H
#define QUEST_PANIC_H

#define PANIC_RED	"\033[97;41m"
#define PANIC_PLAIN	"\033[0m"

/* Prints the reason in red and stops this CPU. In a cell the heartbeat stops, too. */
_Noreturn void panic(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
