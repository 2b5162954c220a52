// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "frames.h"
#include "remote.h"
#include "unit.h"

#define PEERS		32

static struct peer peers[PEERS];
static unsigned int num_peers;

static struct peer *known(const struct peer *p)
{
	unsigned int i;

	for (i = 0; i < num_peers; i++)
		if (peers[i].here == p->here && peers[i].there == p->there)
			return &peers[i];
	i = num_peers < PEERS ? num_peers++ : (unsigned int)rnd_below(PEERS);
	peers[i] = *p;
	return &peers[i];
}

void remote_look(void)
{
	uint8_t f[FRAME_MAX], flags;
	struct peer p = { 0 }, *k;
	size_t length, n;

	while ((length = world_sent(f))) {
		if (f[12] == 8 && f[13] == 6 && f[21] == 1) {
			world_receive(f, frame_arp(f, 2));
			continue;
		}
		if (!frame_segment(f, length, &p, &flags, &n))
			continue;
		k = known(&p);
		k->expected = p.expected + (uint32_t)n + !!(flags & SYN) + !!(flags & FIN);
		if (!(flags & ACK))
			k->next = (uint32_t)rnd();
		else if (!k->next || rnd_below(4))
			k->next = p.next;
		k->window = rnd_below(8) ? 8192 : (uint16_t)rnd_below(2000);
		if (flags & RST || !rnd_below(6))
			continue;
		if (flags & SYN && !(flags & ACK)) {
			world_receive(f, frame_tcp(f, k, SYN | ACK, "", 0, 0));
			k->next++;
		} else if (n || flags & (SYN | FIN)) {
			world_receive(f, frame_tcp(f, k, ACK, "", 0, 0));
		}
	}
}

struct peer *remote_peer(void)
{
	return num_peers ? &peers[rnd_below(num_peers)] : NULL;
}

void remote_pass(unsigned int seconds)
{
	unsigned int i;

	for (i = 0; i < seconds * 4; i++) {
		world_work(250000);
		remote_look();
	}
}

unsigned int remote_obey(struct peer *p)
{
	uint8_t f[FRAME_MAX], flags;
	unsigned int all = 0;
	size_t length, n;

	world_work(1000);
	while ((length = world_sent(f))) {
		if (f[12] == 8 && f[13] == 6)
			world_receive(f, frame_arp(f, 2));
		else if (frame_segment(f, length, p, &flags, &n)) {
			all |= flags;
			p->expected += (uint32_t)n + !!(flags & SYN) + !!(flags & FIN);
			p->window = 8192;
			if (n || flags & (SYN | FIN))
				world_receive(f, frame_tcp(f, p, ACK, "", 0, 0));
		}
		world_work(1000);
	}
	return all;
}
