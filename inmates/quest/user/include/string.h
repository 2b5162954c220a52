/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_STRING_H
#define QUEST_STRING_H

#include <inmate/string.h>

#endif
