// SPDX-License-Identifier: GPL-2.0-only
/* The CPU time that the move of a program is expected to take at most. */
#include <inmate/console.h>
#include <inmate/timer.h>
#include "../../quest/migration/costs.h"
#include "../../quest/shell/shell.h"
#include "../../quest/shell/words.h"

int command_costs(int argc, char **argv);

int command_costs(int argc, char **argv)
{
	uint64_t threads, vcpus, pages;
	struct mig_size size;

	if (argc != 4 || !words_number(argv[1], UINT32_MAX, &threads) ||
	    !words_number(argv[2], UINT32_MAX, &vcpus) ||
	    !words_number(argv[3], UINT32_MAX, &pages))
		return SHELL_SHOW_USAGE;
	size = (struct mig_size){
		.threads = (uint32_t)threads, .vcpus = (uint32_t)vcpus, .pages = (uint32_t)pages
	};
	print("costs: %lu us at the source, %lu us at the destination\n",
	      timer_to_us(mig_cost(MIG_PACKING, &size)),
	      timer_to_us(mig_cost(MIG_UNPACKING, &size)));
	return 0;
}
