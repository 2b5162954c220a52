// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/printf.h>
#include "../kernel/userdriver.h"
#include "component.h"
#include "driver.h"

/* As in a file. C and T are not used, since the VCPU of the network has its own. */
#define LINE	"nic 1ms/10ms beat=100ms pages=256 restart=16/10s : %s"

void driver_declare(const char *program, int vcpu)
{
	char line[sizeof(LINE) + ARCHIVE_NAME];

	(void)format_buf(line, sizeof(line), LINE, program);
	if (rule_read(line, rules, 0, &rules[0]))
		return;
	rules[0].vcpu = vcpu + 1;
	num_components = 1;
	userdriver_allow(1);
}
