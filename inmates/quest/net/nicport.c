// SPDX-License-Identifier: GPL-2.0-only
/* The function of this cell, which no other cell shares. */
#include "../drivers/net/nic.h"
#include "port.h"

static volatile uint8_t *room(void)
{
	return e1000e_room(nic_device());
}

static void send(size_t length)
{
	e1000e_send(nic_device(), length);
}

static size_t receive(const volatile uint8_t **frame)
{
	return e1000e_receive(nic_device(), frame);
}

static void release(void)
{
	e1000e_release(nic_device());
}

static bool link(void)
{
	return e1000e_link(nic_device());
}

static const uint8_t *address(void)
{
	return nic_device()->address;
}

static void nothing(void)
{
}

const struct port nic_port = {
	.room = room, .send = send, .receive = receive, .release = release, .link = link,
	.address = address, .tick = nothing, .print = nothing,
};
