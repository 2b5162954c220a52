// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "shell.h"

#define NL "\n"

const struct command shell_commands[] = {
	{ "ps", "", "threads: state, VCPU, CPU time; programs: pid, memory, CPU time", NULL,
	  command_ps },
	{ "vcpus", "[counts]", "VCPUs: parameters and use; or queue, overruns, interrupts",
	  "    C, T     budget and period in ms; an I/O VCPU's T is the last one inherited" NL
	  "    USED     ms at its priority; BACKGND: ms of a CPU that would have been idle" NL
	  "    UTIL%    USED in % of the time since it was created" NL
	  "  counts:" NL
	  "    QUEUE    replenishments outstanding; DEPLETED: times its budget was used up" NL
	  "    OVERRUN  times it had the CPU longer than its budget, MAX us: the longest" NL
	  "    IRQS     interrupts it handled" NL
	  "    IRQ ms   of USED, what they took before its threads ran" NL, command_vcpus },
	{ "ls", "", "the programs and files of the archive", NULL, command_ls },
	{ "run", "[--anywhere[=POLICY]] [vcpu=V] NAME [ARG...] [&]",
	  "run a program on its own VCPU; its name alone does too",
	  "    NAME ...         on a new Main VCPU of 20 ms in 100 ms; ^C kills it" NL
	  "    NAME ... &       and do not wait for it" NL
	  "    vcpu=V NAME ...  on VCPU V of the cell's description, with others or not" NL
	  "    --anywhere       in the background, in the cell that POLICY chooses:" NL
	  "                     first (this one, if it has room), near or balance. It" NL
	  "                     starts here and moves; others may move to make room." NL,
	  command_run },
	{ "attach", "PID", "let a program that was detached go on", NULL, command_attach },
	{ "detach", "PID", "take a program off the CPU with its VCPUs, as plain data", NULL,
	  command_detach },
	{ "migrate", "[PID CELL [strict]]", "let a program continue in another cell",
	  "    migrate           the cells to which programs can move" NL
	  "    migrate PID CELL  by a mailbox to that cell, which `migrate` in the cell's" NL
	  "                      file lists; or why the program stays" NL
	  "    strict            when it loses no part of its budget (MIG_STRICT)" NL,
	  command_migrate },
	{ "rebalance", "", "move programs to cells with less load, one by one",
	  "    Each move reduces the larger load of two cells by 1 % of a CPU at least." NL,
	  command_rebalance },
	{ "top", "[all]", "VCPUs and load of this cell, or of all to which programs can move",
	  NULL, command_top },
	{ "kill", "PID|-JOB", "end a program, or a job: all that one started",
	  "    A program's job is that of the program that the shell started, by its pid" NL
	  "    ([N] when it was started with &): ps shows it. All of a job end at once." NL,
	  command_kill },
	{ "meminfo", "", "memory in all, free, and how many programs there are", NULL,
	  command_meminfo },
	{ "uptime", "", "time since start, and how much of it the CPU was idle", NULL,
	  command_uptime },
	{ "mem", "", "memory: its map, the kernel, free pages", NULL, command_mem },
	{ "cpu", "", "processor, interrupt controller, timer, clock",
	  "    Read at boot; CPUID is not executed again." NL, command_cpu },
	{ "echo", "[WORD...]", "print the words", NULL, command_echo },
	{ "clear", "", "empty the screen", NULL, command_clear },
	{ "exit", "", "leave: quesh detaches, Quest and its programs run on", NULL, command_exit },
	{ "spin", "MS", "keep the CPU busy for MS milliseconds (at most 600000); ^C ends it", NULL,
	  command_spin },
	{ "sleep", "MS", "do nothing for MS milliseconds (at most 600000); ^C ends it", NULL,
	  command_sleep },
	{ "count", "[show|stop]", "count in the background, every 10 ms",
	  "    count       start" NL
	  "    count show  print count=N" NL
	  "    count stop  end" NL, command_count },
	{ "load", "C T|stop", "a thread that never sleeps, on a VCPU of C ms in T ms",
	  "    load C T   one more; or why it is not admitted" NL
	  "    load stop  end all" NL, command_load },
	{ "trace", "[N]|keep N", "who had the CPU: the last N changes",
	  "    Each line: us since the first, VCPU (-1: none), budget, background or idle," NL
	  "    thread. inmates/quest/sim/questtrace draws that." NL
	  "    trace keep N  begin anew; keep the last N (1024 to 65536) from now on" NL,
	  command_trace },
	{ "bench", "cpuid|sched|share|switch|timer", "measure, in TSC cycles",
	  "    bench cpuid   CPUID's round trip; cycles=N: the least of 1000" NL
	  "    bench sched   a decision with 1 to 256 VCPUs: mean and longest of 2000" NL
	  "                  (the least of 3 goes each)" NL
	  "    bench share   24 VCPUs that never sleep, for a second: what deciding takes" NL
	  "    bench switch  from a thread to another that it wakes: on one VCPU, on two" NL
	  "    bench timer   how late 10000 sleepers woke" NL, command_bench },
	{ "lock", "", "lock the management of cells: Linux can change none any more", NULL,
	  command_lock },
	{ "unlock", "", "unlock it", NULL, command_unlock },
	{ "agree", "[no]", "answer Linux's next request to unlock with yes (or not at all)",
	  "    agree     qvctl cell unlock succeeds, once" NL
	  "    agree no  as at boot: the request is ignored" NL, command_agree },
	{ "pci", "", "the cell's PCI functions, their vectors and BARs", NULL, command_pci },
	{ "net", "", "the network: addresses, link, frames; from net= of the command line", NULL,
	  command_net },
	{ "recovery", "[start FILE|restart NAME]",
	  "components that are watched, detectors, the last outages",
	  "    recovery start FILE    watch the components that FILE declares" NL
	  "    recovery restart NAME  restart a component as declared, also after it was" NL
	  "                           given up, and those that need it" NL
	  "  LONGEST: outage in us, from the fault until it was back." NL
	  "  BOUND, LATEST: us from the fault to its detection, allowed (while no other" NL
	  "  component is recovered) and measured; COST: mean cycles of a look." NL
	  "  Times of outages: us after the fault." NL,
	  command_recovery },
	{ "channels", "", "the cell's channels: type, and the state of each end", NULL,
	  command_channels },
	{ "chan", "read NAME [MS]|write NAME TEXT", "read or write an item of a channel",
	  "    chan read NAME        the next item: a text, or bytes in hexadecimal" NL
	  "    chan read NAME MS     the same, waits for it at most MS milliseconds" NL
	  "    chan write NAME TEXT  an item with this text, filled up with zeros" NL,
	  command_chan },
	{ "bound", "VCPU C T [BYTES]", "the longest time of a message to a VCPU of another cell",
	  "    From a thread on VCPU, to a thread on a VCPU of C ms in T ms, and back, by" NL
	  "    slots of 4 KiB. Measures the CPU time for a byte. `any VCPUs`: with all" NL
	  "    others that may be admitted here; `papers`: at the highest priority." NL,
	  command_bound },
	{ "key", "[open|close|read|write] ...", "channels that are opened at run time",
	  "    key                    the keys that are open, and the state of each end" NL
	  "    key open KEY PEER read|write TYPE ITEM [SLOTS]" NL
	  "                           with cell PEER or linux; this end reads or writes" NL
	  "    key write KEY TEXT     an item with this text, filled up with zeros" NL
	  "    key read KEY           the next item, as a text" NL
	  "    key close KEY          gives the channel up" NL,
	  command_key },
	{ "hang", "", "switches interrupts off and spins: the heartbeat stops", NULL,
	  command_hang },
	{ "crash", "[WHAT]", "do what a cell must not; without WHAT: the list",
	  "    crash memory  read memory that is not the cell's" NL
	  "    crash write   write there" NL
	  "    crash msr     write VM_HSAVE_PA" NL
	  "    crash port    write 0 to port 0xCF9" NL
	  "    crash triple  an exception without a handler table" NL
	  "    crash fault   a null pointer: Quest's own panic, no foreign touch" NL
	  "    crash stack   recursion without an end: as fault" NL
	  "    crash guard   write below the idle thread's stack: as fault" NL, command_crash },
	{ 0 },
};
