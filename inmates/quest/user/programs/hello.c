// SPDX-License-Identifier: GPL-2.0-only
/* hello [NAME]: the program of Documentation/tutorial/quest-programs.md. */
#include <quest.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int vcpu = vcpu_create_main(1, 50);	/* 1 ms of CPU time in every 50 ms */

	if (vcpu < 0) {
		perror_of("vcpu_create_main", vcpu);
		return 1;
	}
	vcpu_bind_task(vcpu);
	printf("hello from %s\n", argc > 1 ? argv[1] : "nobody");
	return 0;
}
