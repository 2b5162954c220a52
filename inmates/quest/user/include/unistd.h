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
 * Files of the archive, read-only (fcntl.h opens them), and pipes between programs; at the start 0 is the keyboard, 1 and
 * 2 the console. Eleven descriptors at once, each the lowest that is free; fork() copies them, exec() keeps them.
 */
int close(int fd);					/* EBADF */
ssize_t read(int fd, void *to, size_t n);		/* 0: the end of the file, of a pipe that has no writer; EBADF, EFAULT */
ssize_t write(int fd, const void *from, size_t n);	/* EBADF, EFAULT; a pipe without a reader: SIGPIPE */
off_t lseek(int fd, off_t offset, int whence);		/* SEEK_*; EBADF, EINVAL, ESPIPE */
int pipe(int fd[2]);					/* what is written to fd[1] is read from fd[0]; EMFILE, ENOMEM, EFAULT */
int dup(int fd);					/* another for the same; EBADF, EMFILE */
int dup2(int fd, int other);				/* `other` is for the same from now on; EBADF */

/*
 * Programs. A child begins with its parent's memory and open files, copied, and one thread. The files of the archive have
 * no folders and there is no PATH and no environment: execv() and execvp() do the same.
 */
pid_t fork(void);					/* 0 in the child, which runs at best effort; EAGAIN, ENOMEM */
int execv(const char *file, char *const argv[]);	/* ENOENT, ENOEXEC, E2BIG, EBUSY (other threads), ENOMEM, EFAULT */
int execvp(const char *file, char *const argv[]);
int execl(const char *file, const char *word, ...) __attribute__((sentinel));
int execlp(const char *file, const char *word, ...) __attribute__((sentinel));
_Noreturn void _exit(int code);				/* code & 255 is what waitpid() gives */
pid_t getpid(void);

unsigned int sleep(unsigned int seconds);		/* 0 */
int usleep(useconds_t us);
void *sbrk(intptr_t bytes);				/* where the heap ended before; (void *)-1: ENOMEM, EINVAL */

enum { _SC_PAGESIZE = 1, _SC_PAGE_SIZE = 1, _SC_CLK_TCK, _SC_OPEN_MAX, _SC_NPROCESSORS_CONF, _SC_NPROCESSORS_ONLN,
       _SC_THREAD_THREADS_MAX };
long sysconf(int name);					/* -1: EINVAL */

#endif
