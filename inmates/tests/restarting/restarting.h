/* SPDX-License-Identifier: GPL-2.0-only */
/* The calls by which a program waits for the other end of a channel, in each library. */
#ifndef RESTARTING_H
#define RESTARTING_H

#include <stdbool.h>
#include <stdint.h>
#include <qv/channel.h>

#define RESTARTING_ITEM	64

enum restarting {
	RESTARTING_WAITS = 1,		/* the call sleeps on */
	RESTARTING_RESTARTED,		/* it says that the other end restarted */
	RESTARTING_OTHER,
};

struct restarting_library {
	const char *name;
	/* the channel lies in the file `path`, and at `window` */
	bool (*open)(const char *path, void *window, const struct qv_chan_page *plan, uint32_t end);
	void (*close)(void);
	bool (*write)(void);		/* writes an item; never waits */
	bool (*read)(void);		/* the same for a read */
	/* waits for room in a ring, or for an item */
	enum restarting (*wait)(bool for_room);
};

extern const struct restarting_library restarting_osek, restarting_quest, restarting_libqv;

#endif
