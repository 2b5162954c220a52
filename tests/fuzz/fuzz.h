/* SPDX-License-Identifier: GPL-2.0-only */
/* Entry point of a fuzzer. A failed check ends the run, so that its input is kept. */
#ifndef FUZZ_H
#define FUZZ_H

#include "abi/types.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

#endif
