/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_CONFIG_H
#define QV_CONFIG_H

#include "abi/types.h"

#define CONFIG_ENABLE	(1u << 31)

/* @size: 1, 2, 4 bytes */
u32 port_in(u32 port, u32 size);
void port_out(u32 port, u32 size, u32 value);
/*
 * Without ECAM this writes 0xCF8. The caller holds the config lock, and config_data() restores the
 * value that Linux wrote.
 */
void config_select(u32 bdf, u32 reg);

#endif
