// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery: lines that declare components are read, or rejected with a reason; for each fault the
 * first strategy whose limit allows it is chosen; the components that a fault affects.
 */
#include <string.h>
#include "../quest/recovery/decide.h"
#include "unit.h"

static struct component_rule rules[COMPONENTS_MAX];
static unsigned int n;

static const char *read_line(const char *line)
{
	static char copy[512];
	const char *wrong;

	(void)strncpy(copy, line, sizeof(copy) - 1);
	wrong = rule_read(copy, rules, n, &rules[n]);
	n += !wrong;
	return wrong;
}

TEST(recovery_line_with_all_words)
{
	const struct component_rule *r;

	n = 0;
	CHECK(rule_is_blank("") && rule_is_blank(" \t") && rule_is_blank("  # web"));
	CHECK(!rule_is_blank(" web"));
	CHECK(!read_line("disk 1ms/10ms standby takeover=mine,yours,50ms cell : disk"));
	r = &rules[0];
	CHECK(r->standby && !strcmp(r->send, "mine") && !strcmp(r->receive, "yours") &&
	      r->takeover_us == 50000 && r->strategies[0].kind == STRATEGY_TAKEOVER);
	CHECK(!read_line("\tweb  5ms/100ms needs=disk beat=50ms late=1ms stall=1s pages=9 files=5 "
			 "channel=talk,20ms ends checkpoint=4096,2s restart=3/10s "
			 "instead=old,2/60s rollback=1/500us cell : httpd -p 80\r"));
	r = &rules[1];
	CHECK(!strcmp(r->name, "web") && r->budget_us == 5000 && r->period_us == 100000);
	CHECK_EQ(r->needs, 1);
	CHECK(r->limit[DETECT_BEAT] == 50000 && r->limit[DETECT_LATE] == 1000 &&
	      r->limit[DETECT_STALL] == 1000000 && r->limit[DETECT_PAGES] == 9 &&
	      r->limit[DETECT_FILES] == 5 && r->limit[DETECT_CHANNEL] == 20000 &&
	      r->limit[DETECT_EXIT] == 1 && !r->limit[DETECT_EXCEPTION]);
	CHECK(!strcmp(r->channel, "talk") && r->checkpoint_bytes == 4096 &&
	      r->checkpoint_us == 2000000);
	CHECK_EQ(r->num_strategies, 4);
	CHECK(r->strategies[0].kind == STRATEGY_RESTART && r->strategies[0].times == 3 &&
	      r->strategies[0].within_us == 10000000);
	CHECK(r->strategies[1].kind == STRATEGY_INSTEAD &&
	      !strcmp(r->strategies[1].program, "old"));
	CHECK(r->strategies[2].kind == STRATEGY_ROLLBACK && r->strategies[2].within_us == 500);
	CHECK(r->strategies[3].kind == STRATEGY_CELL && !r->strategies[3].times);
	CHECK(!r->replica[0][0] && !r->limit[DETECT_BEHIND]);
	CHECK(!read_line("vote 1ms/10ms checkpoint=8,1s replica=own,one,two,50ms cell : v"));
	CHECK(!strcmp(rules[2].replica[0], "own") && !strcmp(rules[2].replica[1], "one") &&
	      !strcmp(rules[2].replica[2], "two") && rules[2].limit[DETECT_BEHIND] == 50000 &&
	      rules[2].num_strategies == 1);
	CHECK(!strcmp(r->args.file, "httpd") && r->args.count == 3 &&
	      !memcmp(r->args.text, "httpd\0-p\0" "80", 12));
}

