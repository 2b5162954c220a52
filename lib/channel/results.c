// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <qv/end.h>

static const char *const sentences[] = {
	[-QV_CHAN_DONE] = "done",
	[-QV_CHAN_NOTHING] = "there is no newer item; wait, or try again later",
	[-QV_CHAN_FULL] =
		"there is no free slot, or it is the peer's turn; wait, or try again later",
	[-QV_CHAN_CORRUPT] = "the peer wrote something that cannot be; restart the peer",
	[-QV_CHAN_RESTARTED] = "the peer restarted; items that it had not delivered are gone",
	[-QV_CHAN_STOPPED] = "the peer is stopped; start its cell",
	[-QV_CHAN_FAILED] = "the peer failed; qvctl cell show names the reason",
	[-QV_CHAN_ABSENT] = "the peer is not there yet; start its cell or its program",
	[-QV_CHAN_LAPPED] = "items are overwritten faster than they can be read; use more slots",
	[-QV_CHAN_SIZE] =
		"the buffer does not have the size of an item; qvctl channel show names it",
	[-QV_CHAN_USAGE] = "this end of the channel has no such call, or not now",
	[-QV_CHAN_LAYOUT] =
		"the channel has an unknown format; update the older of QV and this program",
	[-QV_CHAN_OWN_SECTION] =
		"this end's own section is damaged; restart its cell, or create it again",
};

const char *qv_chan_sentence(int result)
{
	unsigned int index = -(unsigned int)result;

	return index < sizeof(sentences) / sizeof(*sentences) ? sentences[index] : "unknown result";
}
