/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_UNISTD_H
#define QUEST_UNISTD_H

#include <quest/posix_types.h>

#define _POSIX_VERSION	200809L
#define _POSIX_THREADS	200809L
#define STDIN_FILENO	0
#define STDOUT_FILENO	1
#define STDERR_FILENO	2

/*
 * Files of the archive, which are read-only (open() is in fcntl.h), and pipes between programs. At
 * the start, descriptor 0 is the keyboard, and 1 and 2 are the console. A program has eleven
 * descriptors at most. A new descriptor is the lowest free one. fork() copies the descriptors, and
 * exec() keeps them.
 */
int close(int fd);					/* EBADF */
/* returns 0 at the end of a file, and for an empty pipe without a writer; EBADF, EFAULT */
ssize_t read(int fd, void *to, size_t n);
/* EBADF, EFAULT; on a pipe without a reader the program gets SIGPIPE */
ssize_t write(int fd, const void *from, size_t n);
/* `whence` is SEEK_*; EBADF, EINVAL, ESPIPE */
off_t lseek(int fd, off_t offset, int whence);
/* fd[1] is for writing, fd[0] for reading; EMFILE, ENOMEM, EFAULT */
int pipe(int fd[2]);
/* returns another descriptor for the same file; EBADF, EMFILE */
int dup(int fd);
/* makes `other` a descriptor for the same file; EBADF */
int dup2(int fd, int other);

/*
 * Functions on programs. A child begins with one thread, and with copies of its parent's memory and
 * open files. execv() and execvp() do the same, since the archive has no folders, and there is no
 * PATH and no environment.
 */
/* returns 0 in the child, which runs at best effort; EAGAIN, ENOMEM */
pid_t fork(void);
/* ENOENT, ENOEXEC, E2BIG, EBUSY (other threads), ENOMEM, EFAULT */
int execv(const char *file, char *const argv[]);
int execvp(const char *file, char *const argv[]);
int execl(const char *file, const char *word, ...) __attribute__((sentinel));
int execlp(const char *file, const char *word, ...) __attribute__((sentinel));
_Noreturn void _exit(int code);				/* waitpid() reports code & 255 */
pid_t getpid(void);

unsigned int sleep(unsigned int seconds);		/* 0 */
int usleep(useconds_t us);
/* returns the old end of the heap; (void *)-1: ENOMEM, EINVAL */
void *sbrk(intptr_t bytes);

enum { _SC_PAGESIZE = 1, _SC_PAGE_SIZE = 1, _SC_CLK_TCK, _SC_OPEN_MAX, _SC_NPROCESSORS_CONF,
	_SC_NPROCESSORS_ONLN,
       _SC_THREAD_THREADS_MAX };
long sysconf(int name);					/* -1: EINVAL */

#endif
