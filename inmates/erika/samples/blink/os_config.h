/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef OS_CONFIG_H
#define OS_CONFIG_H

enum { Toggle = 0, Lamp = 1 };
enum { Toggled = 1 };
enum { State = 1 };
enum { SystemTimer = 0 };
enum { Half = 0 };

#define OSMAXALLOWEDVALUE_SystemTimer	2147483647u
#define OSTICKSPERBASE_SystemTimer	1u
#define OSMINCYCLE_SystemTimer		1u

#endif
