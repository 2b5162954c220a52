/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The word of the command line that gives Quest a network:
 * net=[share:NAME,]ADDRESS/PREFIX[,via=GATEWAY][,polled][,share][,apart[=PROGRAM]], or dhcp in
 * place of the address. Pure.
 */
#ifndef QUEST_NET_WORD_H
#define QUEST_NET_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETWORD_KEY	"net="
#define NETWORD_DRIVER	"nicdriver"	/* drives the function if `apart` names no program */
#define NETWORD_PROGRAM	31		/* longest name of a program */
#define NETWORD_NAME	28		/* longest name: channels have 31 characters, with -rx */

struct net_wish {
	const char *name;			/* of this machine; not in the word */
	uint8_t address[4], gateway[4];		/* gateway 0.0.0.0: no gateway */
	unsigned int prefix;			/* 1 to 30 */
	bool dhcp;				/* another machine decides on the three above */
	bool polled;				/* the function does not interrupt */
	bool shares;				/* this cell shares its function with others */
	char driver[NETWORD_PROGRAM + 1];	/* a program that drives the function; "": none */
	char share[NETWORD_NAME + 1];		/* as this name, that of another; "": does not */
};

/*
 * Reads the `length` characters at `word`, which begin with NETWORD_KEY. Returns NULL, or a
 * sentence that says how to correct it.
 */
const char *netword_read(const char *word, size_t length, struct net_wish *wish);

#endif
