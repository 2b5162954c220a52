# SPDX-License-Identifier: GPL-2.0-only
"""The ioctl contract of include/uapi/linux/qv.h as ctypes structures, one idea per file.

A unit test compiles the C header and compares every size, offset and constant with those of this
package."""

from .calls import *
from .cell import *
from .events import *
from .failure import *
from .reply import *
from .stats import *
from .status import *
