// SPDX-License-Identifier: GPL-2.0-only
/* The commands that the test image has in addition to those of the shipped image. */
#include <stddef.h>
#include "../../quest/shell/shell.h"

#define NL "\n"

int command_pcitest(int argc, char **argv);
int command_edu(int argc, char **argv);
int command_nvme(int argc, char **argv);
int command_igb(int argc, char **argv);
int command_igbvf(int argc, char **argv);
int command_gate(int argc, char **argv);
int command_shuffle(int argc, char **argv);
int command_stream(int argc, char **argv);
int command_costs(int argc, char **argv);
int command_periods(int argc, char **argv);

const struct command shell_more_commands[] = {
	{ "pcitest", "get|set|portget|portset BDF REG SIZE [VALUE]",
	  "config space, registers and ports of a device",
	  "    pcitest get BDF REG SIZE        read config space" NL
	  "                                BDF = bus << 8 | device << 3 | function" NL
	  "    pcitest set BDF REG SIZE VALUE  write it, then read it again" NL
	  "    pcitest portget, portset    the same by 0xCF8" NL
	  "    pcitest load ADDRESS            read a register in a BAR of the cell's" NL
	  "    pcitest store ADDRESS VALUE     write it" NL
	  "    pcitest in PORT                 read a byte" NL
	  "    pcitest out PORT VALUE          write it, then read" NL
	  "    pcitest msix N ENTRY            enable MSI-X of function N with one entry" NL
	  "    pcitest messages                how many messages of MSI-X have arrived" NL,
	  command_pcitest },
	{ "edu", "id|fact N|irq|msi|count|own|read ADDRESS|write ADDRESS",
	  "QEMU's teaching device (1234:11e8), if the cell has it",
	  "    edu id      identification; an inverted word" NL
	  "    edu fact N  N! as the device computes it (N up to 12)" NL
	  "    edu irq     an interrupt by its pin; edu msi: by message; edu count: all of them" NL
	  "    edu own     does its DMA to a page of this image arrive, both ways?" NL
	  "    edu read ADDRESS   the 16 bytes that it reads there by DMA" NL
	  "    edu write ADDRESS  it writes 16 bytes there by DMA" NL, command_edu },
	{ "nvme", "id | read BLOCK [ADDRESS] | write BLOCK WORD",
	  "an NVMe disk, if the cell has it; blocks of 4 KiB",
	  "    nvme id     its serial number" NL
	  "    nvme read BLOCK         the CRC-32 of the data, which it stores by DMA" NL
	  "    nvme read BLOCK ADDRESS     it stores the data there instead" NL
	  "    nvme write BLOCK WORD   fill the block with the word of 32 bits" NL, command_nvme },
	{ "igb", "link | send WORD", "Intel's 82576 network function, if the cell has it",
	  "    igb link        its Ethernet address; is its link up?" NL
	  "    igb send WORD   a frame of the word of 32 bits, again and again, to all" NL,
	  command_igb },
	{ "igbvf", "WORD", "a virtual function of the 82576: sends a frame, receives one",
	  NULL, command_igbvf },
	{ "gate", "priority|edge|level SLOW QUICK MORE",
	  "a long interrupt handler, and another source's meanwhile",
	  "    SLOW, QUICK  vectors, which this CPU sends to itself" NL
	  "    MORE         how often the slow one comes again while its handler is due" NL,
	  command_gate },
	{ "shuffle", "PID TIMES", "detach and attach a program so many times", NULL,
	  command_shuffle },
	{ "stream", "CHANNEL ITEMS [any | sleep]",
	  "an end of a stream of items of 64 bytes, with a checker",
	  "    any    the other end may end before all items have come" NL
	  "    sleep  sleep until a bell rings" NL, command_stream },
	{ "costs", "THREADS VCPUS PAGES",
	  "the CPU time that the move of such a program takes at most, as MIG_STRICT expects", "",
	  command_costs },
	{ "periods", "MS VCPU", "the CPU time of a VCPU in us, in each period of the trace",
	  "    Periods begin at multiples of MS of the TSC; time in background is left out." NL,
	  command_periods },
	{ 0 },
};
