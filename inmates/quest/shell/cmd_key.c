// SPDX-License-Identifier: GPL-2.0-only
/* The command key: channels that the cell opens at run time. */
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/channel.h"
#include "../drivers/key.h"
#include "../user/include/quest/errors.h"
#include "shell.h"
#include "words.h"

#define SHOWN		64		/* bytes of an item that are printed */
#define PATIENCE_US	60000000	/* for the manager, which a slow host may delay */

static const char *const types[] = { "", "mailbox", "four-slot", "ring", "memory" };
static const char *const states[] = { "absent", "running", "stopped", "failed" };

static int failed(uint32_t key, const char *why)
{
	print("key %u: %s\n", key, why);
	return SHELL_FAILED;
}

static void show(unsigned int n, const struct qv_chan_page *page)
{
	const volatile struct qv_chan_page *life = (void *)(uintptr_t)channel_at(n)->address;
	unsigned int i, state;

	print("%u %s", (uint32_t)page->key, types[page->type]);
	for (i = 0; i < page->ends; i++) {
		state = QV_CHAN_STATE(life->end[i].life);
		print(" %s:%s", page->end[i].name,
		      state <= QV_CHAN_IS_FAILED ? states[state] : "?");
	}
	if (channel_user(n) > 0)
		print(" (used by pid %d)", channel_user(n));
	print("\n");
}

/* Interrupts are off while a line is put together: the channel may be closed afterwards. */
static int list(void)
{
	unsigned int n;
	bool irqs;

	for (n = 0; n < QV_INFO_MAX_CHANNELS; n++) {
		irqs = irq_save();
		if (key_page(n))
			show(n, key_page(n));
		irq_restore(irqs);
	}
	return 0;
}

static const char *type_name(unsigned int n)
{
	return n < QV_CHAN_MEMORY ? types[n + 1] : NULL;
}

/* key open KEY PEER read|write TYPE ITEM [SLOTS] */
static int open(uint32_t key, int argc, char **argv)
{
	struct quest_key wish = { .key = key, .writes = !strcmp(argv[4], "write"), .slots = 1 };
	char names[WORDS_CHOICES];
	int n;

	if ((!wish.writes && strcmp(argv[4], "read")) ||
	    !words_number(argv[6], QV_KEY_LEN, &wish.item) ||
	    (argc == 8 && !words_number(argv[7], QV_KEY_LEN, &wish.slots)))
		return SHELL_SHOW_USAGE;
	n = words_choice(argv[5], type_name, names);
	if (n < 0) {
		print("%s: there is no such type of channel (%s)\n", argv[5], names);
		return SHELL_USAGE;
	}
	wish.type = (uint32_t)n + 1;
	wish.full = wish.type == QV_CHAN_RING ? QV_CHAN_FULL_ERROR : 0;
	copy_string(wish.peer, argv[3], sizeof(wish.peer));
	n = key_open(&wish, NULL, rdtsc() + timer_from_us(PATIENCE_US));
	return n < 0 ? failed(key, strerror(n)) : 0;
}

/* Prints the item as a text, up to its first zero */
static int read(struct qv_end *end, uint32_t key)
{
	char copy[SHOWN + 1] = { 0 };
	struct qv_item item;
	const void *data;
	int result = qv_end_peek(end, &data, &item);

	if (result)
		return failed(key, qv_chan_sentence(result));
	memcpy(copy, data, item.bytes < SHOWN ? item.bytes : SHOWN);
	result = qv_end_release(end);
	if (result)
		return failed(key, qv_chan_sentence(result));
	print("%s\n", copy);
	return 0;
}

static int write(struct qv_end *end, uint32_t key, const char *text)
{
	size_t length = strlen(text);
	void *room;
	int result = length > end->page.item ? QV_CHAN_SIZE : qv_end_claim(end, &room);

	if (!result) {
		memset(room, 0, end->page.item);
		memcpy(room, text, length);
		result = qv_end_commit(end, end->page.item);
	}
	return result ? failed(key, qv_chan_sentence(result)) : 0;
}

static int close(unsigned int n)
{
	key_close(n);
	key_await_closed(n);
	return 0;
}

static int use(unsigned int n, uint32_t key, int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "close"))
		return close(n);
	if (argc == 3 && !strcmp(argv[1], "read"))
		return read(channel_end(n), key);
	if (argc == 4 && !strcmp(argv[1], "write"))
		return write(channel_end(n), key, argv[3]);
	return SHELL_SHOW_USAGE;
}

int command_key(int argc, char **argv)
{
	uint64_t key;
	int n;

	if (argc == 1)
		return list();
	if (argc < 3 || !words_number(argv[2], UINT32_MAX, &key))
		return SHELL_SHOW_USAGE;
	if ((argc == 7 || argc == 8) && !strcmp(argv[1], "open"))
		return open((uint32_t)key, argc, argv);
	n = key_find((uint32_t)key);
	if (n < 0)
		return failed((uint32_t)key, "it is not open: `key open` opens it");
	if (channel_user((unsigned int)n) > 0)
		return failed((uint32_t)key, "a program uses it: `key` shows its pid");
	return use((unsigned int)n, (uint32_t)key, argc, argv);
}
