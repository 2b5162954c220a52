// SPDX-License-Identifier: GPL-2.0-only
/* System calls: the console and the archive's files. */
#include <inmate/console.h>
#include <inmate/string.h>
#include <qv/cell.h>
#include "../drivers/input.h"
#include "../mm/usercopy.h"
#include "../user/include/quest/types.h"
#include "dispatch.h"
#include "machine.h"
#include "syscall.h"

#define STDIN		0
#define STDOUT		1
#define STDERR		2
#define CONSOLE_PIECE	128
#define SERIAL_PIECE	16		/* alone: so long as it takes a serial port at 115200 Baud for 1.4 ms */

static struct open_file *file_of(struct call *c, int fd)
{
	struct open_file *f = fd >= FIRST_FILE && fd - FIRST_FILE < PROCESS_FILES ?
			      &c->process->files[fd - FIRST_FILE] : NULL;

	return f && f->open ? f : NULL;
}

long sys_open(struct call *c)
{
	char name[ARCHIVE_NAME];
	int n = copy_string_from_user(&c->process->space, name, c->arg[0], sizeof(name)), i;

	if (n < 0)
		return n == -1 ? -EFAULT : -ENAMETOOLONG;
	if (call_int(c, 1) != O_RDONLY)
		return -EROFS;
	n = archive_find(&archive, name);
	if (n < 0)
		return -ENOENT;
	for (i = 0; i < PROCESS_FILES; i++) {
		if (c->process->files[i].open)
			continue;
		c->process->files[i] = (struct open_file){ .open = true, .file = n };
		return FIRST_FILE + i;
	}
	return -EMFILE;
}

long sys_close(struct call *c)
{
	struct open_file *f = file_of(c, call_int(c, 0));

	if (!f)
		return -EBADF;
	f->open = false;
	return 0;
}

/* Take what has been typed, at least a byte; Enter reads as a newline. In the background there is nothing to read. */
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
			if (c->process->ending)
				return -EINTR;
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
	const struct archive_file *file = &archive.files[f->file];
	uint64_t at = f->at;		/* other threads may move it while we copy */
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
	struct open_file *f = file_of(c, call_int(c, 0));

	if (call_int(c, 0) == STDIN)
		return read_console(c, c->arg[1], c->arg[2]);
	return f ? read_file(c, f, c->arg[1], c->arg[2]) : -EBADF;
}

/* What a program prints shall not look like the shell's call for a line. */
static void print_piece(char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (text[i] == QV_STREAM_READY)
			text[i] = '?';
	console_write(text, n);
}

long sys_write(struct call *c)
{
	uint64_t n = c->arg[2], done, part;
	uint64_t most = machine.alone ? SERIAL_PIECE : CONSOLE_PIECE;
	char text[CONSOLE_PIECE];

	if (call_int(c, 0) != STDOUT && call_int(c, 0) != STDERR)
		return file_of(c, call_int(c, 0)) ? -EROFS : -EBADF;
	for (done = 0; done < n && !c->process->ending; done += part) {
		part = n - done < most ? n - done : most;
		if (!copy_from_user(&c->process->space, text, c->arg[1] + done, part))
			return done ? (long)done : -EFAULT;
		print_piece(text, part);
		let_interrupts_in();
	}
	return (long)done;
}

long sys_lseek(struct call *c)
{
	struct open_file *f = file_of(c, call_int(c, 0));
	int whence = call_int(c, 2);
	int64_t offset = (int64_t)c->arg[1], base, at;

	if (!f)
		return -EBADF;
	if (whence < SEEK_SET || whence > SEEK_END)
		return -EINVAL;
	base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? (int64_t)f->at :
	       (int64_t)archive.files[f->file].size;
	if (__builtin_add_overflow(base, offset, &at) || at < 0)
		return -EINVAL;
	f->at = (uint64_t)at;
	return at;
}
