# SPDX-License-Identifier: GPL-2.0-only
"""qvoil: reads OIL files and writes the tables of the OSEK kernel in inmates/erika."""

VERSION = "0.3"  # of QV
