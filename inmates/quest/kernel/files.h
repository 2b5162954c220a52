/* SPDX-License-Identifier: GPL-2.0-only */
/* What a program's descriptors stand for: plain data, by numbers. Interrupts are off in every call. */
#ifndef QUEST_FILES_H
#define QUEST_FILES_H

#include <stdbool.h>
#include <stdint.h>

#define FILES_MAX	11		/* of a program, with 0 to 2 */
#define STDIN		0
#define STDOUT		1
#define STDERR		2

enum file_kind { FILE_CLOSED, FILE_KEYBOARD, FILE_SCREEN, FILE_ARCHIVE, FILE_PIPE_READ, FILE_PIPE_WRITE };

struct open_file {
	enum file_kind kind;
	int number;			/* in the archive; of the pipe */
	uint64_t at;			/* FILE_ARCHIVE: what is read next */
};

struct process;

/* The keyboard and the screen as 0 to 2. */
void files_init(struct process *p);

/* NULL: not open. */
struct open_file *files_find(struct process *p, int fd);

/* The lowest descriptor that is free from now on is `f`. Minus an error: EMFILE. */
int files_add(struct process *p, struct open_file f);

/* The lowest descriptor that is free becomes a copy of `fd`, which is open. Minus an error: EMFILE. */
int files_duplicate(struct process *p, int fd);

/* Descriptor `fd` is a copy of `f`, which stays open where it is; what it was before is closed. */
void files_put(struct process *p, int fd, struct open_file f);

void files_close(struct process *p, int fd);
void files_close_all(struct process *p);

/* `to`, which has none open, gets all of `from`. */
void files_copy(struct process *to, const struct process *from);

#endif
