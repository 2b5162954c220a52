/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ERIKA_BOOT_H
#define ERIKA_BOOT_H

#include <erika/types.h>

/* Returns N of `mode=N` in the command line, or OSDEFAULTAPPMODE. */
AppModeType boot_mode(void);

#endif
