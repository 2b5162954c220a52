/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* OSEK/VDX COM 3.0.3: os.h has everything. */
#ifndef ERIKA_OSEK_COM_H
#define ERIKA_OSEK_COM_H

#include "os.h"

#endif
