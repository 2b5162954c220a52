# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""build.py HEADER FILE: writes the C code of qvchannel._libqv, which cffi makes of declarations.

Those of functions are read from HEADER, qv/libqv.h. The compiler checks all others against it. The
code uses Python's stable ABI."""

import re
import sys
from pathlib import Path

from cffi import FFI

TYPES = """
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
enum qv_chan_state { QV_CHAN_IS_ABSENT, ... };
#define QV_CHAN_BELL ...
#define QV_CHAN_ONE_SHOT ...
#define QV_CHAN_RECONNECT ...
"""

# A function of the header begins a line and ends with a semicolon.
FUNCTION = re.compile(r"^(?:int|void(?: \*)?|const [\w ]+\*)\s*qv_\w+\([^;{]*\);$", re.MULTILINE)


def main(header: str, path: str) -> None:
    builder = FFI()
    builder.cdef(TYPES + "\n".join(FUNCTION.findall(Path(header).read_text(encoding="utf-8"))))
    builder.set_source("qvchannel._libqv", "#include <qv/libqv.h>", libraries=["qv"])
    builder.emit_c_code(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
