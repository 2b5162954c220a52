/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects behind the descriptors of a program: plain data, by number. Interrupts are off in
 * every call.
 */
#ifndef QUEST_FILES_H
#define QUEST_FILES_H

#include <stdbool.h>
#include <stdint.h>

#define FILES_MAX	11		/* descriptors of a program, 0 to 2 included */
#define STDIN		0
#define STDOUT		1
#define STDERR		2

enum file_kind {
	FILE_CLOSED, FILE_KEYBOARD, FILE_SCREEN, FILE_ARCHIVE, FILE_PIPE_READ, FILE_PIPE_WRITE,
	FILE_SOCKET
};

struct open_file {
	enum file_kind kind;
	int number;			/* of the file in the archive, the pipe or the socket */
	uint64_t at;			/* FILE_ARCHIVE: offset of the next byte */
};

struct process;

/* Opens the keyboard and the screen as 0 to 2. */
void files_init(struct process *p);

/* Returns NULL if `fd` is not open. */
struct open_file *files_find(struct process *p, int fd);

/* Gives `f` the lowest free descriptor. Returns the descriptor, or minus an error: EMFILE. */
int files_add(struct process *p, struct open_file f);

/*
 * Makes the lowest free descriptor a copy of `fd`, which is open. Returns the copy, or minus an
 * error: EMFILE.
 */
int files_duplicate(struct process *p, int fd);

/*
 * Closes the file of descriptor `fd`, and makes `fd` a copy of `f`. The original of `f` stays open.
 */
void files_put(struct process *p, int fd, struct open_file f);

void files_close(struct process *p, int fd);
void files_close_all(struct process *p);

/* Copies all descriptors of `from` to `to`, which has none open. */
void files_copy(struct process *to, const struct process *from);

#endif
