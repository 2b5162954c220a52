/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cell's ends of channels that it opens at run time, by a key. They have the numbers after
 * those of the channels in the cell's file (channel.h). A thread of the kernel makes all requests,
 * one after the other, so that no channel is lost if a program ends meanwhile.
 */
#ifndef QUEST_KEY_H
#define QUEST_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include "../user/include/quest/types.h"

struct process;
struct qv_chan_page;

/* Starts the thread, if the cell has such channels. Returns false if there is no memory. */
bool keys_start(void);

/*
 * Opens a channel for `p`, or for the kernel (NULL). Waits until TSC `until` at the latest. Returns
 * its number, and then channel_user() is the user; or minus an error (errors.h): EINVAL, ENOLINK,
 * EEXIST, ENOSPC, EBUSY, EPROTO, ENOMEM, ETIMEDOUT, EINTR. A channel that is opened after the
 * caller gave up is closed.
 */
int key_open(const struct quest_key *wish, const struct process *p, uint64_t until);

/* Returns the number of the open channel with that key; -1: the key is not open. */
int key_find(uint32_t key);

/*
 * Returns the checked copy of the life page of channel `n`, if it is an open channel at run time;
 * else NULL. With interrupts off the channel stays open.
 */
const struct qv_chan_page *key_page(unsigned int n);

/* Returns whether number `n` is, or may become, that of a channel at run time. */
bool key_is(unsigned int n);

/*
 * Gives the end of channel `n` up, soon. No program may have it mapped. The kernel is its user
 * until then. key_await_closed() waits for that, without a limit.
 */
void key_close(unsigned int n);
void key_await_closed(unsigned int n);

#endif
