# SPDX-License-Identifier: GPL-2.0-only
"""qv: the modules of qvctl."""

VERSION = "0.1"
