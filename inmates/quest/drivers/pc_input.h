/* SPDX-License-Identifier: GPL-2.0-only */
/* Outside a cell: keys from the serial port and the PS/2 keyboard, by interrupt. */
#ifndef QUEST_PC_INPUT_H
#define QUEST_PC_INPUT_H

bool pc_input_start(void);

#endif
