/* SPDX-License-Identifier: GPL-2.0-only */
/* The shipped programs and those for tests. */
#include "../../quest/arch/archive.S"
