// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of a cell for its channels. A request for a channel at run time is posted in the cell's own
 * instance, and a CPU of the front end gets an NMI and answers (manage/posts.c). This CPU does not
 * wait.
 */
#include "cell.h"
#include "core/apic.h"
#include "core/gmem.h"

/* Pairs with posts_retarget(), which waits after it has changed .target */
static void post_announce(struct pcpu *cpu, struct chan_post *post)
{
	targets_toggle(cpu);
	apic_send(APIC_NMI, __atomic_load_n(&post->target, __ATOMIC_SEQ_CST));
	targets_toggle(cpu);
}

static s32 post_request(struct pcpu *cpu, struct chan_post *post, u32 nr)
{
	u32 a = cpu->regs[GPR_RDI];
	bool open = nr == QV_CALL_OPEN;
	s32 error = 0;

	if (!atomic_replace(&post->state, POST_FREE, POST_FILLING))
		return QV_KEY_BUSY;
	post->nr = nr;
	/* with .bell_vector and .bell_cpu */
	*(u64 *)&post->ask.end = cpu->regs[open ? GPR_RSI : GPR_RDI];
	if (open && (a & 7 || !guest_copy_phys(cpu, &post->ask.page, a, sizeof(post->ask.page))))
		error = QV_KEY_MALFORMED;
	else if (bell_turn(&post->next, 1, false))
		error = QV_KEY_RATE;
	atomic_replace(&post->state, POST_FILLING, error ? POST_FREE : POST_SENT);
	if (!error)
		post_announce(cpu, post);
	return error;
}

/* An NMI may be lost if its CPU goes to another guest, so it is sent again */
static s32 post_collect(struct pcpu *cpu, struct chan_post *post)
{
	u32 state = load(&post->state);
	s32 found = post->answer;

	if (state == POST_ANSWERED && atomic_replace(&post->state, POST_ANSWERED, POST_FREE))
		return found;
	if (state == POST_SENT && !bell_turn(&post->next, 1, false))
		post_announce(cpu, post);
	return state == POST_FREE ? QV_KEY_NONE : QV_KEY_PENDING;
}

static void key_call(struct pcpu *cpu, u32 nr)
{
	struct chan_post *post = &me()->cell.post;
	s32 result = nr == QV_CALL_ANSWER ? post_collect(cpu, post) : post_request(cpu, post, nr);

	cpu->regs[GPR_RAX] = (u32)result;
	if (nr == QV_CALL_ANSWER && result >= 0)
		cpu->regs[GPR_RDI] = channel_window(&me()->req, result);
}

__attribute__((noinline)) bool cell_channel_call(struct pcpu *cpu, u32 nr)
{
	if (nr == QV_CALL_BELL)
		return cell_bell(cpu, cpu->regs[GPR_RDI]);
	if (nr > QV_CALL_ANSWER || !me()->req.num_dynamic)
		return false;
	key_call(cpu, nr);
	return true;
}
