// SPDX-License-Identifier: GPL-2.0-only
/* The links of this cell, and the programs that wish to move by them. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../drivers/channel.h"
#include "../kernel/process/process.h"
#include "../kernel/vcpu/namedvcpu.h"
#include "../kernel/vcpu/vcpu.h"
#include "../kernel/vcpu/vcpuword.h"
#include "../mm/arena.h"
#include "../user/include/quest/errors.h"
#include "costs.h"
#include "link.h"
#include "migration.h"
#include "wishes.h"

#define WORD		"migrate="
#define VCPU_NAME	"migration"
/* C and T of the migration VCPU in us: by messages, as in Ye Li's dissertation, section 4.3 */
#define BUDGET_US	10000
#define PERIOD_US	200000
#define LEAST_ITEM	256

static struct mig_link links[LINKS_MAX];
static int num_links;
static int own_arena = -1;		/* number of its channel; -1: none */

struct mig_link *mig_link_at(int i)
{
	return i >= 0 && i < num_links ? &links[i] : NULL;
}

const char *migration_cell(int link)
{
	const struct mig_link *l = mig_link_at(link);

	return l && l->outgoing ? mig_link_cell(l) : NULL;
}

int migration_nth(int n)
{
	int i;

	for (i = 0; n >= 0 && i < num_links; i++)
		if (links[i].outgoing && !n--)
			return i;
	return -1;
}

int migration_find(const char *name)
{
	int i;

	for (i = 0; i < num_links; i++)
		if (links[i].outgoing && !strcmp(mig_link_cell(&links[i]), name))
			return i;
	return -1;
}

int migration_wish(struct process *p, int link, uint64_t until, bool strict)
{
	return migration_cell(link) ? wishes_add(p, link, until, strict) : -EINVAL;
}

static void work(void *arg)
{
	struct mig_link *l = arg;

	if (l->outgoing)
		mig_source_work(l, (int)(l - links));
	mig_destination_work(l);
}

bool migration_pending(struct process *p)
{
	wishes_expire(p);
	return p->wish.link;
}

/* Opens the channel `name`. Returns its number; negative: *why says why that is not possible. */
static int open_channel(const char *name, struct qv_end **end, const char **why)
{
	int n = channel_find(name), result = QV_CHAN_DONE;

	*why = NULL;
	if (n < 0)
		*why = "the cell has no such channel";
	else
		result = channel_open((unsigned int)n, end);
	if (result)
		*why = qv_chan_sentence(result);
	return *why ? -1 : n;
}

/* Opens the channel `name` as a link. Returns NULL, or why that is not possible. */
static const char *open_link(struct mig_link *l, const char *name)
{
	const char *why;
	int n = open_channel(name, &l->stream.end, &why);

	if (n < 0)
		return why;
	l->stream.n = (unsigned int)n;
	l->outgoing = !l->stream.end->self;
	if (l->stream.end->page.type == QV_CHAN_MAILBOX && l->stream.end->page.item >= LEAST_ITEM)
		return NULL;
	channel_close((unsigned int)n);
	return "programs move by a mailbox whose items have at least 256 bytes";
}

/* Makes the memory `data` the arena of the link, or of this cell. */
static const char *use_arena(struct mig_link *l, void *data, uint64_t bytes, bool writable)
{
	if (!l->outgoing) {
		l->arena = data;
		l->arena_bytes = bytes;
		return NULL;
	}
	if (!writable)
		return "this cell may not write its arena";
	if (arena_managed())
		return "a cell has one arena";
	arena_init((uintptr_t)data, bytes);
	l->names_pages = true;
	return NULL;
}

/* Opens the channel `name`, if it is not empty, as the arena of a link. */
static const char *open_arena(struct mig_link *l, const char *name)
{
	const char *why;
	struct qv_end *end;
	bool writable;
	uint64_t bytes;
	void *data;
	int n;

	if (!*name)
		return NULL;
	/* several links of this cell may have the same arena */
	n = channel_find(name);
	if (l->outgoing && n >= 0 && n == own_arena) {
		l->names_pages = true;
		l->arena_session = channel_page((unsigned int)n)->session;
		return NULL;
	}
	n = open_channel(name, &end, &why);
	if (n < 0)
		return why;
	if (qv_end_memory(end, &data, &bytes, &writable))
		why = "the arena is not a channel of type `memory`";
	else
		why = use_arena(l, data, bytes, writable);
	if (why) {
		channel_close((unsigned int)n);
		return why;
	}
	l->arena_session = end->page.session;
	if (l->outgoing)
		own_arena = n;
	return NULL;
}

/* Returns the first comma of `text`; NULL: it has none. */
static char *comma_of(char *text)
{
	while (*text && *text != ',')
		text++;
	return *text ? text : NULL;
}

/* Adds the link CHANNEL or CHANNEL,MEMORY. */
static void add_link(char *name, int vcpu)
{
	char *comma = comma_of(name);
	struct mig_link *l = &links[num_links];
	const char *why;

	if (comma)
		*comma++ = '\0';
	why = num_links < LINKS_MAX ? open_link(l, name) : "there are too many links: 8 at most";
	if (!why)
		why = open_arena(l, comma ? comma : "");
	if (!why && thread_create("migration", vcpu, work, &links[num_links]) < 0)
		why = "there is no memory for its thread";
	if (why)
		print("migrate=%s: %s\n", name, why);
	else
		num_links++;
}

/* Returns the VCPU of the migration threads. If it is not admitted, prints why. */
static int vcpu_of_links(void)
{
	int id = namedvcpu_find(VCPUWORD_KEY VCPU_NAME);

	if (id < 0)
		id = vcpu_create(VCPU_NAME, MAIN_VCPU, BUDGET_US, PERIOD_US, KERNEL_PID);
	if (id < 0)
		print("no program can move: VCPU %s: %s\n", VCPU_NAME, sched_error_text(id));
	return id;
}

void migration_start(const struct boot_info *boot)
{
	const char *at = boot->cmdline;
	size_t length, key = strlen(WORD);
	char name[2 * QV_CHAN_NAME_LEN];
	int vcpu = -1;

	for (at = boot_word(at, &length); length; at = boot_word(at + length, &length)) {
		if (length <= key || memcmp(at, WORD, key))
			continue;
		if (vcpu < 0) {
			vcpu = vcpu_of_links();
			mig_costs_start();
		}
		if (vcpu < 0)
			return;
		copy_string(name, at + key, length - key < sizeof(name) ? length - key + 1 :
									  sizeof(name));
		add_link(name, vcpu);
	}
}
