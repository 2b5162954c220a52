/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Components that another cell takes over (`takeover=SEND,RECEIVE,TIME`). Each of the two cells
 * writes its memory SEND, which is RECEIVE of the other one: its role (pair.h), the time of its
 * last look or save, and its checkpoints. Interrupts are off in every call. Times are TSC cycles.
 */
#ifndef QUEST_RECOVERY_TAKEOVER_H
#define QUEST_RECOVERY_TAKEOVER_H

#include <stddef.h>
#include "pair.h"
#include "rule.h"

struct process;

/*
 * Takes the channels of component `n`, and waits for the component. `period`: time between two
 * looks. Returns NULL, or why it cannot.
 */
const char *takeover_init(unsigned int n, const struct component_rule *r, uint64_t period);

/* Whether takeover_init() has succeeded for component `n`. */
bool takeover_used(unsigned int n);

/* Looks at the other cell. Returns what to do, and after PAIR_STOP call takeover_publish(). */
enum pair_act takeover_look(unsigned int n);
void takeover_publish(unsigned int n);

/* Tells the other cell, between two looks, that this one has not failed. No pair: nothing. */
void takeover_beat(unsigned int n);

/* Whether the other cell can take component `n` now. */
bool takeover_possible(unsigned int n);

/*
 * The component has ended here by a fault at `fault`: the other cell may have it, or is
 * asked to take it (`offer`). takeover_wait(): it can be taken by this cell again.
 */
void takeover_leave(unsigned int n, bool offer, uint64_t fault);
void takeover_wait(unsigned int n);

/* Returns whether this cell has the component. */
bool takeover_has(unsigned int n);

/* Returns whether the other cell has taken the component from this one. No component: false. */
bool takeover_is_over(unsigned int n);

/* When the other cell's service ended, at `now` or before; 0: it had not had the component. */
uint64_t takeover_fault(unsigned int n, uint64_t now);

/*
 * Copies a checkpoint of program `p`, in whole pages, to the other cell. Returns false if the
 * program ends, or the other cell has taken the component. If it returns true, the other cell does
 * not start the component within the time of the pair after the call. Lets interrupts in.
 */
bool takeover_save(unsigned int n, const struct process *p, const void *from, size_t bytes);

/*
 * Copies the last whole checkpoint of the other cell to `to`, whole pages with room for `room`
 * bytes, and to this cell's own memory. Returns its size, and its age in `*age`; 0: no checkpoint
 * is whole and newer than the last one of this cell. Lets interrupts in.
 */
size_t takeover_fetch(unsigned int n, void *to, size_t room, uint64_t *age);

#endif
