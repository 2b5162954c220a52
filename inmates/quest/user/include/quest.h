/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a Quest program calls. A call that fails answers minus a number of
 * quest/errors.h; strerror() has the sentence and what to do. There is no errno.
 */
#ifndef QUEST_H
#define QUEST_H

#include <quest/errors.h>
#include <quest/types.h>

/* The VCPU of whoever has no other: Main, 10/100 ms. */
#define BEST_EFFORT_VCPU	0

enum vcpu_type { MAIN_VCPU = 0, IO_VCPU = 1 };	/* sched_param.type */

/*
 * VCPUs. A Main VCPU gets C ms of CPU in each period of T ms (us, where sched_param.unit is VCPU_US); threads on it take turns. `ENOVCPU`: none
 * of that number, or not one that this program may use: its own, its parent's, BEST_EFFORT_VCPU.
 */
int vcpu_create(const struct sched_param *param);	/* its id; EINVAL, EADMIT, EAGAIN (a program has 16 at most, with those that are gone and have used CPU within their period; all programs together 8 I/O VCPUs; or another's that is gone has used too much yet), EFAULT */
int vcpu_create_main(int C, int T);			/* the same for a Main VCPU */
int vcpu_bind_task(vcpu_id_t id);			/* the calling thread runs on it from now on; ENOVCPU */
int vcpu_destroy(vcpu_id_t id, int force);		/* own ones; EBUSY: threads are on it (`force`: they go to best effort), EPERM, ENOVCPU */
int vcpu_current(uint64_t *left_us);			/* the id of the VCPU that the caller runs on (that it began on, it may destroy, too); what is left of its budget now, in us, where `left_us` is not NULL; EFAULT */
int vcpu_getparams(struct sched_param *param);		/* of the VCPU that the caller runs on, in ms if both are whole ms, else in us; EFAULT */
int vcpu_setparams(vcpu_id_t id, const struct sched_param *param);	/* own ones; as vcpu_create(), and EPERM, ENOVCPU */
int sched_setparam(pid_t pid, const struct sched_param *param);	/* of the VCPU that `pid` (-1: the caller, else a child) started on */

/* Programs. A child begins with its parent's memory and open files, copied, and one thread. */
pid_t fork(void);					/* 0 in the child, which runs at best effort; EAGAIN, ENOMEM. Its only thread is the caller's: what others had locked stays locked there */
pid_t vcpu_fork(vcpu_id_t id);				/* the same, with the child on that VCPU; ENOVCPU too */
int exec(const char *file, char *const argv[]);		/* run another program instead; ENOENT, ENOEXEC, E2BIG, EBUSY (other threads), ENOMEM, EFAULT */
pid_t waitpid(pid_t pid, int *status, int options);	/* a child (-1: any) that has ended; 0: none yet, with WNOHANG; ECHILD, EINVAL, EFAULT */
pid_t wait(int *status);				/* waitpid(-1, status, 0) */
_Noreturn void _exit(int code);				/* code & 255 is what waitpid() gives */
_Noreturn void exit(int code);
pid_t getpid(void);
int kill(pid_t pid, int signal);			/* itself or a child; 0 only asks; ESRCH, EPERM, EINVAL */

/* Threads, at most 16 at once; each has a stack of 64 KiB with a guard below. */
int pthread_create(pthread_t *thread, const void *attributes, void *(*fn)(void *), void *arg);	/* attributes: NULL; 0, EAGAIN, ENOMEM, EINVAL */
_Noreturn void pthread_exit(void *result);		/* with the last one the program ends */
int pthread_join(pthread_t thread, void **result);	/* 0, ESRCH, EDEADLK */
int pthread_detach(pthread_t thread);			/* nobody will join it; 0, ESRCH */
pthread_t pthread_self(void);

/*
 * Mutexes, conditions and semaphores of one program; they answer 0. Who waits uses no CPU; of those who wait the VCPU with
 * the shortest period comes first. While a thread waits for a mutex, the owner runs on the waiter's VCPU, in its budget, if
 * that one's period is shorter (priority inheritance, along chains of owners); semaphores and conditions have no owner.
 * Times to wait until are of CLOCK_MONOTONIC, which CLOCK_REALTIME is, too.
 */
