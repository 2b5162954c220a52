// SPDX-License-Identifier: GPL-2.0-only
/* System calls on descriptors: the console, the archive's files, pipes. */
#include <inmate/string.h>
#include "../drivers/input.h"
#include "../drivers/output.h"
#include "../mm/usercopy.h"
#include "../net/socket.h"
#include "../user/include/quest/types.h"
#include "dispatch.h"
#include "pipe.h"
#include "process/job.h"
#include "program.h"
#include "syscall.h"

long sys_open(struct call *c)
{
	char name[ARCHIVE_NAME];
	int n = copy_string_from_user(&c->process->space, name, c->arg[0], sizeof(name));

	if (n < 0)
		return n == -1 ? -EFAULT : -ENAMETOOLONG;
	if (call_int(c, 1) != O_RDONLY)
		return -EROFS;
	n = archive_find(&archive, name);
	return n < 0 ? -ENOENT :
	       files_add(c->process, (struct open_file){ .kind = FILE_ARCHIVE, .number = n });
}

long sys_close(struct call *c)
{
	if (!files_find(c->process, call_int(c, 0)))
		return -EBADF;
	files_close(c->process, call_int(c, 0));
	return 0;
}

/*
 * Waits for a typed key, and takes all keys that were typed. Enter is read as a newline. Returns 0
 * for a program in the background.
 */
static long read_console(struct call *c, uint64_t to, uint64_t n)
{
	uint64_t done = 0;
	uint8_t byte;
	int key;

	while (done < n && process_gets_keys(c->process)) {
		key = input_try();
		if (key < 0 && done)
			break;
		if (key < 0) {
			input_wait();
			if (process_interrupted(c->process))
				return process_interrupted(c->process);
			continue;
		}
		byte = key == '\r' ? '\n' : (uint8_t)key;
		if (!copy_to_user(&c->process->space, to + done, &byte, 1))
			return done ? (long)done : -EFAULT;
		done++;
	}
	return (long)done;
}

static long read_file(struct call *c, struct open_file *f, uint64_t to, uint64_t n)
{
	const struct archive_file *file = &archive.files[f->number];
	uint64_t at = f->at;		/* other threads may change f->at during the copy */
	uint64_t left = at < file->size ? file->size - at : 0, done, part;

	if (n > left)
		n = left;
	for (done = 0; done < n && !c->process->ending; done += part) {
		part = n - done < PAGE_SIZE ? n - done : PAGE_SIZE;
		if (!copy_to_user(&c->process->space, to + done, file->data + at + done, part))
			break;
		let_interrupts_in();
	}
	f->at = at + done;
	return done || !n ? (long)done : -EFAULT;
}

long sys_read(struct call *c)
{
	struct open_file *f = files_find(c->process, call_int(c, 0));

	switch (f ? f->kind : FILE_CLOSED) {
	case FILE_KEYBOARD:
		return read_console(c, c->arg[1], c->arg[2]);
	case FILE_ARCHIVE:
		return read_file(c, f, c->arg[1], c->arg[2]);
	case FILE_PIPE_READ:
		return pipe_read(f->number, &c->process->space, c->arg[1], c->arg[2]);
	case FILE_SOCKET:
		return socket_receive(f->number, &c->process->space, &(struct quest_datagram){
			.data = c->arg[1], .length = c->arg[2] });
	default:
		return -EBADF;
	}
}

/*
 * Waits until a piece of output can be written. Returns 0, or the error of process_interrupted().
 */
static long wait_for_output(const struct call *c)
{
	long error = 0;

	while (!error && !output_ready()) {
		output_wait();
		error = process_interrupted(c->process);
	}
	return error;
}

static long write_console(struct call *c, uint64_t from, uint64_t n)
{
	uint64_t done, part;
	char text[OUTPUT_PIECE];
	long error;

	for (done = 0; done < n && !c->process->ending; done += part) {
		error = wait_for_output(c);
		if (error)
			return done ? (long)done : error;
		part = n - done < OUTPUT_PIECE ? n - done : OUTPUT_PIECE;
		if (!copy_from_user(&c->process->space, text, from + done, part))
			return done ? (long)done : -EFAULT;
		part = output_part(text, part);
		output_write(text, part);
		let_interrupts_in();
	}
	return (long)done;
}

/*
 * A program that writes to a pipe without readers is killed, since it cannot have a signal handler.
 */
static long write_pipe(struct call *c, int pipe)
{
	long n = pipe_write(pipe, &c->process->space, c->arg[1], c->arg[2]);

	if (n == -EPIPE)
		process_end(c->process, SIGPIPE);
	return n;
}

long sys_write(struct call *c)
{
	struct open_file *f = files_find(c->process, call_int(c, 0));

	switch (f ? f->kind : FILE_CLOSED) {
	case FILE_SCREEN:
		return write_console(c, c->arg[1], c->arg[2]);
	case FILE_PIPE_WRITE:
		return write_pipe(c, f->number);
	case FILE_SOCKET:
		return socket_send(f->number, &c->process->space, &(struct quest_datagram){
			.data = c->arg[1], .length = c->arg[2] });
	case FILE_ARCHIVE:
		return -EROFS;
	default:
		return -EBADF;
	}
}

long sys_lseek(struct call *c)
{
	struct open_file *f = files_find(c->process, call_int(c, 0));
	int whence = call_int(c, 2);
	int64_t offset = (int64_t)c->arg[1], base, at;

	if (!f || f->kind != FILE_ARCHIVE)
		return f ? -ESPIPE : -EBADF;
	if (whence < SEEK_SET || whence > SEEK_END)
		return -EINVAL;
	base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? (int64_t)f->at :
	       (int64_t)archive.files[f->number].size;
	if (__builtin_add_overflow(base, offset, &at) || at < 0)
		return -EINVAL;
	f->at = (uint64_t)at;
	return at;
}
