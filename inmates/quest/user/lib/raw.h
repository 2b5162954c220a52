/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Only for the library: the system calls under names that no program redefines, and declarations
 * that the library's files share. All symbols of the library are weak, so that printf() does not
 * call a pipe() of the program.
 */
#ifndef QUEST_LIB_RAW_H
#define QUEST_LIB_RAW_H

#include <poll.h>
#include <quest.h>

_Noreturn void quest__exit(int code);
pid_t quest_getpid(void);
int quest_exec(const char *file, char *const argv[]);
int quest_thread_create(void (*begin)(void *(*fn)(void *), void *arg), void *(*fn)(void *),
			void *arg);
int quest_thread_join(int thread, void **result);
_Noreturn void quest_pthread_exit(void *result);
int quest_pthread_self(void);
int quest_wait_word(const uint32_t *word, uint32_t expected, long us);
int quest_wait_word_until(const uint32_t *word, uint32_t expected, const struct timespec *until);
int quest_wake_words(void);
int quest_lock_word(uint32_t *word, const struct timespec *until);
int quest_unlock_word(uint32_t *word);
int quest_channel_attach(const char *name, struct quest_channel *to);
int quest_channel_open_key(const struct quest_key *key, struct quest_channel *to);
int quest_channel_detach(int channel);
/* returns how often the bell rang; waits for it if that is `seen` (kernel/userchannel.h) */
int quest_channel_sleep(int channel, uint32_t seen, const struct timespec *until);
int quest_channel_ring(int channel);
/* returns once that the other end restarted, if channel_wait() found that (channel.c) */
int channel_reset_before(int channel);
int quest_vcpu_migration_status(struct quest_migration *status);
int quest_ipc_wait(struct quest_ipc_wait *w);	/* kernel/sys_ipc.c */
int quest_socket(int type);		/* kernel/sys_socket.c */
int quest_socket_bind(int fd, const struct quest_address *to);
long quest_socket_send(int fd, const struct quest_datagram *d);
long quest_socket_receive(int fd, struct quest_datagram *d);
int quest_socket_connect(int fd, const struct quest_address *to);
int quest_socket_listen(int fd, int most);
int quest_socket_accept(int fd, struct quest_address *from);
int quest_socket_shutdown(int fd, int how);
int quest_socket_name(int fd, int peer, struct quest_address *name);
int quest_socket_set(int fd, int option, long value);
long quest_socket_get(int fd, int option);
long quest_poll(struct pollfd *fds, unsigned long n, long us);	/* kernel/sys_poll.c */
long quest_fcntl(int fd, int command, int value);

/*
 * Returns the calling thread's number, below QUEST_THREADS. The address of the stack gives the
 * number. If the stack is not one of a thread, asks the kernel.
 */
static inline unsigned int quest_thread(void)
{
	unsigned long slot = ((unsigned long)__builtin_frame_address(0) - QUEST_STACKS) /
			     (2 * QUEST_STACK_BYTES);

	return slot < QUEST_THREADS ? (unsigned int)slot : (unsigned int)quest_pthread_self();
}

/* Converts the kernel's result `r` to the result that POSIX specifies. */
static inline long posix_answer(long r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

/*
 * A thread calls these when it begins and when it ends, to set up and to destroy its values for
 * pthread_getspecific(). NULL until the program creates its first key, so that programs without
 * keys need no memory for such values.
 */
extern void (*quest_keys_begin)(void);
extern void (*quest_keys_end)(void);

#endif
