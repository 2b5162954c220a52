// SPDX-License-Identifier: GPL-2.0-only
/* The function of this cell, which no other cell shares. */
#include "../drivers/net/nic.h"
#include "port.h"

static volatile uint8_t *room(void)
{
	return nic_device()->driver->room(nic_device());
}

static void send(size_t length)
{
	nic_device()->driver->send(nic_device(), length);
}

static size_t receive(const volatile uint8_t **frame)
{
	return nic_device()->driver->receive(nic_device(), frame);
}

static void release(void)
{
	nic_device()->driver->release(nic_device());
}

static bool link(void)
{
	return nic_device()->driver->link(nic_device());
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
