# SPDX-License-Identifier: GPL-2.0-only
"""qv: what qvctl is made of."""

VERSION = "0.1"
