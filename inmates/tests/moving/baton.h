/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads of the host that pass a baton: only the thread that has it runs. */
#ifndef MOVING_BATON_H
#define MOVING_BATON_H

#define BATONS		320

void baton_init(void);

/* Gives the baton to thread `n` until it gives it back. A new thread runs fn(arg). */
void baton_give(unsigned int n, void (*fn)(void *arg), void *arg);

/* Thread `n` gives the baton back, until it gets it again; for the last time, since it ends. */
void baton_return(unsigned int n);
_Noreturn void baton_end(void);

/* Waits for the end of thread `n`, whose number is then that of a new thread. */
void baton_join(unsigned int n);

#endif
