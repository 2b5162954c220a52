/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_POLL_H
#define QUEST_POLL_H

#include <quest/posix_types.h>
#include <quest/socket_types.h>

typedef unsigned long nfds_t;

/*
 * Waits until a descriptor is ready, for `ms` at most (negative: without a limit). Returns how many
 * are; 0: the time is over. Of all descriptors: sockets, pipes, the keyboard; files of the archive
 * and the screen are always ready. EINVAL (more than OPEN_MAX descriptors), EFAULT, EAGAIN (too
 * many threads wait for sockets)
 */
int poll(struct pollfd *fds, nfds_t n, int ms);

#endif
