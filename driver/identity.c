// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commit that this module is built from, and the images of the monitor in it, by SHA-256.
 * modinfo prints those of the file; /sys/module/qv/parameters has those of the loaded module:
 * `commit`, and `monitor` for this processor.
 */
#include <linux/module.h>
#include "qv.h"
#include "cross.h"

MODULE_INFO(commit, QV_COMMIT);
MODULE_INFO(monitor_amd, QV_SHA_AMD);
MODULE_INFO(monitor_intel, QV_SHA_INTEL);

static int identity_show(char *to, const struct kernel_param *param)
{
	if (!qv_virt)
		return scnprintf(to, PAGE_SIZE, "none\n");
	return scnprintf(to, PAGE_SIZE, "%s\n",
			 qv_virt->image == qv_svm.image ? QV_SHA_AMD : QV_SHA_INTEL);
}

static int identity_show_commit(char *to, const struct kernel_param *param)
{
	return scnprintf(to, PAGE_SIZE, "%s\n", QV_COMMIT);
}

static int identity_refuse(const char *text, const struct kernel_param *param)
{
	return -EPERM;
}

static const struct kernel_param_ops identity = { .set = identity_refuse, .get = identity_show };
static const struct kernel_param_ops commit = {
	.set = identity_refuse, .get = identity_show_commit
};
module_param_cb(commit, &commit, NULL, 0444);
MODULE_PARM_DESC(commit, "read only: the commit that this module is built from, if it is known");
module_param_cb(monitor, &identity, NULL, 0444);
MODULE_PARM_DESC(monitor, "read only: the SHA-256 of the monitor's image for this processor");