#define PTHREAD_MUTEX_INITIALIZER	{ 0 }
#define PTHREAD_COND_INITIALIZER	{ 0 }
int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes);	/* attributes: NULL; EINVAL */
int pthread_mutex_destroy(pthread_mutex_t *mutex);	/* EBUSY */
int pthread_mutex_lock(pthread_mutex_t *mutex);		/* EDEADLK: it is the caller's, or the owner waits for the caller */
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);	/* the same, and ETIMEDOUT, EINVAL */
int pthread_mutex_trylock(pthread_mutex_t *mutex);	/* EBUSY: it is taken */
int pthread_mutex_unlock(pthread_mutex_t *mutex);	/* EPERM: it is not the caller's */
int pthread_cond_init(pthread_cond_t *cond, const void *attributes);
int pthread_cond_destroy(pthread_cond_t *cond);
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);	/* may come back for nothing, as everywhere: look again; EPERM */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until);	/* the same, and ETIMEDOUT, EINVAL: the mutex is the caller's again all the same */
int pthread_cond_signal(pthread_cond_t *cond);		/* the same as broadcast */
int pthread_cond_broadcast(pthread_cond_t *cond);
int sem_init(sem_t *sem, int shared, unsigned int value);	/* shared: 0; EINVAL */
int sem_destroy(sem_t *sem);				/* EBUSY */
int sem_wait(sem_t *sem);
int sem_timedwait(sem_t *sem, const struct timespec *until);	/* ETIMEDOUT, EINVAL */
int sem_trywait(sem_t *sem);				/* EAGAIN: it is 0 */
int sem_post(sem_t *sem);				/* EOVERFLOW */
int sem_getvalue(sem_t *sem, int *value);

/* What they stand on. wait_word() waits while *word is `expected`, for at most `us` (negative: for ever). */
int wait_word(const uint32_t *word, uint32_t expected, long us);	/* 0; EAGAIN: it is not; ETIMEDOUT, EINTR, EINVAL, EFAULT */
int wait_word_until(const uint32_t *word, uint32_t expected, const struct timespec *until);	/* the same until a time */
int wake_words(void);					/* whoever waits in this program looks at its word again */

/* A word that is 0 or its owner's number plus 1 (pthread_self()), with LOCK_AWAITED if threads wait. */
int lock_word(uint32_t *word, const struct timespec *until);	/* until: NULL is no limit; 0, EDEADLK, ETIMEDOUT, EINTR, EINVAL, EFAULT */
int unlock_word(uint32_t *word);			/* to who waits; 0, EPERM, EINVAL, EFAULT */

/* Time since the kernel's start. */
int usleep(uint64_t us);				/* at most 2^42; EINVAL */
int sleep(unsigned int seconds);			/* 0 */
int gettimeofday(struct timeval *now, void *zone);	/* zone: NULL; EFAULT, EINVAL */
int times(struct tms *used);				/* EFAULT */
int clock_gettime(clockid_t clock, struct timespec *now);	/* CLOCK_*; EINVAL, EFAULT */
/*
 * Sleep for `time`, or with TIMER_ABSTIME until the clock shows it (a time that has passed: not at all), never less. For
 * CLOCK_MONOTONIC and CLOCK_REALTIME. `left` is not touched: a sleep ends early only with its program. EINVAL, EFAULT
 */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left);
int nanosleep(const struct timespec *time, struct timespec *left);	/* clock_nanosleep(CLOCK_MONOTONIC, 0, time, left) */

/* Memory. */
void *sbrk(intptr_t bytes);				/* where the heap ended before; ENOMEM, EINVAL as a negative pointer: see failed() */
int meminfo(struct meminfo *info);			/* EFAULT */
int uname(struct utsname *name);			/* EFAULT */
void *malloc(size_t bytes);				/* 16-byte aligned; NULL: no memory */
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t bytes);			/* NULL: no memory, and `p` stays */
void free(void *p);

/*
 * Memory that a program shares with its children (and they with one another): each attaches it by its number, fork() does
 * not bring it along, exec() leaves it. It goes when it is freed, or its maker has ended, and nobody has it attached.
 */
int shared_mem_alloc(size_t bytes);			/* its number; at most 1 MiB, 8 of one program; EINVAL, EAGAIN, ENOMEM */
void *shared_mem_attach(int id);			/* where it is; EINVAL, EPERM, EMFILE, ENOMEM as a negative pointer: see failed() */
int shared_mem_detach(void *at);			/* EINVAL */
int shared_mem_free(int id);				/* own ones; EINVAL, EPERM */

/*
 * Files of the archive, read-only, and pipes between programs; at the start 0 is the keyboard, 1 and 2 the console. Eleven
 * descriptors at once, each the lowest that is free; fork() copies them, exec() keeps them.
 */
int open(const char *file, int flags);			/* O_RDONLY; ENOENT, EROFS, EMFILE, ENAMETOOLONG, EFAULT */
int close(int fd);					/* EBADF */
ssize_t read(int fd, void *to, size_t n);		/* 0: the end of the file, of a pipe that has no writer; EBADF, EFAULT */
ssize_t write(int fd, const void *from, size_t n);	/* EBADF, EROFS, EFAULT; a pipe without a reader: SIGPIPE */
off_t lseek(int fd, off_t offset, int whence);		/* SEEK_*; EBADF, EINVAL, ESPIPE */
int pipe(int fd[2]);					/* what is written to fd[1] is read from fd[0]; EMFILE, ENOMEM, EFAULT */
int dup(int fd);					/* another that stands for the same; EBADF, EMFILE */
int dup2(int fd, int other);				/* `other` stands for the same from now on; EBADF */

/* Is that pointer one of sbrk()'s errors? */
static inline int failed(const void *p)
{
	return (intptr_t)p < 0;
}

/* Any call by its number: quest/calls.h. */
long syscall(long number, long a, long b, long c);

#endif
