# SPDX-License-Identifier: GPL-2.0-only
"""The lab: emulated machines to build for, boot, and test in."""