TEST(recovery_wrong_lines)
{
	static const struct { const char *line, *part; } rows[] = {
		{ "a-name-of-16-ch. 1ms/2ms : p", "component's name" },
		{ "disk 1ms/2ms : p", "of that name above" },
		{ "web", "as C/T" }, { "web 1ms : p", "as C/T" }, { "web 1/2 : p", "as C/T" },
		{ "web 0ms/2ms : p", "as C/T" }, { "web 1ms/601s : p", "as C/T" },
		{ "web 1ms/2ms", "a colon" }, { "web 1ms/2ms p", "a word before the colon" },
		{ "web 1ms/2ms :", "there is a program" },
		{ "web 1ms/2ms needs=web : p", "lines above" },
		{ "web 1ms/2ms needs= : p", "lines above" },
		{ "web 1ms/2ms beat : p", "needs a value" },
		{ "web 1ms/2ms beat=5 : p", "need a time" },
		{ "web 1ms/2ms pages=0 : p", "need a number" },
		{ "web 1ms/2ms files=1x : p", "need a number" },
		{ "web 1ms/2ms pages=1000001 : p", "need a number" },
		{ "web 1ms/2ms channel=talk : p", "use channel=" },
		{ "web 1ms/2ms checkpoint=65537,1s : p", "use checkpoint=" },
		{ "web 1ms/2ms ends=1 : p", "no value" }, { "web 1ms/2ms cell=1 : p", "no value" },
		{ "web 1ms/2ms restart=3 : p", "N/TIME" },
		{ "web 1ms/2ms restart=17/1s : p", "N/TIME" },
		{ "web 1ms/2ms restart=0/1s : p", "N/TIME" },
		{ "web 1ms/2ms instead=p : p", "N/TIME" },
		{ "web 1ms/2ms instead=,1/1s : p", "instead=PROGRAM" },
		{ "web 1ms/2ms rollback=1/1s : p", "needs checkpoint=" },
		{ "web 1ms/2ms takeover=a,b : p", "use takeover=" },
		{ "web 1ms/2ms takeover=a,,1s : p", "use takeover=" },
		{ "web 1ms/2ms takeover=a,b,1s takeover=c,d,1s : p", "once" },
		{ "web 1ms/2ms standby=1 takeover=a,b,1s : p", "no value" },
		{ "web 1ms/2ms standby : p", "needs takeover=" },
		{ "web 1ms/2ms takeover=a,b,1s ends : p", "neither needs= nor ends" },
		{ "web 1ms/2ms takeover=a,b,1s needs=disk : p", "neither needs= nor ends" },
		{ "web 1ms/2ms checkpoint=8,1s replica=a,b,1s : p", "use replica=" },
		{ "web 1ms/2ms checkpoint=8,1s replica=a,b,c : p", "use replica=" },
		{ "web 1ms/2ms checkpoint=8,1s replica=a,b,c,d,1s : p", "use replica=" },
		{ "web 1ms/2ms checkpoint=8,1s replica=a,b,c,1s replica=a,b,c,1s : p", "once" },
		{ "web 1ms/2ms replica=a,b,c,1s : p", "needs checkpoint=" },
		{ "web 1ms/2ms checkpoint=8,1s takeover=a,b,1s replica=c,d,e,1s : p",
		  "no takeover=" },
		{ "web 1ms/2ms cell cell cell cell cell cell cell cell cell : p", "at most 8" },
		{ "web 1ms/2ms : p 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "too many" },
	};
	unsigned int i;
	const char *wrong;

	n = 0;
	CHECK(!read_line("disk 1ms/10ms : disk"));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_case("%s", rows[i].line);
		wrong = read_line(rows[i].line);
		CHECK(wrong && strstr(wrong, rows[i].part));
		CHECK_EQ(n, 1);
	}
}

/* Any bytes: no memory outside the line is read, and an accepted line is within the limits. */
TEST(recovery_lines_of_random_words)
{
	static const char *const words[] = {
		" ", ":", "=", ",", "/", "web", "1ms", "2ms/3s", "needs", "beat", "files",
		"channel", "checkpoint", "takeover", "replica", "a,b,c,1s",
		"standby", "restart", "instead", "rollback",
		"cell", "ends",
		"99999999999999999999",
		"\t", "#", "\377", "16", " : ", " web 1ms/2ms ",
	};
	char line[256];
	unsigned int i, j;

	for (i = 0; i < 20000; i++) {
		line[0] = 0;
		if (rnd_below(2))
			strcat(line, "web 1ms/2ms ");
		for (j = rnd_below(12); j--;)
			strcat(line, words[rnd_below(sizeof(words) / sizeof(words[0]))]);
		n = 0;
		if (!read_line(line))
			CHECK(rules[0].args.count && rules[0].args.count <= ARGS_MAX &&
			      rules[0].num_strategies <= STRATEGIES_MAX && rules[0].budget_us &&
			      rules[0].period_us && !rules[0].needs);
	}
}

static struct history history;
static bool other_waits;

