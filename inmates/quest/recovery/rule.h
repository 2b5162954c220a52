/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of a recovery file. Each declares a component, which is a program, with the detectors
 * of its faults, and the strategies after a fault. Documentation/how-to/recovery.md describes the
 * words. Pure.
 */
#ifndef QUEST_RECOVERY_RULE_H
#define QUEST_RECOVERY_RULE_H

#include <stdbool.h>
#include <stdint.h>
#include "../kernel/program.h"

#define COMPONENTS_MAX		16
#define COMPONENT_NAME		16	/* longest name with its NUL; also the name of a VCPU */
#define STRATEGIES_MAX		8
#define STRATEGY_TIMES_MAX	16	/* largest N of N/TIME */
#define CHECKPOINT_MAX		65536	/* largest size of a checkpoint in bytes */
#define CHANNEL_NAME		32
#define REPLICA_CHANNELS	3
#define REPLICAS_MAX		3	/* components with replicas */

enum detector_id {
	DETECT_START, DETECT_EXCEPTION, DETECT_EXIT, DETECT_BEAT, DETECT_LATE, DETECT_STALL,
	DETECT_PAGES, DETECT_FILES, DETECT_CHANNEL, DETECT_PEER, DETECT_REPLICA, DETECT_SPLIT,
	DETECT_BEHIND, DETECTORS
};

enum strategy_kind {
	STRATEGY_RESTART, STRATEGY_INSTEAD, STRATEGY_ROLLBACK, STRATEGY_CELL, STRATEGY_GIVE_UP,
	STRATEGY_TAKEOVER, STRATEGY_KINDS
};

/* At most `times` uses in any `within_us`; `times` 0: no limit. */
struct strategy {
	enum strategy_kind kind;
	unsigned int times;
	uint64_t within_us;
	char program[ARCHIVE_NAME];	/* of STRATEGY_INSTEAD */
};

struct component_rule {
	char name[COMPONENT_NAME];
	uint64_t budget_us, period_us;
	int vcpu;			/* of the kernel, and 1 more; 0: it gets one of its own */
	uint32_t needs;			/* bit n: component n, which is declared earlier */
	/*
	 * A fault is a measured value above the limit, in microseconds or a number. DETECT_START,
	 * DETECT_EXCEPTION and DETECT_EXIT are always watched; for the others 0 means unwatched.
	 * DETECT_PEER has no limit: it is the look at another cell (takeover.h). DETECT_REPLICA and
	 * DETECT_SPLIT watch replicas, with the limit 0.
	 */
	uint64_t limit[DETECTORS];
	char channel[CHANNEL_NAME];	/* of DETECT_CHANNEL */
	uint64_t checkpoint_bytes, checkpoint_us;	/* largest size and age; 0: no checkpoint */
	/* of STRATEGY_TAKEOVER: the memories of this cell and of the other one; empty: none */
	char send[CHANNEL_NAME], receive[CHANNEL_NAME];
	uint64_t takeover_us;		/* a cell that has not looked for so long has failed */
	bool standby;			/* the other cell starts it at first */
	/* the memories of this cell and of the two others that run it; empty: it is no replica */
	char replica[REPLICA_CHANNELS][CHANNEL_NAME];
	unsigned int num_strategies;
	struct strategy strategies[STRATEGIES_MAX];
	struct program_args args;
};

/* Returns whether a line declares nothing: it is empty, or a comment. */
bool rule_is_blank(const char *line);

/*
 * Reads `line`, which is cut in place. `earlier` has the `n` components of the lines before it.
 * Returns NULL, or a sentence that says how to correct it.
 */
const char *rule_read(char *line, const struct component_rule *earlier, unsigned int n,
		      struct component_rule *rule);

#endif
