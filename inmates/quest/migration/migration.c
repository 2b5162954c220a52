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
#include "../user/include/quest/errors.h"
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

	for (i = 0; i < num_links; i++)
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

int migration_wish(struct process *p, int link, uint64_t until)
{
	return migration_cell(link) ? wishes_add(p, link, until) : -EINVAL;
}

static void work(void *arg)
{
	struct mig_link *l = arg;

	if (l->outgoing)
		mig_source_work(l, (int)(l - links));
	mig_destination_work(l);
}

/* Opens the channel `name` as a link. Returns NULL, or why that is not possible. */
static const char *open_link(struct mig_link *l, const char *name)
{
	int n = channel_find(name), result;

	if (n < 0)
		return "the cell has no such channel";
	result = channel_open((unsigned int)n, &l->stream.end);
	if (result)
		return qv_chan_sentence(result);
	l->stream.n = (unsigned int)n;
	l->outgoing = !l->stream.end->self;
	if (l->stream.end->page.type == QV_CHAN_MAILBOX && l->stream.end->page.item >= LEAST_ITEM)
		return NULL;
	channel_close((unsigned int)n);
	return "programs move by a mailbox whose items have at least 256 bytes";
}

static void add_link(const char *name, int vcpu)
{
	const char *why = num_links < LINKS_MAX ? open_link(&links[num_links], name) :
						  "there are too many links: 8 at most";

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
	char name[QV_CHAN_NAME_LEN];
	int vcpu = -1;

	for (at = boot_word(at, &length); length; at = boot_word(at + length, &length)) {
		if (length <= key || memcmp(at, WORD, key))
			continue;
		if (vcpu < 0)
			vcpu = vcpu_of_links();
		if (vcpu < 0)
			return;
		copy_string(name, at + key, length - key < sizeof(name) ? length - key + 1 :
									  sizeof(name));
		add_link(name, vcpu);
	}
}
