/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls for channels at run time. With `channel`, the attacker has 4 MiB for them, in windows 2 and
 * 3, and may share them with the cell `third`, which does not exist. A15
 */
ATTACK("key-none", key_call, 4, 0x1000,
       "fault:ud", "", "opens a channel at run time, which its file does not allow")
ATTACK("key-open", key_open, 7, 0,
       "harmless", "fresh channel", "opens a channel with another cell, and uses its window")
ATTACK("key-forged-name", key_open, 7, 1,
       "harmless", "fresh channel", "names another cell as its own end: refused")
ATTACK("key-with-linux", key_open, 7, 2,
       "harmless", "fresh channel", "names Linux, which its file does not list: refused")
ATTACK("key-malformed", key_open, 7, 3,
       "harmless", "fresh channel", "lies about lengths and sections: refused")
ATTACK("key-limit", key_open, 7, 4,
       "harmless", "fresh channel", "opens more than its memory: refused")
ATTACK("key-pointer", key_open, 7, 5,
       "harmless", "fresh channel", "has its request outside its RAM, or across its end: refused")
ATTACK("key-bell", key_open, 7, 9,
       "harmless", "fresh channel",
       "wants a bell with an exception's vector or to another CPU: refused; rings closed windows")
ATTACK("key-closed", key_open, 7, 6,
       "failed:memory@0xffc00000", "fresh channel", "uses a window that it has closed")
ATTACK("key-unopened", mem_read, 0xFFC00000, 0,
       "failed:memory@0xffc00000", "fresh channel", "uses a window before it opens a channel")
ATTACK("key-write-life", key_open, 7, 7,
       "failed:memory@0xffc00000", "fresh channel", "writes the life page of such a channel")
ATTACK("key-write-peer", key_open, 7, 8,
       "failed:memory@0xffc02000", "fresh channel", "writes the section of the other end")
ATTACK("key-flood", key_flood, 3000, 0,
       "harmless", "fresh channel", "opens and closes 3,000 times, without waiting")
ATTACK("key-flood-calls", key_call_flood, 4000, 0,
       "harmless", "fresh channel", "makes 4,000 of these calls with random arguments")
