/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's header under AUTOSAR's name, with AUTOSAR's names of types and constants. */
#ifndef ERIKA_AUTOSAR_OS_H
#define ERIKA_AUTOSAR_OS_H

#include "os.h"

/* The guard of AUTOSAR's header: an application may bring its own. */
#ifndef PLATFORM_TYPES_H
#define PLATFORM_TYPES_H

typedef int8_t sint8;
typedef int16_t sint16;
typedef int32_t sint32;
typedef int64_t sint64;
typedef uint8_t uint8;
typedef uint16_t uint16;
typedef uint32_t uint32;
typedef uint64_t uint64;
typedef unsigned char boolean;
typedef float float32;
typedef double float64;

#ifndef TRUE
#define TRUE	1
#endif
#ifndef FALSE
#define FALSE	0
#endif

#endif

#endif
