/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_PANIC_H
#define QUEST_PANIC_H

#define PANIC_RED	"\033[97;41m"
#define PANIC_PLAIN	"\033[0m"

/* Prints the reason in red and stops this CPU. A cell fails, with this reason. */
_Noreturn void panic(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The end of a panic whose text has been printed. Linux shows the reason. */
_Noreturn void panic_stop(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
