/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The operating system, COM and the objects of the application's OIL file. */
#ifndef ERIKA_EE_H
#define ERIKA_EE_H

#include "os.h"

#endif
