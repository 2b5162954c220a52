// SPDX-License-Identifier: GPL-2.0-only
/*
 * The images of the monitor in this module, by SHA-256. modinfo prints those of the file;
 * /sys/module/qv/parameters/monitor has that of the loaded module, for this processor.
 */
#include <linux/module.h>
#include "qv.h"
#include "cross.h"

MODULE_INFO(monitor_amd, QV_SHA_AMD);
MODULE_INFO(monitor_intel, QV_SHA_INTEL);

static int identity_show(char *to, const struct kernel_param *param)
{
	if (!qv_virt)
		return scnprintf(to, PAGE_SIZE, "none\n");
	return scnprintf(to, PAGE_SIZE, "%s\n",
			 qv_virt->image == qv_svm.image ? QV_SHA_AMD : QV_SHA_INTEL);
}

static int identity_refuse(const char *text, const struct kernel_param *param)
{
	return -EPERM;
}

static const struct kernel_param_ops identity = { .set = identity_refuse, .get = identity_show };
module_param_cb(monitor, &identity, NULL, 0444);
MODULE_PARM_DESC(monitor, "read only: the SHA-256 of the monitor's image for this processor");
