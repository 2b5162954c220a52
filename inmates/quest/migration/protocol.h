/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of a migration by messages, as two state machines: one for each cell. Pure: the cells
 * run them, and the model search on the host runs them against every order of events.
 *
 * The source keeps a whole copy of the program, which does not run, until it has read that the
 * destination runs it. The destination says so in the same step in which it lets the program run.
 * The source may give up until it has sent the last message. From then on only the destination
 * decides, by its answer or by its end: the monitor's life words say that a cell has ended.
 */
#ifndef QUEST_MIGRATION_PROTOCOL_H
#define QUEST_MIGRATION_PROTOCOL_H

/* An event at an end. */
enum mig_event {
	/* to the source: the answers of the destination */
	EV_ACCEPTS,			/* it has taken a message, and wants the next */
	EV_REFUSES,			/* it has no copy of the program, and will not run it */
	EV_RUNS,			/* it runs the program */
	/* to both: the other cell has ended or restarted, or writes what cannot be */
	EV_LOST,
	/* to the source: this cell wants the program back */
	EV_GIVES_UP,
	/* to the source: the last message has been sent */
	EV_SENT_ALL,
	/* to the destination */
	EV_TOOK,			/* a message that is not the last one was taken */
	EV_TOOK_ALL,			/* the last one was taken, and the program is admitted */
	EV_CANNOT,			/* the program cannot come, for a reason of this cell */
	EV_ABORTS,			/* the source gives up, or begins with another program */
	EV_COUNT
};

enum mig_source {
	SRC_SENDS,			/* the destination does not have all of the program */
	SRC_DOUBTS,			/* it has all, and may run it */
	SRC_KEEPS,			/* final: the program continues here */
	SRC_GAVE,			/* final: the program runs there, and this copy is freed */
};

enum mig_destination {
	DST_IDLE,			/* no program is coming */
	DST_LOADS,			/* a part of a program is here */
	DST_STARTS,			/* final for this program: it runs here */
};

/* Return the next state. Events that cannot come leave the state as it is. */
enum mig_source mig_source_next(enum mig_source state, enum mig_event event);
enum mig_destination mig_destination_next(enum mig_destination state, enum mig_event event);

/*
 * Returns what the destination answers to an event: an event of the source, or EV_COUNT if it
 * says nothing.
 */
enum mig_event mig_answer(enum mig_event event);

#endif
