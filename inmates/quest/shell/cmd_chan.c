// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../drivers/bell.h"
#include "../drivers/channel.h"
#include "../kernel/machine.h"
#include "shell.h"
#include "words.h"

#define SHOWN	64		/* bytes of an item that are printed */
#define MOST_MS	600000		/* longest wait of `chan read` */

static const char *const types[] = { "", "mailbox", "four-slot", "ring", "memory" };
static const char *const states[] = { "absent", "running", "stopped", "failed" };

int command_channels(int argc, char **argv)
{
	const struct qv_info_channel *c;
	const struct qv_chan_page *page;
	unsigned int n, i;

	(void)argv;
	if (argc != 1)
		return SHELL_SHOW_USAGE;
	for (n = 0; (c = channel_nth(n)); n++) {
		page = channel_page(n);
		print("%s %s", c->name, c->type <= QV_CHAN_MEMORY ? types[c->type] : "?");
		for (i = 0; page && i < page->ends; i++) {
			const volatile struct qv_chan_page *now = (void *)(uintptr_t)c->address;
			unsigned int state = QV_CHAN_STATE(now->end[i].life);

			print(" %s:%s", page->end[i].name,
			      state <= QV_CHAN_IS_FAILED ? states[state] : "?");
		}
		if (channel_user(n) > 0)
			print(" (used by pid %d)", channel_user(n));
		print("\n");
	}
	if (!n)
		print("this cell has no channels\n");
	return 0;
}

static int failed(const char *name, int result)
{
	print("%s: %s\n", name, qv_chan_sentence(result));
	return SHELL_FAILED;
}

/*
 * Opens a channel. Returns its index, to close it; -1 after a message if the shell cannot use it.
 */
static int opened(const char *name, struct qv_end **end)
{
	int n = channel_find(name), result;

	if (n < 0) {
		print("%s: the cell has no such channel; `channels` lists them\n", name);
		return -1;
	}
	result = channel_open((unsigned int)n, end);
	if (!result)
		return n;
	if (channel_user((unsigned int)n))
		print("%s: the program with pid %d uses it; end that program first\n", name,
		      channel_user((unsigned int)n));
	else
		(void)failed(name, result);
	return -1;
}

/* Prints a text as it is, and other bytes in hexadecimal. */
static void print_item(const unsigned char *data, uint64_t bytes)
{
	uint64_t i, text = 0;

	if (bytes > SHOWN)
		bytes = SHOWN;
	while (text < bytes && data[text] >= ' ' && data[text] < 0x7f)
		text++;
	for (i = text; i < bytes && !data[i]; i++)
		;
	if (text && i == bytes) {
		for (i = 0; i < text; i++)
			print("%c", data[i]);
	} else {
		for (i = 0; i < bytes; i++)
			print("%02x", data[i]);
	}
	print("\n");
}

/* Peeks at the next item, and waits for it until TSC `at`. */
static int peek_until(struct qv_end *end, unsigned int n, const void **data, struct qv_item *item,
		      uint64_t at)
{
	uint64_t seen;
	int result;

	do {
		seen = bell_count(n);
		qv_end_arm(end, true);
		result = qv_end_peek(end, data, item);
	} while ((result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT ||
		  result == QV_CHAN_LAPPED) && rdtsc() < at && bell_wait(n, seen, at));
	qv_end_arm(end, false);
	return result;
}

static int chan_read(struct qv_end *end, unsigned int n, const char *name, uint64_t ms)
{
	uint64_t at = ms ? rdtsc() + ms * machine.tsc_khz : 0;
	unsigned char copy[SHOWN];
	struct qv_item item;
	const void *data;
	int result = peek_until(end, n, &data, &item, at);

	if (result)
		return failed(name, result);
	if (item.bytes > SHOWN)
		item.bytes = SHOWN;
	memcpy(copy, data, item.bytes);
	result = qv_end_release(end);
	if (result)
		return failed(name, result);
	if (end->page.type == QV_CHAN_RING)
		channel_ring_after(end, n);	/* its writer may wait for this slot */
	print_item(copy, item.bytes);
	return 0;
}

static int chan_write(struct qv_end *end, unsigned int n, const char *name, const char *text)
{
	size_t length = strlen(text);
	void *room;
	int result = length > end->page.item ? QV_CHAN_SIZE : qv_end_claim(end, &room);

	if (result)
		return failed(name, result);
	memset(room, 0, end->page.item);
	memcpy(room, text, length);
	result = qv_end_commit(end, end->page.item);
	if (result)
		return failed(name, result);
	channel_ring_after(end, n);
	return 0;
}

int command_chan(int argc, char **argv)
{
	bool read = argc >= 3 && argc <= 4 && !strcmp(argv[1], "read");
	struct qv_end *end;
	uint64_t ms = 0;
	int n, status;

	if (read ? argc == 4 && !words_number(argv[3], MOST_MS, &ms) :
	    argc != 4 || strcmp(argv[1], "write"))
		return SHELL_SHOW_USAGE;
	n = opened(argv[2], &end);
	if (n < 0)
		return SHELL_FAILED;
	status = read ? chan_read(end, (unsigned int)n, argv[2], ms) :
			chan_write(end, (unsigned int)n, argv[2], argv[3]);
	channel_close((unsigned int)n);
	return status;
}
