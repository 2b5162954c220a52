/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's header under ERIKA's name, with ERIKA's names of types and of IncrementCounter(). */
#ifndef ERIKA_EE_H
#define ERIKA_EE_H

#include "os.h"

typedef int8_t EE_INT8;
typedef int16_t EE_INT16;
typedef int32_t EE_INT32;
typedef int64_t EE_INT64;
typedef uint8_t EE_UINT8;
typedef uint16_t EE_UINT16;
typedef uint32_t EE_UINT32;
typedef uint64_t EE_UINT64;

#define CounterTick(counter)	((void)IncrementCounter(counter))

#endif
