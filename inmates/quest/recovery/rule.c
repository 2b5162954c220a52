// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/string.h>
#include "../kernel/timeword.h"
#include "rule.h"

#define NUMBER_MAX	1000000

/* A rule while its line is read. */
struct reading {
	struct component_rule *rule;
	const struct component_rule *earlier;
	unsigned int n;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts the next word off. Returns NULL at the end of the line. */
static char *next_word(char **at)
{
	char *word;

	while (is_blank(**at))
		(*at)++;
	word = *at;
	while (**at && !is_blank(**at))
		(*at)++;
	if (**at)
		*(*at)++ = 0;
	return *word ? word : NULL;
}

/* Cuts `text` at the first `mark`. Returns the part behind it, or NULL if there is no mark. */
static char *cut(char *text, char mark)
{
	for (; *text; text++) {
		if (*text != mark)
			continue;
		*text = 0;
		return text + 1;
	}
	return NULL;
}

static bool read_number(const char *text, uint64_t max, uint64_t *value)
{
	if (!*text)
		return false;
	for (*value = 0; *text >= '0' && *text <= '9' && *value <= max; text++)
		*value = *value * 10 + (uint64_t)(*text - '0');
	return !*text && *value && *value <= max;
}

static bool read_us(const char *text, uint64_t *us)
{
	return text && timeword_read(text, strlen(text), us);
}

static bool read_name(char *to, const char *from, size_t size)
{
	if (!from || !*from || strlen(from) >= size)
		return false;
	(void)copy_string(to, from, size);
	return true;
}

static int find_rule(const struct reading *r, const char *name)
{
	unsigned int i;

	for (i = 0; i < r->n; i++)
		if (!strcmp(r->earlier[i].name, name))
			return (int)i;
	return -1;
}

static const char *read_needs(struct reading *r, char *value)
{
	char *rest;
	int one;

	for (; value; value = rest) {
		rest = cut(value, ',');
		one = find_rule(r, value);
		if (one < 0)
			return "needs= names components of lines above this one";
		r->rule->needs |= 1u << one;
	}
	return NULL;
}

static const char *time_limit(struct reading *r, char *value, enum detector_id d)
{
	return read_us(value, &r->rule->limit[d]) ? NULL :
	       "beat=, late= and stall= need a time such as 500us, 20ms or 1s, of at most 600s";
}

static const char *number_limit(struct reading *r, char *value, enum detector_id d)
{
	return read_number(value, NUMBER_MAX, &r->rule->limit[d]) ? NULL :
	       "pages= and files= need a number of 1 to 1000000";
}

static const char *read_beat(struct reading *r, char *value)
{
	return time_limit(r, value, DETECT_BEAT);
}

static const char *read_late(struct reading *r, char *value)
{
	return time_limit(r, value, DETECT_LATE);
}

static const char *read_stall(struct reading *r, char *value)
{
	return time_limit(r, value, DETECT_STALL);
}

static const char *read_pages(struct reading *r, char *value)
{
	return number_limit(r, value, DETECT_PAGES);
}

static const char *read_files(struct reading *r, char *value)
{
	return number_limit(r, value, DETECT_FILES);
}

static const char *read_channel(struct reading *r, char *value)
{
	char *time = cut(value, ',');

	return read_name(r->rule->channel, value, CHANNEL_NAME) &&
	       read_us(time, &r->rule->limit[DETECT_CHANNEL]) ? NULL :
	       "use channel=NAME,TIME, such as channel=sensor,50ms";
}

static const char *read_checkpoint(struct reading *r, char *value)
{
	char *age = cut(value, ',');

	return read_number(value, CHECKPOINT_MAX, &r->rule->checkpoint_bytes) &&
	       read_us(age, &r->rule->checkpoint_us) ? NULL :
	       "use checkpoint=BYTES,AGE, such as checkpoint=4096,2s, with at most 65536 bytes";
}

static const char *read_takeover(struct reading *r, char *value)
{
	struct component_rule *rule = r->rule;
	char *receive = cut(value, ','), *time = receive ? cut(receive, ',') : NULL;

	if (rule->send[0])
		return "a component has one other cell: takeover= may appear once";
	if (!read_name(rule->send, value, CHANNEL_NAME) ||
	    !read_name(rule->receive, receive, CHANNEL_NAME) || !read_us(time, &rule->takeover_us))
		return "use takeover=SEND,RECEIVE,TIME, such as takeover=there,back,50ms";
	if (rule->num_strategies == STRATEGIES_MAX)
		return "a component has at most 8 strategies";
	rule->strategies[rule->num_strategies++] =
		(struct strategy){ .kind = STRATEGY_TAKEOVER };
	return NULL;
}

static const char *read_replica(struct reading *r, char *value)
{
	char *rest = value;
	unsigned int i, others = 0;

	for (i = 0; i < r->n; i++)
		others += r->earlier[i].replica[0][0] != 0;
	if (others >= REPLICAS_MAX || r->rule->replica[0][0])
		return "replica= may appear once in a line, and in three lines";
	for (i = 0; i < REPLICA_CHANNELS && rest; i++) {
		value = rest;
		rest = cut(value, ',');
		if (!read_name(r->rule->replica[i], value, CHANNEL_NAME))
			break;
	}
	return i == REPLICA_CHANNELS && read_us(rest, &r->rule->limit[DETECT_BEHIND]) ? NULL :
	       "use replica=SEND,RECEIVE,RECEIVE,TIME, such as replica=mine,one,two,50ms";
}

static const char *read_standby(struct reading *r, char *value)
{
	r->rule->standby = true;
	return value ? "`standby` has no value" : NULL;
}

/* The exit status 0 is no fault: DETECT_EXIT measures 1 plus the status. */
static const char *read_ends(struct reading *r, char *value)
{
	r->rule->limit[DETECT_EXIT] = 1;
	return value ? "`ends` has no value" : NULL;
}

/* Adds a strategy with its limit N/TIME. */
static const char *add(struct reading *r, enum strategy_kind kind, const char *program, char *times)
{
	struct strategy *s = &r->rule->strategies[r->rule->num_strategies];
	char *within = times ? cut(times, '/') : NULL;
	uint64_t n;

	if (r->rule->num_strategies == STRATEGIES_MAX)
		return "a component has at most 8 strategies";
	if (!times || !read_number(times, STRATEGY_TIMES_MAX, &n) ||
	    !read_us(within, &s->within_us))
		return "restart, instead and rollback need a limit of N/TIME, such as 3/10s, "
		       "with an N of at most 16";
	s->kind = kind;
	s->times = (unsigned int)n;
	if (program && !read_name(s->program, program, ARCHIVE_NAME))
		return "use instead=PROGRAM,N/TIME, such as instead=simple,3/10s";
	r->rule->num_strategies++;
	return NULL;
}

static const char *read_restart(struct reading *r, char *value)
{
	return add(r, STRATEGY_RESTART, NULL, value);
}

static const char *read_instead(struct reading *r, char *value)
{
	char *times = value ? cut(value, ',') : NULL;

	return add(r, STRATEGY_INSTEAD, value ? value : "", times);
}

static const char *read_rollback(struct reading *r, char *value)
{
	return add(r, STRATEGY_ROLLBACK, NULL, value);
}

static const char *read_cell(struct reading *r, char *value)
{
	if (value)
		return "`cell` has no value";
	if (r->rule->num_strategies == STRATEGIES_MAX)
		return "a component has at most 8 strategies";
	r->rule->strategies[r->rule->num_strategies++] =
		(struct strategy){ .kind = STRATEGY_CELL };
	return NULL;
}

static const struct {
	const char *name;
	bool valued;
	const char *(*read)(struct reading *r, char *value);
} keys[] = {
	{ "needs", true, read_needs }, { "beat", true, read_beat }, { "late", true, read_late },
	{ "stall", true, read_stall }, { "pages", true, read_pages }, { "files", true, read_files },
	{ "channel", true, read_channel }, { "checkpoint", true, read_checkpoint },
	{ "ends", false, read_ends }, { "restart", true, read_restart },
	{ "instead", true, read_instead }, { "rollback", true, read_rollback },
	{ "cell", false, read_cell }, { "takeover", true, read_takeover },
	{ "standby", false, read_standby }, { "replica", true, read_replica },
};

static const char *read_word(struct reading *r, char *word)
{
	char *value = cut(word, '=');
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(word, keys[i].name))
			continue;
		return keys[i].valued && !value ? "that word needs a value: WORD=VALUE" :
		       keys[i].read(r, value);
	}
	return "a word before the colon is needs=, a detector (beat=, late=, stall=, pages=, "
	       "files=, channel=, replica=), ends, checkpoint=, standby, or a strategy "
	       "(restart=, instead=, rollback=, takeover=, cell)";
}

