/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The word of the command line that gives Quest a network:
 * net=ADDRESS/PREFIX[,via=GATEWAY][,polled] or net=dhcp[,polled]. Pure.
 */
#ifndef QUEST_NET_WORD_H
#define QUEST_NET_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETWORD_KEY	"net="

struct net_wish {
	const char *name;			/* of this machine; not in the word */
	uint8_t address[4], gateway[4];		/* gateway 0.0.0.0: no gateway */
	unsigned int prefix;			/* 1 to 30 */
	bool dhcp;				/* another machine decides on the three above */
	bool polled;				/* the function does not interrupt */
};

/*
 * Reads the `length` characters at `word`, which begin with NETWORD_KEY. Returns NULL, or a
 * sentence that says how to correct it.
 */
const char *netword_read(const char *word, size_t length, struct net_wish *wish);

#endif
