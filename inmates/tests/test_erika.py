# SPDX-License-Identifier: GPL-2.0-only
"""The OSEK kernel inmates/erika alone on an emulated PC."""
import pytest

from lab import bare as m

pytestmark = pytest.mark.usefixtures("built")
XAPIC = pytest.param("xapic", marks=pytest.mark.slow)


@pytest.mark.parametrize("cmdline", ["", XAPIC])
def test_blink_alone(cmdline):
    with m.Machine("-kernel", str(m.build_dir() / "inmates/erika/blink32.elf"), "-append", cmdline) as machine:
        for times, state in ((1, "on"), (2, "off"), (3, "on")):
            machine.expect(f"blink {times}: {state}\n")


def machine(cmdline):
    """The application of erika/machine."""
    image = m.build_dir() / "inmates/tests/erika-machine/machine32.elf"
    return m.Machine("-kernel", str(image), "-append", cmdline)


@pytest.mark.parametrize("cmdline", ["", XAPIC])
def test_interrupts_nest_wait_and_preempt(cmdline):
    """A resource and SuspendOSInterrupts() delay category 2. A task runs after all nested
    interrupts. An interrupt that is acknowledged early comes again after its handler."""
    with machine(cmdline) as pc:
        for line in ("has the resource", "low begins in ISR 0", "low ends", "one", "suspended",
                     "mid begins", "mid ends",
                     "low begins in ISR 0", "mid begins", "mid ends", "low ends", "high, ISR -1",
                     "mid begins", "mid ends", "mid begins", "mid ends",
                     "high, ISR -1", "timer: after 20 ms", "stack: measured", "erika: shut down, status 0"):
            pc.expect(line + "\n")
        lines = pc.text.splitlines()
        assert lines.index("one") < lines.index("suspended") < lines.index("mid begins")


def test_channels_in_a_fake_cell():
    """A ring whose two ends the application has: reads and writes, and their refusals."""
    image = m.build_dir() / "inmates/tests/erika-machine/machine.elf"
    with m.Machine("-smp", "2", "-kernel", str(m.build_dir() / "inmates/tests/fakecell.elf"), "-initrd", str(image),
                   "-append", "fakecell") as cell:
        for line in ("channels: -7 -10 -10", "empty: -1", "full: -2 after 4",
                     "sum: 10, this end of the channel has no such call, or not now"):
            cell.expect(line + "\n")


@pytest.mark.slow
def test_exhausted_stack_names_its_task():
    with machine("mode=1") as pc:
        pc.expect("the stack of Deep is exhausted: ")
        pc.expect("erika: shut down, status 13\n")
