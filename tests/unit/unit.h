/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Just enough of a harness. Each test runs in a process of its own, so one that
 * crashes, or that a sanitizer stops, is one failure among the others.
 */
#ifndef UNIT_H
#define UNIT_H

#include <qv/types.h>

struct unit_test {
	const char *name;
	void (*run)(void);
};

/* Suites end with a row of zeros */
extern const struct unit_test paging_tests[], paging_race_tests[], nested_tests[], icr_tests[],
	decode_tests[], objdump_tests[], request_tests[], multiboot2_tests[], elf_tests[], msr_tests[],
	exits_tests[], events_tests[], kick_tests[], manager_tests[], steps_tests[], tables_tests[], front_tests[], xapic_tests[], guest_tests[],
	pci_tests[], pci_front_tests[], pci_guard_tests[], pci_manage_tests[], state_tests[], vmx_msr_tests[], vmx_exits_tests[], vmx_events_tests[], vmx_state_tests[], vmx_caps_tests[];
/* Those of this program; NULL at the end: svm/suites.c, vmx/suites.c */
extern const struct unit_test *const unit_suites[];

/* A failed check is reported and the test goes on */
#define CHECK(condition) unit_check(__FILE__, __LINE__, #condition, (condition))
#define CHECK_EQ(got, want) unit_equal(__FILE__, __LINE__, #got, (u64)(got), (u64)(want))
#define CHECK_TEXT(got, want) unit_text(__FILE__, __LINE__, #got, (got), (want))

bool unit_check(const char *file, int line, const char *what, bool fine);
bool unit_equal(const char *file, int line, const char *what, u64 got, u64 want);
bool unit_text(const char *file, int line, const char *what, const char *got, const char *want);
/* What is tried just now; shown with a failure */
void unit_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Stop the test here: going on makes no sense */
void unit_give_up(const char *why) __attribute__((noreturn));

/* Repeatable; SEED= in the environment chooses another sequence */
u64 rnd(void);
u64 rnd_below(u64 n);

/* A copy that ends where its memory ends, so that the sanitizer sees a read past it; free() it */
u8 *exact_copy(const void *bytes, size_t len);
/* The folder for what tests write, and where the tree's build is (O=) */
const char *out_folder(void);
const char *build_folder(void);

#endif
