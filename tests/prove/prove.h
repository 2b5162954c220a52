/* SPDX-License-Identifier: GPL-2.0-only */
/* For all proofs. A declared function without a definition here returns any value. */
#ifndef PROVE_H
#define PROVE_H

#include "abi/types.h"

u8 __VERIFIER_nondet_u8(void);
u32 __VERIFIER_nondet_u32(void);
u64 __VERIFIER_nondet_u64(void);
bool __VERIFIER_nondet_bool(void);

#define any_u8()	__VERIFIER_nondet_u8()
#define any_u32()	__VERIFIER_nondet_u32()
#define any_u64()	__VERIFIER_nondet_u64()
#define any_bool()	__VERIFIER_nondet_bool()

#define ASSUME(condition) __CPROVER_assume(condition)
#define PROVE(condition, what) __CPROVER_assert(condition, what)

#endif
