// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The calls that POSIX specifies, with the results of POSIX. */
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include "../../kernel/archive.h"
#include "../../kernel/files.h"
#include "raw.h"

#define WORDS_MAX	16	/* largest number of entries of argv, without the NULL */
#define PAGE_BYTES	4096
_Static_assert(OPEN_MAX == FILES_MAX, "descriptors of a program");
_Static_assert(PATH_MAX == ARCHIVE_NAME, "the name of a file");

int open(const char *file, int flags, ...)
{
	return (int)posix_answer(quest_open(file, flags));
}

int close(int fd)
{
	return (int)posix_answer(quest_close(fd));
}

ssize_t read(int fd, void *to, size_t n)
{
	return posix_answer(quest_read(fd, to, n));
}

ssize_t write(int fd, const void *from, size_t n)
{
	return posix_answer(quest_write(fd, from, n));
}

off_t lseek(int fd, off_t offset, int whence)
{
	return posix_answer(quest_lseek(fd, offset, whence));
}

int pipe(int fd[2])
{
	return (int)posix_answer(quest_pipe(fd));
}

int dup(int fd)
{
	return (int)posix_answer(quest_dup(fd));
}

int dup2(int fd, int other)
{
	return (int)posix_answer(quest_dup2(fd, other));
}

pid_t fork(void)
{
	return (pid_t)posix_answer(quest_fork());
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return (pid_t)posix_answer(quest_waitpid(pid, status, options));
}

pid_t wait(int *status)
{
	return waitpid(-1, status, 0);
}

int kill(pid_t pid, int signal)
{
	return (int)posix_answer(quest_kill(pid, signal));
}

int raise(int signal)
{
	return kill(quest_getpid(), signal);
}

int execv(const char *file, char *const argv[])
{
	return (int)posix_answer(quest_exec(file, argv));
}

int execvp(const char *file, char *const argv[])
{
	return execv(file, argv);
}

/* Runs a program with the words up to the NULL. Returns -1 if there are too many, or as execv(). */
static int exec_words(const char *file, const char *first, va_list ap)
{
	char *words[WORDS_MAX + 1];
	unsigned int n = 0;

	for (words[0] = (char *)first; words[n]; words[n] = va_arg(ap, char *))
		if (++n > WORDS_MAX)
			return (int)posix_answer(-E2BIG);
	return execv(file, words);
}

int execl(const char *file, const char *word, ...)
{
	va_list ap;
	int result;

	va_start(ap, word);
	result = exec_words(file, word, ap);
	va_end(ap);
	return result;
}

int execlp(const char *file, const char *word, ...)
{
	va_list ap;
	int result;

	va_start(ap, word);
	result = exec_words(file, word, ap);
	va_end(ap);
	return result;
}

void *sbrk(intptr_t bytes)
{
	return (void *)posix_answer((long)quest_sbrk(bytes));
}

int sched_setparam(pid_t pid, const struct sched_param *param)
{
	return (int)posix_answer(quest_sched_setparam(pid, param));
}

int sched_yield(void)
{
	return (int)posix_answer(quest_usleep(0));
}

int uname(struct utsname *name)
{
	struct quest_utsname q;
	int error = quest_uname(&q);

	if (error)
		return (int)posix_answer(error);
	(void)memcpy(name->sysname, q.sysname, sizeof(name->sysname));
	(void)memcpy(name->nodename, q.nodename, sizeof(name->nodename));
	(void)memcpy(name->release, q.release, sizeof(name->release));
	(void)memcpy(name->version, q.release, sizeof(name->version));
	(void)memcpy(name->machine, q.machine, sizeof(name->machine));
	return 0;
}

long sysconf(int name)
{
	switch (name) {
	case _SC_PAGESIZE:
		return PAGE_BYTES;
	case _SC_CLK_TCK:
		return CLOCKS_PER_SEC;
	case _SC_OPEN_MAX:
		return OPEN_MAX;
	case _SC_NPROCESSORS_CONF:
	case _SC_NPROCESSORS_ONLN:
		return 1;
	case _SC_THREAD_THREADS_MAX:
		return PTHREAD_THREADS_MAX;
	default:
		return posix_answer(-EINVAL);
	}
}
