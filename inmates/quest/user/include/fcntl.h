/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_FCNTL_H
#define QUEST_FCNTL_H

#include <quest/posix_types.h>
#include <quest/socket_types.h>

/*
 * Opens a file of the archive for reading. ENOENT, EROFS (`flags` are not O_RDONLY), EMFILE,
 * ENAMETOOLONG, EFAULT
 */
int open(const char *file, int flags, ...);

/*
 * F_GETFL returns the flags, and F_SETFL with an int changes O_NONBLOCK, of sockets and pipes.
 * EBADF, EINVAL (another command), ENOTSUP (O_NONBLOCK of the keyboard or the screen)
 */
int fcntl(int fd, int command, ...);

#endif
