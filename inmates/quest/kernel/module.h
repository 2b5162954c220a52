/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The boot loader's modules: each is a program (ELF), an archive of files (cpio), or a file of
 * text. Pure. A program's text is its name and its arguments, such as "hello 1 2".
 */
#ifndef QUEST_MODULE_H
#define QUEST_MODULE_H

#include <inmate/boot.h>
#include "archive.h"

#define MODULE_START		"start="
/* length of the longest line that module_line() makes, with the NUL */
#define MODULE_LINE		(BOOT_MODULE_ARGS + 64)

/*
 * Adds the files of a module of `size` bytes at `data`, which must stay there, to the archive. A
 * program or a text is called as the first word of `args` says, without folders. Returns NULL, or
 * the reason why nothing was added.
 */
const char *module_add(struct archive *a, const void *data, size_t size, const char *args);

/*
 * Makes the shell's line for a word of the command line. The word has `length` bytes, begins with
 * MODULE_START, and should be start=NAME or start=NAME,VCPU. The line is
 * [vcpu=VCPU] NAME [ARG...] &. The arguments are those in the text of the last module of this name.
 * Returns false if the word is malformed or too long.
 */
bool module_line(char line[MODULE_LINE], const struct boot_info *boot, const char *word,
		 size_t length);

#endif
