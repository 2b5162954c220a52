/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Quest's own functions, and those of POSIX, which this file includes. Two rules, without
 * exceptions:
 *
 *   A function with a name of POSIX does what POSIX specifies: it returns -1 and sets errno, or
 *   (pthread_*()) returns the error's number.
 *   A function with a name of Quest's own returns minus the error's number, and does not change
 *   errno: for example vcpu_create(), or quest_read() as well as read(). quest_NAME() returns the
 *   kernel's answer to NAME().
 *
 * strerror() explains an error of either kind, and its remedy.
 */
#ifndef QUEST_H
#define QUEST_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <quest/types.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The VCPU of threads that have no other: Main, 10/100 ms. */
#define BEST_EFFORT_VCPU	0

enum vcpu_type { MAIN_VCPU = 0, IO_VCPU = 1 };	/* Values of sched_param.type */

/*
 * VCPUs. A Main VCPU gets C ms of CPU in each period of T ms (us if sched_param.unit is VCPU_US).
 * Its threads run round-robin. A program may use its own VCPUs, those of its parent, and
 * BEST_EFFORT_VCPU. ENOVCPU: the VCPU does not exist, or the program may not use it.
 */
/*
 * Creates a VCPU. C is at least 10 us. Returns its id; EINVAL, EADMIT, EFAULT, or EAGAIN. EAGAIN
 * has three causes. First, the program has 16 VCPUs; destroyed VCPUs that used CPU time within
 * their period count. Second, all programs together have 8 I/O VCPUs. Third, a destroyed VCPU of
 * another program used too much CPU time within its period.
 */
int vcpu_create(const struct sched_param *param);
int vcpu_create_main(int C, int T);			/* creates a Main VCPU with C and T in ms */

/* The calling thread runs on VCPU `id` from now on; ENOVCPU */
int vcpu_bind_task(vcpu_id_t id);

/*
 * Destroys a VCPU of this program; EPERM, ENOVCPU, EBUSY: threads run on it (with `force` they
 * continue at best effort)
 */
int vcpu_destroy(vcpu_id_t id, int force);

/*
 * Returns the id of the VCPU that the caller runs on. A program may also destroy the VCPU that it
 * started on. If `left_us` is not NULL, stores the rest of the VCPU's budget there, in us; EFAULT
 */
int vcpu_current(uint64_t *left_us);

/*
 * Stores the parameters of the caller's VCPU. C and T are in ms if both are whole ms, else in us;
 * EFAULT
 */
int vcpu_getparams(struct sched_param *param);

/* Changes a VCPU of this program; the errors of vcpu_create(), and EPERM, ENOVCPU */
int vcpu_setparams(vcpu_id_t id, const struct sched_param *param);

/*
 * Migration: the program continues in another cell, with its threads, VCPUs, memory, open files of
 * the archive and channels of type memory; its pid changes. Cells are numbered in the order of the
 * words migrate=CHANNEL on Quest's command line; vcpu_migration_dest() returns the number of a
 * cell; ENODEV, ENAMETOOLONG, EFAULT.
 *
 * vcpu_migration() asks to move to cell `dest`, or to any (DEST_ANY), and returns whether that was
 * accepted: the caller continues, and moves later. `flag` 0: within `time` ms (0: no limit), or not
 * at all. MIG_RELAX: without a limit. MIG_STRICT: at a moment when none of its VCPUs loses a part
 * of its budget, within `time` ms (0: ten of its longest periods, at least a second); EMSGSIZE: the
 * link is not made for that; ENOSLACK: no such moment came. These
 * programs stay: a program with children, pipes or shared memory; a program that uses a VCPU of its
 * cell or of its parent; a program that the destination does not admit; with EXDEV, a program with
 * a channel that it cannot have there (Documentation/how-to/migration.md).
 * vcpu_migration_status() has the result; EFAULT. vcpu_migration_blocking() waits for it, and
 * returns whether the program has moved.
 */
bool vcpu_migration(uint32_t time, int dest, int flag);
bool vcpu_migration_blocking(uint32_t time, int dest, int flag);
int vcpu_migration_status(struct quest_migration *status);
int vcpu_migration_dest(const char *cell);
/* the kernel's answer: 0; EINVAL, EBUSY (an earlier request), ENOTSUP */
int quest_vcpu_migration(uint32_t time, int dest, int flag);

/*
 * Functions on programs, in addition to unistd.h and sys/wait.h. A child has only one thread, a
 * copy of the caller. Locks that other threads held stay locked in the child.
 *
 * vcpu_fork() is fork() with the child on VCPU `id`; EAGAIN, ENOMEM, ENOVCPU. exec() replaces the
 * calling program with another one; ENOENT, ENOEXEC, E2BIG, EBUSY (other threads), ENOMEM, EFAULT.
 */
pid_t vcpu_fork(vcpu_id_t id);
int exec(const char *file, char *const argv[]);

/*
 * The futex that mutexes, condition variables and semaphores use. wait_word() blocks while *word is
 * `expected`, for `us` at most (negative: without a limit); wait_word_until() until a point in time
 * at most. 0; EAGAIN: *word has another value; ETIMEDOUT, EINTR, EINVAL, EFAULT
 */
int wait_word(const uint32_t *word, uint32_t expected, long us);
int wait_word_until(const uint32_t *word, uint32_t expected, const struct timespec *until);

/* Wakes all waiting threads of this program, which compare their words again. */
int wake_words(void);

/*
 * A lock: a word that is 0, or its owner's number plus 1 (pthread_self()), with LOCK_AWAITED if
 * threads wait. lock_word() waits for it; `until` NULL: without a limit; 0, EDEADLK, ETIMEDOUT,
 * EINTR, EINVAL, EFAULT. unlock_word() passes it to a waiting thread; 0, EPERM, EINVAL, EFAULT.
 */
