/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#undef assert

#ifdef NDEBUG
#define assert(what) ((void)0)
#else
#define assert(what) ((what) ? (void)0 : quest_assert(#what, __FILE__, __LINE__))
#endif

#ifndef QUEST_ASSERT_H
#define QUEST_ASSERT_H

#define static_assert _Static_assert

_Noreturn void quest_assert(const char *what, const char *file, int line);

#endif
