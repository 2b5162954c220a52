/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A third cell against two channels that the witness and the cell `partner` use meanwhile. One is
 * in their files, at 0xFF000000 in each of them. They have opened the other by the key 7, at
 * 0xFFE00000. Both cells check their sections, life pages and bells all the time (inmate/peer.c).
 * The attacker's file permits 4 MiB of channels at run time, with each of the two. A1, A15
 */
ATTACK("outsider-read", mem_read, 0xFF000000, 0,
       "failed:memory@0xff000000", "fresh outsider",
       "reads where two other cells have their channel")
ATTACK("outsider-write", mem_write, 0xFF001000, 0,
       "failed:memory@0xff001000", "fresh outsider", "writes a section of that channel")
ATTACK("outsider-read-key", mem_read, 0xFFE00000, 0,
       "failed:memory@0xffe00000", "fresh outsider",
       "reads where they have the channel that they opened by a key")
ATTACK("outsider-write-key", mem_write, 0xFFE01000, 0,
       "failed:memory@0xffe01000", "fresh outsider", "writes a section of that channel")
ATTACK("outsider-open", outsider_open, 0, 0,
       "harmless", "fresh outsider",
       "opens their key with each of them: it gets channels of its own, which are empty")
ATTACK("outsider-open-ring", outsider_open, 1, 0,
       "harmless", "fresh outsider", "... and rings these channels: neither cell has a bell")
ATTACK("outsider-impostor", outsider_impostor, 0, 0,
       "harmless", "fresh outsider",
       "posts the very request of each of them, and names that begin like theirs: refused")
ATTACK("outsider-close", outsider_close, 0, 0,
       "harmless", "fresh outsider", "closes every window: refused")
ATTACK("outsider-ring", outsider_ring, 0, 0,
       "fault:ud", "fresh outsider", "rings windows without a channel, and numbers beyond them")
ATTACK("outsider-flood", outsider_flood, 3000, 0,
       "harmless", "fresh outsider",
       "opens and closes 3,000 times in the names of all cells, with changed words")
