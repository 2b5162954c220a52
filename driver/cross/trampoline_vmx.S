/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * To the monitor and back on VT-x. The current VMCS has an illegal guest state and the
 * other side's state as the host's: an entry fails, and the processor has changed over
 * (SDM vol. 3, 27.8). Nothing of this is mapped there.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include "trampoline.h"

#define STATE_ERROR	0x100		/* as those of trampoline.h */

	.text
/*
 * u64 qv_vmx_cross(rdi = struct qv_linux_state, rsi = struct pcpu where the monitor sees it,
 *	edx = 0: to the monitor, 1: back from it)
 *
 * Interrupts are off. To the monitor, it returns as a guest: 0; or natively: the monitor's
 * error when it backed out, ~0 when the processor refused the instruction itself.
 * Back, it returns natively: 0; or as a guest: the monitor's refusal.
 */
SYM_FUNC_START(qv_vmx_cross)
	save_callers
	test	%edx, %edx
	jnz	1f
	note_state qv_vmx_resume
	movq	$-1, STATE_ERROR(%rdi)
	mov	%rdi, %rbx
	mov	%rsi, %rdi
	vmlaunch
	mov	%rbx, %rdi
	/* The monitor's entry that failed ends here: rdi = struct qv_linux_state, rsp and all else are Linux's */
SYM_INNER_LABEL(qv_vmx_leave, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	mov	STATE_ERROR(%rdi), %rax
	jmp	qv_vmx_resume
1:	mov	$1, %eax		/* QV_HC_LEAVE */
	vmcall
SYM_INNER_LABEL(qv_vmx_resume, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	load_callers
	RET
SYM_FUNC_END(qv_vmx_cross)
