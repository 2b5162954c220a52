/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All attacks from inside a cell, a row each:
 *
 *   ATTACK(name, function, a, b, expected, flags, what it does)
 *
 * `expected`, alternatives separated by |:
 *   failed:REASON[@ADDRESS]  the monitor stops the cell, with this in its record
 *   fault:NAME               the inmate gets the exception (ud, gp, pf...) and lives on
 *   harmless                 the inmate goes on, and nothing has changed
 *   stopped                  it never ends by itself; Linux stops and destroys it
 * After each row, whatever it was: the witness cell and Linux beat on, Linux's memory and the MSRs
 * of its CPUs are as before, the attacker's CPU is Linux's again and works.
 *
 * `flags`: xapic, x2apic: only there; smp: a cell with two CPUs; quesh: Linux's console program looks
 * at it meanwhile; open: what happens is recorded, not asserted, and the last word of the row says why.
 *
 * Included by the inmate (which takes the first four) and read by tests/attack/rows.py.
 */
#include "memory.h"