static const char *read_command(struct component_rule *rule, char *at)
{
	char *word = next_word(&at);

	if (!word || !read_name(rule->args.file, word, ARCHIVE_NAME))
		return "behind the colon there is a program with its arguments";
	for (; word; word = next_word(&at))
		if (!program_add_arg(&rule->args, word))
			return "the arguments are too many, or too long";
	return NULL;
}

static const char *read_head(struct reading *r, char **at)
{
	char *name = next_word(at), *times = next_word(at);
	char *period = times ? cut(times, '/') : NULL;

	if (!name || !read_name(r->rule->name, name, COMPONENT_NAME))
		return "a line begins with the component's name, of at most 15 characters";
	if (find_rule(r, name) >= 0)
		return "there is a component of that name above";
	if (!times || !read_us(times, &r->rule->budget_us) || !read_us(period, &r->rule->period_us))
		return "behind the name there is the VCPU as C/T, such as 5ms/100ms";
	return NULL;
}

bool rule_is_blank(const char *line)
{
	while (is_blank(*line))
		line++;
	return !*line || *line == '#';
}

/* Checks what depends on several words. */
static const char *check(const struct component_rule *rule)
{
	unsigned int i;

	for (i = 0; i < rule->num_strategies; i++)
		if (rule->strategies[i].kind == STRATEGY_ROLLBACK && !rule->checkpoint_bytes)
			return "rollback= needs checkpoint=BYTES,AGE";
	if (rule->standby && !rule->send[0])
		return "standby needs takeover=SEND,RECEIVE,TIME";
	if (rule->send[0] && (rule->needs || rule->limit[DETECT_EXIT]))
		return "a component with takeover= has neither needs= nor ends";
	if (rule->replica[0][0] && (rule->send[0] || !rule->checkpoint_bytes))
		return "replica= needs checkpoint=BYTES,AGE, and no takeover=";
	return NULL;
}

const char *rule_read(char *line, const struct component_rule *earlier, unsigned int n,
		      struct component_rule *rule)
{
	struct reading r = { rule, earlier, n };
	const char *wrong;
	char *word;

	memset(rule, 0, sizeof(*rule));
	wrong = read_head(&r, &line);
	while (!wrong) {
		word = next_word(&line);
		if (!word)
			return "behind the words there is a colon between blanks, then the program";
		if (!strcmp(word, ":"))
			break;
		wrong = read_word(&r, word);
	}
	if (!wrong)
		wrong = read_command(rule, line);
	return wrong ? wrong : check(rule);
}
