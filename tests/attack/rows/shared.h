/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields that Linux reads from a cell: garbage, also changing while it is read. A13, A15, A16 */
ATTACK("shared-keys-tail", shared_field, 12, 0xDEADBEEF,
       "harmless", "quesh", "a tail of the key queue that is nowhere")
ATTACK("shared-keys-tail-ahead", shared_field, 12, 1,
       "harmless", "quesh", "a tail of the key queue before its head")
ATTACK("shared-stream-head", shared_field, 20, 0xFFFFFFFF,
       "harmless", "quesh", "a head of the stream that is nowhere")
ATTACK("shared-stream-back", shared_field, 20, 0,
       "harmless", "quesh", "a head of the stream that goes back")
ATTACK("shared-cursor", shared_field, 16, 0xFFFFFFFF,
       "harmless", "quesh", "a cursor outside the screen")
ATTACK("shared-state", shared_field, 8, 0xFFFFFFFF,
       "harmless", "quesh", "a state that does not exist")
ATTACK("shared-request", shared_field, 128, 0xFFFFFFFF,
       "harmless", "quesh", "writes Linux's own field: the request")
ATTACK("shared-keys-head", shared_field, 132, 0xFFFFFFFF,
       "harmless", "quesh", "writes Linux's own field: the head of the key queue")
ATTACK("shared-all-ones", shared_fill, 0xFF, 0,
       "harmless", "quesh", "fills all shared pages with ones")
ATTACK("shared-escapes", shared_escapes, 0, 0,
       "harmless", "quesh",
       "a stream and a screen full of terminal escapes: answers, titles, clipboards")
ATTACK("shared-utf8", shared_fill, 0xC0, 0,
       "harmless", "quesh", "a stream that is no text in any encoding")
ATTACK("shared-ready-flood", shared_fill, 0x04, 0,
       "harmless", "quesh", "a stream of nothing but ready marks")
ATTACK("shared-heartbeat-back", shared_heartbeat, 0, 0,
       "harmless", "", "a heartbeat that jumps and goes back")
ATTACK("shared-flip", shared_flip, 0, 0,
       "stopped", "quesh", "changes every shared field as fast as it can while Linux reads them")
ATTACK("shared-flip-indices", shared_flip_indices, 0, 0,
       "stopped", "quesh", "changes only the indices, between right and wrong")
ATTACK("shared-shutdown-ignored", shared_ignore, 0, 0,
       "stopped", "shutdown", "never answers a request to end (A13)")
ATTACK("shared-shutdown-lies", shared_lie, 0, 0,
       "stopped", "shutdown", "reports that it has ended and continues")
ATTACK("shared-heartbeat-stops", shared_heartbeat_stops, 0, 0,
       "failed:watchdog", "watchdog", "beats, and then stops beating")
