// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/string.h>
#include "../dispatch.h"
#include "iovcpu.h"
#include "namedvcpu.h"
#include "../process/process.h"
#include "vcpu.h"
#include "vcpuword.h"

#define KEY_LENGTH	(sizeof(VCPUWORD_KEY) - 1)
/* the command line has room for at most so many words */
#define NAMED_MAX	(BOOT_CMDLINE / sizeof("vcpu=a,io,1s,2s"))

static struct {
	char word[KEY_LENGTH + SCHED_NAME];
	int id;
} named[NAMED_MAX];
static unsigned int num_named;

static bool taken(const char *name)
{
	const struct vcpu *v;
	int id;

	for (id = 0; id < SCHED_VCPUS; id++) {
		v = sched_vcpu(dispatch_sched(), id);
		if (v && !strcmp(v->params.name, name))
			return true;
	}
	return false;
}

/*
 * Runs for all words first. Takes the budget from each fixed VCPU that has a word. So if the words
 * can be admitted together, their order does not matter.
 */
static const char *make_room(const char *word, int *id)
{
	struct vcpu_wish wish;

	if (!vcpuword_read(word, &wish) && vcpu_fixed_find(wish.name) >= 0)
		(void)vcpu_fixed_set(vcpu_fixed_find(wish.name), BACKGROUND_VCPU, 0, 0);
	(void)id;
	return NULL;
}

/*
 * Gives a fixed VCPU the parameters of its word. If they are rejected, restores its default
 * parameters. Returns NULL or the reason.
 */
static const char *change(const char *word, int *id)
{
	struct vcpu_wish wish;
	int error;

	if (vcpuword_read(word, &wish))
		return NULL;
	*id = vcpu_fixed_find(wish.name);
	if (*id < 0)
		return NULL;
	error = vcpu_fixed_set(*id, wish.type, wish.budget_us, wish.period_us);
	if (!error)
		return NULL;
	(void)vcpu_fixed_default(*id);
	return sched_error_text(error);
}

/*
 * Creates the VCPU of a word, unless the word names a fixed VCPU. Returns NULL, or the reason why
 * it failed.
 */
static const char *add(const char *word, int *id)
{
	struct vcpu_wish wish;
	const char *wrong = vcpuword_read(word, &wish);

	*id = -1;
	if (wrong)
		return wrong;
	if (vcpu_fixed_find(wish.name) >= 0)
		return NULL;
	if (taken(wish.name))
		return "there is a VCPU of that name: use another";
	if (num_named == NAMED_MAX)
		return sched_error_text(SCHED_FULL);
	*id = vcpu_create(wish.name, wish.type, wish.budget_us, wish.period_us, KERNEL_PID);
	if (*id < 0)
		return sched_error_text(*id);
	iovcpu_set(*id, wish.io_class, false);
	memcpy(named[num_named].word, VCPUWORD_KEY, KEY_LENGTH);
	copy_string(named[num_named].word + KEY_LENGTH, wish.name, SCHED_NAME);
	named[num_named++].id = *id;
	return NULL;
}

/* Copies a word as far as there is room. Replaces characters that are not printable. */
static void copy_word(char word[VCPUWORD_MAX + 1], const char *at, size_t length)
{
	size_t i;

	for (i = 0; i < length && i < VCPUWORD_MAX; i++)
		word[i] = at[i] > ' ' && at[i] <= '~' ? at[i] : '?';
	word[i] = 0;
}

/* Calls `what` for each word, and prints the result. */
static void for_each_word(const struct boot_info *boot,
			  const char *(*what)(const char *word, int *id))
{
	const char *at, *wrong;
	char word[VCPUWORD_MAX + 1];
	size_t length;
	int id;

	for (at = boot_word(boot->cmdline, &length); length; at = boot_word(at + length, &length)) {
		if (length < KEY_LENGTH || memcmp(at, VCPUWORD_KEY, KEY_LENGTH))
			continue;
		copy_word(word, at, length);
		id = -1;
		wrong = what(word, &id);
		if (wrong)
			print("%s is not there: %s\n", word, wrong);
		else if (id >= 0)
			print("%s is VCPU %d\n", word, id);
	}
}

void namedvcpus_init(const struct boot_info *boot)
{
	for_each_word(boot, make_room);
	for_each_word(boot, change);
	for_each_word(boot, add);
}

int namedvcpu_find(const char *word)
{
	unsigned int i;

	for (i = 0; i < num_named; i++)
		if (!strcmp(named[i].word, word))
			return named[i].id;
	return SCHED_NO_VCPU;
}

const char *namedvcpu_word(unsigned int i)
{
	return i < num_named ? named[i].word : NULL;
}
