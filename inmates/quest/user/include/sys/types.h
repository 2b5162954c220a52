/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_SYS_TYPES_H
#define QUEST_SYS_TYPES_H

#include <quest/posix_types.h>

#endif
