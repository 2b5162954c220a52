// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Channels of qv.ko: linux/qv_channel.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/qv_channel.h>
#include "internal.h"

static void device_ring(struct qv_channel *c)
{
	ioctl(c->file, QV_CHANNEL_RING);
}

static void device_arm(struct qv_channel *c)
{
	ioctl(c->file, QV_CHANNEL_ARM);
}

static void device_close(struct qv_channel *c)
{
	if (c->file >= 0)
		close(c->file);
}

static const struct source device = { device_ring, device_arm, device_close };

static int device_attach(struct qv_channel *c, const char *path)
{
	struct qv_channel_window window = { 0 };

	c->file = c->waits = open(path, O_RDWR | O_CLOEXEC);
	if (c->file < 0)
		return lib_fail_system("open", path);
	if (ioctl(c->file, QV_CHANNEL_WINDOW, &window))
		return lib_fail_system("this is no channel", path);
	if (window.abi != QV_CHANNEL_ABI)
		return lib_fail(QV_CHAN_LAYOUT, "%s: qv.ko has ABI %u, libqv has %u", path,
				window.abi, QV_CHANNEL_ABI);
	if (ioctl(c->file, QV_CHANNEL_CLAIM))
		return lib_fail_system("claim", path);
	return lib_attach(c, path, window.length, window.end);
}

int qv_open(struct qv_channel **channel, const char *name)
{
	struct qv_channel *c;
	char path[128];
	int result;

	*channel = NULL;
	if (!*name || strchr(name, '/') || strlen(name) >= QV_CHAN_NAME_LEN)
		return lib_fail(QV_LIB_NOT_FOUND, "\"%.40s\" cannot be the name of a channel",
				name);
	snprintf(path, sizeof(path), "%s/%s", QV_CHANNEL_FOLDER, name);
	c = calloc(1, sizeof(*c));
	if (!c)
		return lib_fail_system("calloc", path);
	c->source = &device;
	result = device_attach(c, path);
	if (result) {
		qv_close(c);
		return result;
	}
	*channel = c;
	return 0;
}

int qv_open_key(struct qv_channel **channel, uint64_t key)
{
	char name[QV_CHAN_NAME_LEN];

	snprintf(name, sizeof(name), "key-%016" PRIx64, key);
	return qv_open(channel, name);
}
