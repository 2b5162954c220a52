// SPDX-License-Identifier: GPL-2.0-only
/* System calls: sockets for datagrams. */
#include "../mm/usercopy.h"
#include "../net/socket.h"
#include "../user/include/quest/types.h"
#include "syscall.h"

long sys_socket(struct call *c)
{
	int n = socket_create(), fd;

	if (n < 0)
		return n;
	fd = files_add(c->process, (struct open_file){ .kind = FILE_SOCKET, .number = n });
	if (fd < 0)
		socket_close(n);
	return fd;
}

/* Returns the number of the socket behind argument 0; negative: none. */
static int number(const struct call *c)
{
	const struct open_file *f = files_find(c->process, call_int(c, 0));

	return f && f->kind == FILE_SOCKET ? f->number : -1;
}

long sys_socket_bind(struct call *c)
{
	struct quest_address to;

	if (number(c) < 0)
		return -EBADF;
	if (!copy_from_user(&c->process->space, &to, c->arg[1], sizeof(to)))
		return -EFAULT;
	return socket_bind(number(c), &to);
}

long sys_socket_send(struct call *c)
{
	struct quest_datagram d;

	if (number(c) < 0)
		return -EBADF;
	if (!copy_from_user(&c->process->space, &d, c->arg[1], sizeof(d)))
		return -EFAULT;
	return socket_send(number(c), &c->process->space, d.data, d.length, &d.address);
}

long sys_socket_receive(struct call *c)
{
	const struct space *s = &c->process->space;
	struct quest_datagram d;
	long n;

	if (number(c) < 0)
		return -EBADF;
	if (!copy_from_user(s, &d, c->arg[1], sizeof(d)) ||
	    !user_writable(s, c->arg[1], sizeof(d)))
		return -EFAULT;
	n = socket_receive(number(c), s, d.data, d.length, &d.address);
	if (n < 0 || copy_to_user(s, c->arg[1], &d, sizeof(d)))
		return n;
	return -EFAULT;
}
