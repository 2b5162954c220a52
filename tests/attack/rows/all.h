/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All attacks of a cell, a row each:
 *
 *   ATTACK(name, function, a, b, expected, flags, description)
 *
 * `expected`, alternatives separated by |:
 *   failed:REASON[@ADDRESS]  the monitor stops the cell, with this in its record
 *   fault:NAME               the inmate gets the exception (ud, gp, pf...) and continues
 *   harmless                 the inmate continues, and nothing has changed
 *   stopped                  the attack never ends by itself; Linux stops and destroys the cell
 * An alternative with the prefix amd: or intel: counts on such a machine only.
 * After each row, whatever its outcome: the witness cell and Linux continue to beat, the memory of
 * Linux and the MSRs of its CPUs are as before, and Linux has the attacker's CPU back.
 *
 * `flags`:
 *   amd, intel, xapic, x2apic  only there
 *   direct    only a cell with `ipi: direct`, under a Linux with direct IPIs
 *   smp       a cell with two CPUs
 *   fresh     a cell of its own, destroyed afterwards
 *   channel   ... with two channels, and 4 MiB for channels at run time: see channels.h, keys.h
 *   outsider  ... with 4 MiB for channels at run time, while two others use channels: outsider.h
 *   quesh     the console program of Linux reads the cell meanwhile
 *   shutdown  the cell is requested to end
 *   watchdog  the row waits for the watchdog
 *   open      the outcome is recorded, not asserted
 *   kills     open, and not run, since it takes a CPU permanently
 *
 * Included by the inmate (which uses the first four) and read by tests/attack/rows.py.
 */
#include "memory.h"
#include "channels.h"
#include "keys.h"
#include "outsider.h"
#include "msr.h"
#include "instructions.h"
#include "interrupts.h"
#include "ports.h"
#include "shared.h"
#include "floods.h"
#include "second.h"
#include "direct.h"
