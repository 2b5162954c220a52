/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of channels that the attacker may not use. Linux writes the first channel, the attacker the
 * second. A1, A15
 */
ATTACK("channel-none", mem_read, 0xFF000000, 0,
       "failed:memory@0xff000000", "", "reads where other cells have channels")
ATTACK("channel-write-life", mem_write, 0xFF000000, 0,
       "failed:memory@0xff000000", "fresh channel", "writes the life page of a channel")
ATTACK("channel-write-own-life", mem_write, 0xFF010000, 0,
       "failed:memory@0xff010000", "fresh channel",
       "writes the life page of the channel that it writes")
ATTACK("channel-write-foreign", mem_write, 0xFF001000, 0,
       "failed:memory@0xff001000", "fresh channel", "writes the section of Linux")
ATTACK("channel-write-readers", mem_write, 0xFF012000, 0,
       "failed:memory@0xff012000", "fresh channel", "writes the section of a reader")
ATTACK("channel-beyond", mem_read, 0xFF002000, 0,
       "failed:memory@0xff002000", "fresh channel", "reads beyond the channel, in the same 2 MiB")
ATTACK("channel-another", mem_read, 0xFF020000, 0,
       "failed:memory@0xff020000", "fresh channel", "reads a channel that it does not have")
ATTACK("channel-execute", mem_execute_shared, 0xFF011000, 0,
       "failed:memory@0xff011000", "fresh channel", "executes from its section")
ATTACK("channel-execute-foreign", mem_execute, 0xFF001000, 0,
       "failed:memory@0xff001000", "fresh channel", "executes what Linux wrote")
ATTACK("channel-tables", mem_table, 0xFF011000, 1,
       "fault:pf", "fresh channel", "has an empty table in its section")
ATTACK("channel-scribble", mem_fill, 0xFF011000, 0xFF,
       "harmless", "fresh channel", "fills its section with ones (A15)")
ATTACK("channel-bell-foreign", ins_call, 3, 4,
       "fault:ud", "fresh channel", "rings a channel that it does not have")
ATTACK("channel-bell-flood", flood_bell, 1, 0,
       "stopped", "fresh channel", "rings Linux in a loop, also while the cell is destroyed")
