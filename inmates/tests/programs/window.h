/* SPDX-License-Identifier: GPL-2.0-only */
/* For programs that use the window of a channel in a way that their kernel does not allow */
#ifndef QUEST_WINDOW_H
#define QUEST_WINDOW_H

#include <channel.h>
#include <string.h>

/*
 * Uses the window of the open channel @n as `way` says, for which the program is killed; or waits
 * for an item. @other: an end of the channel that the program does not write.
 */
static inline int misuse(int n, const char *way, int other)
{
	struct qv_end *end = channel_end(n);
	unsigned char *window;

	if (!end)
		return 1;
	window = end->window;
	if (!strcmp(way, "life"))
		window[0] = 0;
	else if (!strcmp(way, "peer"))
		window[end->page.end[other].offset] = 0;
	else if (!strcmp(way, "closed"))
		return channel_close(n) + window[0];
	else if (!strcmp(way, "execute"))
		((void (*)(void))(window + end->page.end[other].offset))();
	return channel_wait(n, -1);
}

#endif
