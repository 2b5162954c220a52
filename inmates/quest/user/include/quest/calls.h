/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The system calls: C(number, name, count of arguments). Before SYSCALL, the number is in RAX, and
 * the arguments are in RDI, RSI, RDX. After it, the result is in RAX, and is negative for an error
 * (errors.h). RCX and R11 are lost; other registers keep their values. quest.h describes each call.
 */
#ifndef QUEST_CALLS_H
#define QUEST_CALLS_H

#define QUEST_CALLS(C) \
	C(0, _exit, 1) \
	C(1, getpid, 0) \
	C(2, fork, 0) \
	C(3, vcpu_fork, 1) \
	C(4, exec, 2) \
	C(5, waitpid, 3) \
	C(6, kill, 2) \
	C(7, usleep, 1) \
	C(8, gettimeofday, 2) \
	C(9, times, 1) \
	C(10, sbrk, 1) \
	C(11, meminfo, 1) \
	C(12, uname, 1) \
	C(13, open, 2) \
	C(14, close, 1) \
	C(15, read, 3) \
	C(16, write, 3) \
	C(17, lseek, 3) \
	C(18, thread_create, 3) \
	C(19, pthread_exit, 1) \
	C(20, thread_join, 2) \
	C(21, pthread_self, 0) \
	C(22, vcpu_create, 1) \
	C(23, vcpu_create_main, 2) \
	C(24, vcpu_bind_task, 1) \
	C(25, vcpu_destroy, 2) \
	C(26, vcpu_getparams, 1) \
	C(27, vcpu_setparams, 2) \
	C(28, sched_setparam, 2) \
	C(29, wait_word, 3) \
	C(30, wake_words, 0) \
	C(31, pthread_detach, 1) \
	C(32, clock_gettime, 2) \
	C(33, clock_nanosleep, 3) \
	C(34, wait_word_until, 3) \
	C(35, lock_word, 2) \
	C(36, unlock_word, 1) \
	C(37, pipe, 1) \
	C(38, dup, 1) \
	C(39, dup2, 2) \
	C(40, shared_mem_alloc, 1) \
	C(41, shared_mem_attach, 1) \
	C(42, shared_mem_detach, 1) \
	C(43, shared_mem_free, 1) \
	C(44, vcpu_current, 1) \
	C(45, channel_attach, 2) \
	C(46, channel_detach, 1) \
	C(47, channel_sleep, 3) \
	C(48, channel_ring, 1) \
	C(49, channel_open_key, 2) \
	C(50, vcpu_migration, 3) \
	C(51, vcpu_migration_status, 1) \
	C(52, vcpu_migration_dest, 1) \
	C(53, ipc_wait, 1) \
	C(54, socket, 1) \
	C(55, socket_bind, 2) \
	C(56, socket_send, 2) \
	C(57, socket_receive, 2) \
	C(58, socket_connect, 2) \
	C(59, socket_listen, 2) \
	C(60, socket_accept, 2) \
	C(61, socket_shutdown, 2) \
	C(62, socket_name, 3) \
	C(63, socket_set, 3) \
	C(64, socket_get, 2) \
	C(65, poll, 3) \
	C(66, fcntl, 3) \
	C(67, recovery_beat, 0) \
	C(68, recovery_save, 2) \
	C(69, recovery_resume, 2) \
	C(70, driver_open, 1) \
	C(71, driver_wait, 2) \
	C(72, recovery_vote, 3) \
	C(73, latency_count, 3)

#endif
