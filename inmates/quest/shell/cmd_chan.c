// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/string.h>
#include "../drivers/channel.h"
#include "shell.h"

#define SHOWN	64		/* bytes of an item that are printed */

static const char *const types[] = { "", "mailbox", "four-slot", "ring", "memory" };
static const char *const states[] = { "absent", "running", "stopped", "failed" };

static const struct qv_chan_page *life_page(const struct qv_info_channel *c)
{
	struct qv_end *end;

	return channel_open(c->name, &end) ? NULL : &end->page;
}

int command_channels(int argc, char **argv)
{
	const struct qv_info_channel *c;
	const struct qv_chan_page *page;
	unsigned int n, i;

	(void)argv;
	if (argc != 1)
		return SHELL_SHOW_USAGE;
	for (n = 0; (c = channel_nth(n)); n++) {
		page = life_page(c);
		print("%s %s", c->name, c->type <= QV_CHAN_MEMORY ? types[c->type] : "?");
		for (i = 0; page && i < page->ends; i++) {
			const volatile struct qv_chan_page *now = (void *)(uintptr_t)c->address;
			unsigned int state = QV_CHAN_STATE(now->end[i].life);

			print(" %s:%s", page->end[i].name,
			      state <= QV_CHAN_IS_FAILED ? states[state] : "?");
		}
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

static int chan_read(const char *name)
{
	const void *data;
	struct qv_item item;
	struct qv_end *end;
	unsigned char copy[SHOWN];
	int result = channel_open(name, &end);

	if (!result)
		result = qv_end_peek(end, &data, &item);
	if (result)
		return failed(name, result);
	if (item.bytes > SHOWN)
		item.bytes = SHOWN;
	memcpy(copy, data, item.bytes);
	result = qv_end_release(end);
	if (result)
		return failed(name, result);
	print_item(copy, item.bytes);
	return 0;
}

static int chan_write(const char *name, const char *text)
{
	size_t length = strlen(text);
	struct qv_end *end;
	void *room;
	int result = channel_open(name, &end);

	if (!result && length > end->page.item)
		result = QV_CHAN_SIZE;
	if (!result)
		result = qv_end_claim(end, &room);
	if (result)
		return failed(name, result);
	memset(room, 0, end->page.item);
	memcpy(room, text, length);
	result = qv_end_commit(end, end->page.item);
	return result ? failed(name, result) : 0;
}

int command_chan(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "read"))
		return chan_read(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "write"))
		return chan_write(argv[2], argv[3]);
	return SHELL_SHOW_USAGE;
}
