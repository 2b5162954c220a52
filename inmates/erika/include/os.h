/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The operating system, COM and the objects of the application's OIL file. */
#ifndef ERIKA_OS_H
#define ERIKA_OS_H

#include <erika/types.h>
#include <erika/api.h>
#include <erika/com.h>
#include "os_config.h"		/* generated from the OIL file */

#endif
