/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * To the monitor and back on VT-x. The current VMCS has an invalid guest state. Its host state is
 * the state of the other side. So a VM entry fails, and the failure loads that host state (SDM vol.
 * 3, 27.8). This code is not mapped in the monitor.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include "trampoline.h"

#define STATE_ERROR	0x100		/* offset in struct qv_linux_state, as in trampoline.h */

	.text
/*
 * u64 qv_vmx_cross(rdi = struct qv_linux_state, rsi = struct pcpu where the monitor sees it,
 *	edx = 0: to the monitor, 1: back from it)
 *
 * Interrupts are off.
 * To the monitor: returns 0 as a guest; or natively the monitor's error if the monitor backed out,
 * ~0 if the processor refused VMLAUNCH itself.
 * Back from it: returns 0 natively, or the monitor's refusal as a guest.
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
	/*
	 * The monitor's failing VM entry resumes here: rdi = struct qv_linux_state, rsp is
	 * restored
	 */
SYM_INNER_LABEL(qv_vmx_leave, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	mov	STATE_ERROR(%rdi), %rax
	jmp	qv_vmx_resume
1:	mov	$1, %eax		/* eax = QV_HC_LEAVE */
	vmcall
SYM_INNER_LABEL(qv_vmx_resume, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	load_callers
	RET
SYM_FUNC_END(qv_vmx_cross)
