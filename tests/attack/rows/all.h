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
 * One that begins with amd: or intel: counts on such a machine only.
 * After each row, whatever it was: the witness cell and Linux beat on, Linux's memory and the MSRs
 * of its CPUs are as before, the attacker's CPU is Linux's again and works.
 *
 * `flags`: amd, intel, xapic, x2apic: only there; smp: a cell with two CPUs; fresh: a cell made for it and destroyed
 * after it; quesh: Linux's console program looks at it meanwhile; shutdown: it is asked to end; watchdog:
 * there is time for the watchdog; open: what happens is recorded, not asserted; kills: it is open, and takes a
 * CPU for good, so that it is not even done.
 *
 * Included by the inmate (which takes the first four) and read by tests/attack/rows.py.
 */
#include "memory.h"
#include "msr.h"
#include "instructions.h"
#include "interrupts.h"
#include "ports.h"
#include "shared.h"
#include "floods.h"
#include "second.h"
