/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's types under the name of the compiler's header, which lib/channel includes. */
#include <linux/types.h>