int lock_word(uint32_t *word, const struct timespec *until);
int unlock_word(uint32_t *word);

/*
 * Recovery, for a program that is a component (Documentation/how-to/recovery.md). recovery_beat()
 * says that the program is alive; `beat=` is the longest time between two beats. Returns how often
 * the component was started, 1 at first; 0: this program is no component.
 *
 * recovery_save() saves `n` bytes as the component's checkpoint: all of them, or none, and then the
 * last one stays. No other thread may change them meanwhile. 0; ENOTSUP: the component declares no
 * checkpoint; EINVAL: it is smaller; EBUSY: another thread saves; EFAULT, EINTR. recovery_resume()
 * returns the size of the checkpoint, which it copies to `to`, if the program was started by a
 * rollback, else 0; EINVAL: it has more than `n` bytes; EBUSY, EFAULT, EINTR.
 *
 * recovery_vote() is for a replica (`replica=`), in place of recovery_save(): it shows the other
 * two cells the hash of its state, and waits until one of them agrees, for TIME at most. `number`
 * counts the program's votes: in all cells it is the same point of the program. Returns how many
 * cells agree, 2 or 3, with RECOVERY_BEHIND if the others agree on a later vote: then do not sleep.
 * Act on the state only then. A vote is a heartbeat, too. ETIMEDOUT: no other cell agrees; vote
 * again. EINVAL: the number is below the last one, or the same for another state; ENOTSUP: it is no
 * replica; EBUSY, EFAULT, EINTR. A replica that starts later resumes at a state on which two cells
 * agree.
 */
int recovery_beat(void);
int recovery_save(const void *from, size_t n);
long recovery_resume(void *to, size_t n);
long recovery_vote(uint64_t number, const void *from, size_t n);

/*
 * For the program that drives the network function (quest/nic.h). driver_open() resets the function
 * and fills in `to`; ENETDOWN: no function waits for a program, or it cannot be used; EPERM: this
 * program is not its driver; EBUSY: it has the function already; ENOMEM, EFAULT, EINTR. From then
 * on the program must call recovery_beat() in time.
 *
 * driver_wait() tells the kernel of received frames. It returns a number which is another one after
 * each interrupt of the function, after frames were given to be sent, or taken. Waits for that as
 * long as the number is `seen`, but at most `us` microseconds, and a second. While it waits, the
 * function may interrupt. EBADF: this program does not have the function; EINTR.
 */
struct quest_nic;
int driver_open(struct quest_nic *to);
int driver_wait(uint32_t seen, unsigned long us);

/*
 * Counts a time in the histogram PROGRAM/`name` of the cell, which `qvctl latency` shows
 * (Documentation/how-to/monitoring.md). The name has 1 to 15 letters, digits, -, _ and .; programs
 * of the same file share it. The time, such as how late a loop is, and its deadline (0: none) are
 * at most 1000 s. A longer time than the deadline is missed. Alone, without a cell, it does
 * nothing. 0; ENFILE: all programs together have 8 names already, or the cell's page is full;
 * EINVAL, ENAMETOOLONG, EFAULT.
 */
int latency_count(const char *name, uint64_t ns, uint64_t deadline_ns);

/* Memory. */
int meminfo(struct meminfo *info);			/* EFAULT */

/*
 * Memory that a program and its children share. Each program attaches the memory by its number.
 * fork() does not copy the attachment, and exec() detaches the memory. It is freed when the program
 * that made it has freed it or has ended, and no program has it attached.
 *
 * shared_mem_alloc() returns the number of new memory. The size is at most 1 MiB, and a program may
 * make 8; EINVAL, EAGAIN, ENOMEM. shared_mem_attach() returns the address; EINVAL, EPERM, EMFILE,
 * ENOMEM as a negative pointer: see failed().
 */
int shared_mem_alloc(size_t bytes);
void *shared_mem_attach(int id);
int shared_mem_detach(void *at);			/* EINVAL */
/* frees memory that this program made; EINVAL, EPERM */
int shared_mem_free(int id);

/* Returns whether `p` is an error of shared_mem_attach() or quest_sbrk(). */
static inline int failed(const void *p)
{
	return (intptr_t)p < 0;
}

/* Prints an error that a function of Quest returned, as perror() does, but on stdout. */
void perror_of(const char *what, int error);

/* These calls have names of POSIX, but return the kernel's result: minus the number of an error. */
pid_t quest_fork(void);
pid_t quest_waitpid(pid_t pid, int *status, int options);
int quest_kill(pid_t pid, int signal);
/* sleeps for `us` microseconds, at most 2^42; EINVAL */
int quest_usleep(uint64_t us);
int quest_gettimeofday(struct timeval *now, void *zone);
int quest_times(struct quest_tms *used);
void *quest_sbrk(intptr_t bytes);
int quest_uname(struct quest_utsname *name);
int quest_open(const char *file, int flags);
int quest_close(int fd);
ssize_t quest_read(int fd, void *to, size_t n);
ssize_t quest_write(int fd, const void *from, size_t n);
off_t quest_lseek(int fd, off_t offset, int whence);
int quest_pipe(int fd[2]);
int quest_dup(int fd);
int quest_dup2(int fd, int other);
int quest_sched_setparam(pid_t pid, const struct sched_param *param);
int quest_pthread_detach(pthread_t thread);
int quest_clock_gettime(clockid_t clock, struct timespec *now);
int quest_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			  struct timespec *left);

/* Makes any call by its number (quest/calls.h). Returns minus the number of an error. */
long quest_syscall(long number, long a, long b, long c);

#endif
