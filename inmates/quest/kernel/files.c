// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "../net/socket.h"
#include "../user/include/quest/errors.h"
#include "files.h"
#include "pipe.h"
#include "process/process.h"

void files_init(struct process *p)
{
	p->files[STDIN] = (struct open_file){ .kind = FILE_KEYBOARD };
	p->files[STDOUT] = p->files[STDERR] = (struct open_file){ .kind = FILE_SCREEN };
}

struct open_file *files_find(struct process *p, int fd)
{
	return fd >= 0 && fd < FILES_MAX && p->files[fd].kind != FILE_CLOSED ? &p->files[fd] : NULL;
}

int files_add(struct process *p, struct open_file f)
{
	int fd;

	for (fd = 0; fd < FILES_MAX; fd++) {
		if (p->files[fd].kind != FILE_CLOSED)
			continue;
		p->files[fd] = f;
		return fd;
	}
	return -EMFILE;
}

static void open_again(const struct open_file *f)
{
	if (f->kind == FILE_PIPE_READ || f->kind == FILE_PIPE_WRITE)
		pipe_open(f->number, f->kind == FILE_PIPE_READ ? PIPE_READ : PIPE_WRITE);
	else if (f->kind == FILE_SOCKET)
		socket_open(f->number);
}

/* Replaces the file before others run: they must find neither an old file nor a free descriptor. */
static void replace(struct process *p, int fd, struct open_file f)
{
	struct open_file old = p->files[fd];

	p->files[fd] = f;
	if (old.kind == FILE_PIPE_READ || old.kind == FILE_PIPE_WRITE)
		pipe_close(old.number, old.kind == FILE_PIPE_READ ? PIPE_READ : PIPE_WRITE);
	else if (old.kind == FILE_SOCKET)
		socket_close(old.number);
}

void files_put(struct process *p, int fd, struct open_file f)
{
	open_again(&f);
	replace(p, fd, f);
}

void files_close(struct process *p, int fd)
{
	replace(p, fd, (struct open_file){ .kind = FILE_CLOSED });
}

void files_close_all(struct process *p)
{
	int fd;

	for (fd = 0; fd < FILES_MAX; fd++)
		files_close(p, fd);
}

void files_copy(struct process *to, const struct process *from)
{
	int fd;

	for (fd = 0; fd < FILES_MAX; fd++) {
		to->files[fd] = from->files[fd];
		open_again(&to->files[fd]);
	}
}

int files_duplicate(struct process *p, int fd)
{
	struct open_file f = p->files[fd];
	int copy = files_add(p, f);

	if (copy >= 0)
		open_again(&f);
	return copy;
}
