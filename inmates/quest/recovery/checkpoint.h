/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checkpoints of components: memory that a program has saved, in two buffers of kept pages, so that
 * a save that is cut short leaves the last one whole. Interrupts are off in every call. Times are
 * TSC cycles.
 */
#ifndef QUEST_RECOVERY_CHECKPOINT_H
#define QUEST_RECOVERY_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;

/*
 * Component `n` may save checkpoints of at most `bytes`; one older than `age` is not used. Returns
 * false if there is no memory.
 */
bool checkpoint_init(unsigned int n, size_t bytes, uint64_t age);

/*
 * Takes the last checkpoint of component `n` over from another cell (takeover.h, replica.h), if
 * there is a newer one; no program runs as the component. Lets interrupts in.
 */
void checkpoint_fetch(unsigned int n);

/* Returns whether component `n` has a checkpoint that is young enough at `now`. */
bool checkpoint_usable(unsigned int n, uint64_t now);

/* The next start of component `n` begins at its checkpoint, or (`resume` false) afresh. */
void checkpoint_arm(unsigned int n, bool resume);

/*
 * The calls of a program. checkpoint_save() copies the `n` bytes at `from`: 0, or minus an error:
 * ENOTSUP: the component has no checkpoint; EINVAL, EFAULT; EBUSY: another thread saves; EINTR.
 * checkpoint_resume() copies the checkpoint to `to`, which has room for `n` bytes. Returns its
 * size; 0: the program begins afresh; or minus EINVAL, EFAULT, EBUSY. Both let interrupts in.
 */
long checkpoint_save(const struct process *p, uint64_t from, size_t n);
long checkpoint_resume(const struct process *p, uint64_t to, size_t n);

/*
 * The same for a replica, which saves when another cell agrees: replica_vote() of the `n` bytes at
 * `from`, or minus one of the errors above.
 */
long checkpoint_vote(const struct process *p, uint64_t number, uint64_t from, size_t n);

#endif
