/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef OS_CONFIG_H
#define OS_CONFIG_H

enum { Main = 0, High = 1, Deep = 2 };
enum { Shared = 1 };
enum { Millisecond = 0 };
enum { Later = 0 };
enum { Low = 0, Mid = 1, One = 2 };
enum { Overrun = 1 };

#endif
