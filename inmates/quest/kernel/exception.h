/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_EXCEPTION_H
#define QUEST_EXCEPTION_H

/*
 * From now on, an exception of the kernel prints the registers and stops this CPU. An exception of
 * a program ends that program (fault.h).
 */
void exceptions_catch(void);

#endif