static enum strategy_kind at(uint64_t ms, bool checkpoint)
{
	return decide(&rules[0], &history, checkpoint, other_waits, ms * 1000)->kind;
}

static void declare(const char *line)
{
	n = 0;
	memset(&history, 0, sizeof(history));
	CHECK(!read_line(line));
}

TEST(recovery_strategies_in_order)
{
	declare("web 1ms/2ms restart=2/1s instead=old,1/10s : p");
	CHECK_EQ(at(0, false), STRATEGY_RESTART);
	CHECK_EQ(at(1, false), STRATEGY_RESTART);
	CHECK_EQ(at(2, false), STRATEGY_INSTEAD);
	CHECK_EQ(at(3, false), STRATEGY_GIVE_UP);
	/* the first restart is 1 s old now, the second one is not */
	CHECK_EQ(at(1000, false), STRATEGY_RESTART);
	CHECK_EQ(at(1000, false), STRATEGY_GIVE_UP);
	CHECK_EQ(at(1001, false), STRATEGY_RESTART);
	CHECK_EQ(at(1002, false), STRATEGY_GIVE_UP);
	CHECK_EQ(at(10001, false), STRATEGY_RESTART);
	CHECK_EQ(at(10001, false), STRATEGY_RESTART);
	CHECK_EQ(at(10001, false), STRATEGY_GIVE_UP);
	CHECK_EQ(at(10002, false), STRATEGY_INSTEAD);
}

TEST(recovery_rollback_needs_a_checkpoint)
{
	declare("web 1ms/2ms checkpoint=8,1s rollback=1/1s restart=1/1s cell : p");
	CHECK_EQ(at(0, false), STRATEGY_RESTART);
	CHECK_EQ(at(1, true), STRATEGY_ROLLBACK);
	CHECK_EQ(at(2, true), STRATEGY_CELL);
	CHECK_EQ(at(3, false), STRATEGY_CELL);
	CHECK_EQ(at(1001, true), STRATEGY_ROLLBACK);
	declare("web 1ms/2ms : p");
	CHECK_EQ(at(0, true), STRATEGY_GIVE_UP);
}

TEST(recovery_takeover_needs_another_cell)
{
	declare("web 1ms/2ms restart=1/1s takeover=a,b,50ms cell : p");
	CHECK_EQ(at(0, false), STRATEGY_RESTART);
	CHECK_EQ(at(1, false), STRATEGY_CELL);
	other_waits = true;
	CHECK_EQ(at(2, false), STRATEGY_TAKEOVER);
	other_waits = false;
}

/* In any window of its length, a strategy is used at most as often as its limit says. */
TEST(recovery_limits_hold_for_random_faults)
{
	uint64_t used[2][1000], now = 0;
	unsigned int count[2] = { 0 }, i, kind;

	declare("web 1ms/2ms restart=16/1s instead=old,3/200ms : p");
	for (i = 0; i < 1000; i++) {
		now += rnd_below(40);
		kind = at(now, false);
		if (kind == STRATEGY_GIVE_UP)
			continue;
		CHECK(kind <= STRATEGY_INSTEAD);
		used[kind][count[kind]++] = now;
	}
	CHECK(count[0] > 100 && count[1] > 100);
	for (i = 16; i < count[0]; i++)
		CHECK(used[0][i] - used[0][i - 16] >= 1000);
	for (i = 3; i < count[1]; i++)
		CHECK(used[1][i] - used[1][i - 3] >= 200);
}

TEST(recovery_affects_what_needs_it)
{
	n = 0;
	CHECK(!read_line("disk 1ms/2ms : p"));
	CHECK(!read_line("net 1ms/2ms : p"));
	CHECK(!read_line("files 1ms/2ms needs=disk : p"));
	CHECK(!read_line("web 1ms/2ms needs=net,files : p"));
	CHECK(!read_line("log 1ms/2ms : p"));
	CHECK_EQ(decide_affected(rules, n, 0), 1 << 0 | 1 << 2 | 1 << 3);
	CHECK_EQ(decide_affected(rules, n, 1), 1 << 1 | 1 << 3);
	CHECK_EQ(decide_affected(rules, n, 3), 1 << 3);
	CHECK_EQ(decide_affected(rules, n, 4), 1 << 4);
}
