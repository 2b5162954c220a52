/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The monitor's images, one per vendor. They are part of the module, so that module and monitor
 * always match.
 */
#include <linux/linkage.h>
	.section .rodata
	.balign	16
SYM_DATA_START(qv_image_amd)
	.incbin	QV_IMAGE_AMD
SYM_DATA_END_LABEL(qv_image_amd, SYM_L_GLOBAL, qv_image_amd_end)
	.balign	16
SYM_DATA_START(qv_image_intel)
	.incbin	QV_IMAGE_INTEL
SYM_DATA_END_LABEL(qv_image_intel, SYM_L_GLOBAL, qv_image_intel_end)
