#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Print the C file that runs every TEST() of the sources named.
set -eu
names=$(sed -n 's/^TEST(\([a-z0-9_]*\))$/\1/p' "$@")
cat <<'HEAD'
// SPDX-License-Identifier: GPL-2.0-only
// Made by unit_main.sh.
#include "unit.h"
HEAD
for name in $names; do echo "void $name(void);"; done
echo 'static const struct { const char *name; void (*run)(void); } tests[] = {'
for name in $names; do echo "	{ \"$name\", $name },"; done
cat <<'TAIL'
};
static int failures;
void unit_fail(const char *file, int line, const char *what)
{
	if (failures++ < 10)
		printf("%s:%d: not so: %s\n", file, line, what);
}
int main(void)
{
	int passed = 0, failed = 0;
	for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		failures = 0;
		tests[i].run();
		if (failures) {
			printf("FAILED %s\n", tests[i].name);
			failed++;
		} else {
			passed++;
		}
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
TAIL
