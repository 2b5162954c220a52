/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The errors of system calls. A failing call returns minus one of these numbers, and has done
 * nothing. E(name, number, sentence, remedy). The numbers are those of Unix where it has one.
 * Functions with a name of POSIX return them as POSIX specifies: in errno (errno.h), or as the
 * result (pthread.h).
 */
#ifndef QUEST_ERRORS_H
#define QUEST_ERRORS_H

#define QUEST_ERRORS(E) \
	E(EPERM, 1, "that is not this program's", \
	  "name one that it made itself, or is its own child") \
	E(ENOENT, 2, "there is no file of that name", \
	  "the shell's `ls` shows what there is") \
	E(ESRCH, 3, "there is no such program", \
	  "`ps` shows the pids") \
	E(EINTR, 4, "the program is ending", \
	  "none: the call was given up") \
	E(E2BIG, 7, "the arguments are too long", \
	  "at most 15 words of 1000 bytes in all") \
	E(ENOEXEC, 8, "the file is no program", \
	  "link it as user/program.lds says, and mark it executable") \
	E(EBADF, 9, "that descriptor is not open for this", \
	  "0 reads, 1 and 2 write, open() and pipe() give others") \
	E(ECHILD, 10, "there is no such child to wait for", \
	  "fork() first; each child is waited for once") \
	E(EAGAIN, 11, "there are too many programs, threads or VCPUs; or the call would wait", \
	  "wait for one of them to end; a VCPU that is gone counts for one period more") \
	E(ENOMEM, 12, "there is not enough memory", \
	  "end a program, or give the cell more") \
	E(EACCES, 13, "this end of the channel has no such call", \
	  "a writer writes and a reader reads; `qvctl channel show` names them") \
	E(EFAULT, 14, "an address is not the program's to use so", \
	  "look at the pointer and the length") \
	E(EBUSY, 16, "it is in use", \
	  "end or join the other threads first; unbind the VCPU; end the program that has it") \
	E(EEXIST, 17, "the other end described this key differently, or this end is taken", \
	  "use the same words at both ends, or another key") \
	E(EXDEV, 18, "the program cannot use one of its channels in the other cell", \
	  "close it before; or list it there, of type `memory`, with the same right to write") \
	E(ENODEV, 19, "the cell has no such channel", \
	  "`channels` shows those that the cell's file lists") \
	E(EINVAL, 22, "an argument makes no sense", \
	  "look at the call's description for its range") \
	E(ENFILE, 23, "the programs of the cell have all histograms that there are for them", \
	  "count under fewer names") \
	E(EMFILE, 24, "too many files, pipes or sockets are open", \
	  "close() one") \
	E(ENOSPC, 28, "all memory of `dynamic-channels` is in use", \
	  "close a key, or set more memory aside in the cell's file") \
	E(ESPIPE, 29, "that is no file of the archive", \
	  "lseek() only what open() gave") \
	E(EROFS, 30, "files cannot be written", \
	  "open them with O_RDONLY") \
	E(EPIPE, 32, "the pipe has no reader, or the connection has ended", \
	  "keep an end for reading open") \
	E(EDOM, 33, "an argument is outside the function's domain", \
	  "look at the function's description") \
	E(ERANGE, 34, "the result is out of range", \
	  "use a smaller number, or more room for the result") \
	E(EDEADLK, 35, "a thread would wait for itself", \
	  "join another thread; release the lock first") \
	E(ENAMETOOLONG, 36, "the name is too long", \
	  "at most 31 bytes") \
	E(ENOSYS, 38, "there is no such system call", \
	  "rebuild the program with this system's headers") \
	E(ENODATA, 61, "the channel has no newer item", \
	  "channel_wait() for one, or try again later") \
	E(ENOLINK, 67, "`dynamic-channels` of the cell's file does not list that end", \
	  "list it there, and create the cell again") \
	E(EPROTO, 71, "the channel is damaged, or the other cell has another version", \
	  "restart the cell; if that does not help, update the older of QV and Quest") \
	E(EBADMSG, 74, "the other end wrote something that cannot be", \
	  "restart the cell or the program at the other end") \
	E(EOVERFLOW, 75, "the number would be too large", \
	  "sem_wait() as often as sem_post()") \
	E(ENOTSOCK, 88, "that descriptor is no socket", \
	  "make one with socket()") \
	E(EDESTADDRREQ, 89, "the datagram has no address", \
	  "use sendto(), or connect() first") \
	E(EMSGSIZE, 90, "that is not the size of an item, or too large for the channel or socket", \
	  "use `item` of the cell's file; a datagram has at most 1472 bytes, a strict move needs " \
	  "`arena`") \
	E(ENOPROTOOPT, 92, "the socket has no such option", \
	  "sys/socket.h lists those that it has") \
	E(ENOTSUP, 95, "Quest does not have that", \
	  "see Documentation/tutorial/quest-programs.md for what it has") \
	E(EAFNOSUPPORT, 97, "there are only addresses of IPv4", \
	  "use AF_INET") \
	E(EADDRINUSE, 98, "another socket has that port", \
	  "close() it, or bind to another port") \
	E(EADDRNOTAVAIL, 99, "the cell does not have that address", \
	  "`net` shows its address") \
	E(ENETDOWN, 100, "the cell has no network", \
	  "`net` says why") \
	E(ECONNABORTED, 103, "the connection ended before it was accepted", \
	  "accept() the next one") \
	E(ECONNRESET, 104, "the other end restarted, or ended the connection; items that it had " \
	  "not delivered are gone", \
	  "call again: the next call is for its new life, unless `reconnect` is `never`; make a " \
	  "new socket") \
	E(ENOBUFS, 105, "the channel has no free slot, or it is the other end's turn", \
	  "channel_wait() for one, or try again later") \
	E(EISCONN, 106, "the socket is connected already", \
	  "make another socket") \
	E(ENOTCONN, 107, "the other end is not there yet", \
	  "start its cell or its program, or channel_wait() for it; connect() the socket") \
	E(ESHUTDOWN, 108, "the other end is stopped", \
	  "start its cell") \
	E(ETIMEDOUT, 110, "the time to wait is over", \
	  "wait longer, or look who should have woken it") \
	E(ECONNREFUSED, 111, "no program listens at that address and port", \
	  "start it; look at the port's number") \
	E(EHOSTDOWN, 112, "the cell at the other end failed", \
	  "`qvctl cell show` names the reason") \
	E(EHOSTUNREACH, 113, "no way leads to that address", \
	  "`net` shows the cell's network and gateway") \
	E(EALREADY, 114, "the socket is being connected", \
	  "poll() for POLLOUT") \
	E(EINPROGRESS, 115, "the connection is being made", \
	  "poll() for POLLOUT, then read SO_ERROR") \
	E(ESTALE, 116, "items are overwritten faster than they can be read", \
	  "use more slots") \
	E(EADMIT, 200, "the VCPU is not admitted: all could not meet their periods", \
	  "take less budget or a longer period; `vcpus` shows who has what") \
	E(ENOVCPU, 201, "there is no such VCPU", \
	  "vcpu_create() first; `vcpus` shows them") \
	E(ENOSLACK, 202, "a move takes longer than the program can be away without a loss", \
	  "move it without `strict`, or give the VCPUs `migration` a shorter period")

#define QUEST_ERROR_NUMBER(name, number, what, remedy) name = number,
enum quest_error { QUEST_ERRORS(QUEST_ERROR_NUMBER) };
#undef QUEST_ERROR_NUMBER

/* The errors for results of channels (qv/end.h), by minus the result. */
#define QUEST_CHANNEL_ERRORS { \
	[-QV_CHAN_NOTHING] = ENODATA, [-QV_CHAN_FULL] = ENOBUFS, [-QV_CHAN_CORRUPT] = EBADMSG, \
	[-QV_CHAN_RESTARTED] = ECONNRESET, [-QV_CHAN_STOPPED] = ESHUTDOWN, \
	[-QV_CHAN_FAILED] = EHOSTDOWN, [-QV_CHAN_ABSENT] = ENOTCONN, [-QV_CHAN_LAPPED] = ESTALE, \
	[-QV_CHAN_SIZE] = EMSGSIZE, [-QV_CHAN_USAGE] = EACCES, [-QV_CHAN_LAYOUT] = EPROTO, \
	[-QV_CHAN_OWN_SECTION] = EPROTO, \
}

/* Returns the sentence of an error, given with or without its sign, and the remedy in brackets. */
char *strerror(int error);

#endif
