/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of a virtual function of Intel's 82576, besides those of advanced.h: 82576EB datasheet
 * 2.61, 8.14, and 7.8 for the mailbox.
 */
#ifndef QUEST_IGBVFREGS_H
#define QUEST_IGBVFREGS_H

#define VF_CTRL			0x0000
#define VF_CTRL_RST		(1u << 26)
#define VF_STATUS		0x0008
#define VF_STATUS_LU		(1u << 1)
#define VF_WORDS		0x0800		/* of the mailbox */
#define VF_MAILBOX		0x0C40
#define VF_MAILBOX_REQUEST	(1u << 0)	/* there is a message for the physical function */
#define VF_MAILBOX_ACK		(1u << 1)
#define VF_MAILBOX_OURS		(1u << 2)	/* the virtual function may write the words */
#define VF_MAILBOX_REPLY	(1u << 4)	/* there is a message for the virtual function */
#define VF_MAILBOX_RESETS	(1u << 6)	/* the physical function resets itself */
#define VF_MAILBOX_RESET	(1u << 7)	/* it has done so; a read clears the bit */
#define VF_MESSAGE_CLEAR	(1u << 29)	/* the queues may run */
#define VF_MESSAGE_RESET	1u
#define VF_MESSAGE_DONE		0x80000001u	/* the answer to a reset that was carried out */
#define VF_EICS			0x1520
#define VF_EIMS			0x1524
#define VF_EIMC			0x1528
#define VF_EIAC			0x152C		/* causes that a message clears */
#define VF_EICR			0x1580
#define VF_IVAR			0x1700		/* entries for the causes received, sent */
#define VF_IVAR_VALID		0x80u

#endif
