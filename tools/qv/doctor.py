# SPDX-License-Identifier: GPL-2.0-only
def doctor(args, system):
    return 0
