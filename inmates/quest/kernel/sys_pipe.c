// SPDX-License-Identifier: GPL-2.0-only
/* System calls: pipes, and copies of descriptors. */
#include "../mm/usercopy.h"
#include "pipe.h"
#include "syscall.h"

/* Opens both descriptors of a new pipe. Returns 0, or an error; then no pipe exists. */
static int make(struct process *p, int fd[2])
{
	int pipe = pipe_create();

	if (pipe < 0)
		return pipe;
	fd[0] = files_add(p, (struct open_file){ .kind = FILE_PIPE_READ, .number = pipe });
	fd[1] = files_add(p, (struct open_file){ .kind = FILE_PIPE_WRITE, .number = pipe });
	if (fd[1] >= 0)
		return 0;
	pipe_close(pipe, PIPE_WRITE);
	if (fd[0] >= 0)
		files_close(p, fd[0]);
	else
		pipe_close(pipe, PIPE_READ);
	return -EMFILE;
}

long sys_pipe(struct call *c)
{
	int fd[2], error = make(c->process, fd);

	if (error || copy_to_user(&c->process->space, c->arg[0], fd, sizeof(fd)))
		return error;
	files_close(c->process, fd[0]);
	files_close(c->process, fd[1]);
	return -EFAULT;
}

long sys_dup(struct call *c)
{
	return files_find(c->process, call_int(c, 0)) ?
	       files_duplicate(c->process, call_int(c, 0)) : -EBADF;
}

long sys_dup2(struct call *c)
{
	int from = call_int(c, 0), to = call_int(c, 1);
	struct open_file *f = files_find(c->process, from);

	if (!f || to < 0 || to >= FILES_MAX)
		return -EBADF;
	if (from != to)
		files_put(c->process, to, *f);
	return to;
}
