/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages that two cells write to each other. A link is a mailbox. Its end 0 is the source of
 * programs, and begins. Its end 1 is their destination, and answers each message. The payloads of
 * the messages of one program are one stream of bytes:
 *
 *   struct mig_header
 *   header.num_threads times struct thread_image, header.num_vcpus times struct vcpu_image
 *   header.pages times struct mig_page, each followed by the PAGE_SIZE bytes of that page, unless
 *   the page is in the arena
 *
 * The other end may be hostile: everything is copied once, then checked (check.h).
 */
#ifndef QUEST_MIGRATION_WIRE_H
#define QUEST_MIGRATION_WIRE_H

#include <stdint.h>
#include <qv/cell.h>
#include "../kernel/archive.h"
#include "../kernel/process/park.h"
#include "../kernel/userchannel.h"

#define MIG_MAGIC	0x474D5651u	/* "QVMG" */
#define MIG_VERSION	4

enum mig_kind {
	MSG_BEGIN = 1, MSG_MORE, MSG_ABORT,			/* of the source */
	MSG_ACCEPTED, MSG_REFUSED, MSG_RUNNING,			/* of the destination */
	/*
	 * Before a move with MIG_STRICT, the source asks (struct mig_size follows) how long the
	 * destination will take, and the destination answers (struct mig_terms follows; `error`: it
	 * is busy, see turn.h). From then on the destination looks for messages without bells.
	 */
	MSG_ASK, MSG_TERMS,
	/* Between programs, the source asks for the load, and struct mig_load answers (load.h). */
	MSG_ASK_LOAD, MSG_LOAD,
	/*
	 * Moves are served one after the other (turn.h). The source asks for the destination's turn
	 * or ends it, without a body. In the answer, an `error` says that the destination is busy.
	 */
	MSG_ASK_TURN, MSG_END_TURN, MSG_TURN,
};

/* The size of a program, which decides what a move costs */
struct mig_size {
	uint32_t threads, vcpus, pages;
	uint32_t shared;		/* pages of channels, which are not copied */
};

struct mig_terms {
	/* cycles from the last message until the program runs, at most; UINT64_MAX: no bound */
	uint64_t wait;
};

/* The begin of each message */
struct mig_message {
	uint32_t kind;			/* enum mig_kind */
	uint32_t last;			/* 1: the stream ends with this message; else 0 */
	uint32_t bytes;			/* of the stream that follow */
	int32_t error;			/* MSG_REFUSED: minus an error (errors.h) */
	/*
	 * of the source: by how many cycles the clock of the destination is ahead; of the
	 * destination: its TSC when it wrote the message
	 */
	uint64_t clock;
};

struct mig_thread {
	uint32_t state;			/* enum slot_state */
	uint32_t detached;		/* 0 or 1 */
	uint64_t result;
};

struct mig_file {
	uint32_t kind;			/* enum file_kind, no pipe */
	uint32_t reserved;
	uint64_t at, size;		/* FILE_ARCHIVE: offset of the next byte; the file's size */
	char name[ARCHIVE_NAME];	/* FILE_ARCHIVE */
};

struct mig_header {
	uint32_t magic, version;
	/* of the kernel's code (build.h): kernels of other builds refuse each other */
	uint64_t build;
	uint32_t tsc_khz;
	uint32_t num_threads, num_vcpus;
	int32_t vcpu;			/* id that the VCPU of new threads had */
	uint64_t pages;			/* number of pages of the program */
	/* session of the arena (life page), in which some of them are; 0: they are in none */
	uint64_t arena;
	uint64_t heap, brk;		/* as in struct space */
	uint64_t epoch, used, children_used;	/* as in struct process */
	uint32_t moves;			/* how often the program has moved, with this move */
	uint32_t reserved;
	struct mig_thread threads[STACKS_MAX];
	struct mig_file files[FILES_MAX];
	struct vcpuname vcpu_names[VCPUNAMES];
	struct channel_image channels[QV_INFO_MAX_CHANNELS];
	char name[PROCESS_NAME];
};

/* A page of the program. Its address is a multiple of PAGE_SIZE. */
struct mig_page {
	uint64_t va;
	uint32_t rights;		/* enum mig_rights */
	uint32_t in_arena;		/* 0 or 1 */
	uint64_t at;			/* in the arena: offset there; else 0 */
};

enum mig_rights { PAGE_READ, PAGE_DATA, PAGE_CODE, PAGE_RIGHTS };

#endif
