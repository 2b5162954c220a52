# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""build.py FILE: writes the C code of qvchannel._libqv, which cffi makes of these declarations.

The compiler checks them against qv/libqv.h. The code uses Python's stable ABI."""

import sys

from cffi import FFI

DECLARATIONS = """
struct qv_channel;
struct qv_item { uint64_t number, lost, bytes; };
struct qv_chan_page {
    char name[...]; char schema[...];
    uint32_t type, full, flags, ends;
    uint64_t key, item, slots, length, session;
    ...;
};
struct qv_end_status {
    uint64_t generation, peer_generation;
    int peer;
    bool attached;
    uint64_t waiting, high, items, lost, refused;
    ...;
};
#define QV_CHAN_BELL ...
#define QV_CHAN_RECONNECT ...
int qv_open(struct qv_channel **channel, const char *name);
int qv_open_key(struct qv_channel **channel, uint64_t key);
void qv_close(struct qv_channel *channel);
const struct qv_chan_page *qv_page(const struct qv_channel *channel);
void qv_status(const struct qv_channel *channel, struct qv_end_status *status);
int qv_expect(const struct qv_channel *channel, uint32_t type, uint64_t item, const char *schema);
int qv_write(struct qv_channel *channel, const void *data, size_t size, int timeout_ms);
int qv_read(struct qv_channel *channel, void *data, size_t size, struct qv_item *item,
            int timeout_ms);
int qv_read_again(struct qv_channel *channel, void *data, size_t size, struct qv_item *item);
int qv_claim(struct qv_channel *channel, void **data, int timeout_ms);
int qv_commit(struct qv_channel *channel, size_t size);
int qv_abort(struct qv_channel *channel);
int qv_peek(struct qv_channel *channel, const void **data, struct qv_item *item, int timeout_ms);
int qv_release(struct qv_channel *channel);
int qv_memory(struct qv_channel *channel, void **data, uint64_t *size, bool *writable);
int qv_fd(const struct qv_channel *channel);
int qv_arm(struct qv_channel *channel);
int qv_ring(struct qv_channel *channel);
const char *qv_strerror(int result);
const char *qv_detail(void);
int qv_file_create(const char *path, const struct qv_chan_page *plan);
int qv_file_open(struct qv_channel **channel, const char *path, uint32_t end);
int qv_file_start(const char *path, uint32_t end);
int qv_file_state(const char *path, uint32_t end, int state);
int qv_file_remove(const char *path);
"""

# An enum of C is an int for Python.
SOURCE = """
#include <qv/libqv.h>
#define qv_file_state(path, end, state) (qv_file_state)(path, end, (enum qv_chan_state)(state))
"""


def main(path: str) -> None:
    builder = FFI()
    builder.cdef(DECLARATIONS)
    builder.set_source("qvchannel._libqv", SOURCE, libraries=["qv"])
    builder.emit_c_code(path)


if __name__ == "__main__":
    main(sys.argv[1])
