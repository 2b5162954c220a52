// SPDX-License-Identifier: GPL-2.0-only
/* System calls: sockets. */
#include "../mm/usercopy.h"
#include "../net/socket.h"
#include "../user/include/quest/socket_types.h"
#include "../user/include/quest/types.h"
#include "syscall.h"

#define FLAGS	(MSG_PEEK | MSG_DONTWAIT)

static int add(struct call *c, int socket)
{
	return files_add(c->process, (struct open_file){ .kind = FILE_SOCKET, .number = socket });
}

long sys_socket(struct call *c)
{
	int n = socket_create(call_int(c, 0), c->process->job), fd;

	if (n < 0)
		return n;
	fd = add(c, n);
	if (fd < 0)
		socket_close(n);
	return fd;
}

/* Returns the number of the socket behind argument 0, or minus an error. */
static int number(const struct call *c)
{
	const struct open_file *f = files_find(c->process, call_int(c, 0));

	return !f ? -EBADF : f->kind == FILE_SOCKET ? f->number : -ENOTSOCK;
}

static long with_address(struct call *c, int (*act)(int socket, const struct quest_address *to))
{
	struct quest_address to;
	int n = number(c);

	if (n < 0)
		return n;
	return copy_from_user(&c->process->space, &to, c->arg[1], sizeof(to)) ? act(n, &to) :
	       -EFAULT;
}

long sys_socket_bind(struct call *c)
{
	return with_address(c, socket_bind);
}

long sys_socket_connect(struct call *c)
{
	return with_address(c, socket_connect);
}

long sys_socket_listen(struct call *c)
{
	return number(c) < 0 ? number(c) : socket_listen(number(c), call_int(c, 1));
}

/* The address of the other end may be NULL. */
long sys_socket_accept(struct call *c)
{
	const struct space *s = &c->process->space;
	struct quest_address from;
	int n = number(c), accepted, fd;

	if (n < 0)
		return n;
	if (c->arg[1] && !user_writable(s, c->arg[1], sizeof(from)))
		return -EFAULT;
	accepted = socket_accept(n, c->process->job, &from);
	if (accepted < 0)
		return accepted;
	fd = add(c, accepted);
	if (fd < 0)
		socket_reject(n, accepted);
	else if (c->arg[1])
		(void)copy_to_user(s, c->arg[1], &from, sizeof(from));
	return fd;
}

long sys_socket_shutdown(struct call *c)
{
	return number(c) < 0 ? number(c) : socket_shutdown(number(c), call_int(c, 1));
}

long sys_socket_send(struct call *c)
{
	struct quest_datagram d;
	int n = number(c);

	if (n < 0)
		return n;
	if (!copy_from_user(&c->process->space, &d, c->arg[1], sizeof(d)))
		return -EFAULT;
	return d.flags & ~(uint64_t)FLAGS ? -ENOTSUP : socket_send(n, &c->process->space, &d);
}

long sys_socket_receive(struct call *c)
{
	const struct space *s = &c->process->space;
	struct quest_datagram d;
	int n = number(c);
	long answer;

	if (n < 0)
		return n;
	if (!copy_from_user(s, &d, c->arg[1], sizeof(d)) ||
	    !user_writable(s, c->arg[1], sizeof(d)))
		return -EFAULT;
	if (d.flags & ~(uint64_t)FLAGS)
		return -ENOTSUP;
	answer = socket_receive(n, s, &d);
	if (answer < 0 || copy_to_user(s, c->arg[1], &d, sizeof(d)))
		return answer;
	return -EFAULT;
}

long sys_socket_name(struct call *c)
{
	struct quest_address name;
	int n = number(c), error = n < 0 ? n : socket_name(n, call_int(c, 1), &name);

	return error ? error :
	       copy_to_user(&c->process->space, c->arg[2], &name, sizeof(name)) ? 0 : -EFAULT;
}

long sys_socket_set(struct call *c)
{
	return number(c) < 0 ? number(c) :
	       socket_set(number(c), call_int(c, 1), (int64_t)c->arg[2]);
}

long sys_socket_get(struct call *c)
{
	return number(c) < 0 ? number(c) : socket_get(number(c), call_int(c, 1));
}
