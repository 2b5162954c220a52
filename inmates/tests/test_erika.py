# SPDX-License-Identifier: GPL-2.0-only
"""The OSEK kernel inmates/erika alone on an emulated PC."""
import pytest

from lab import bare as m

pytestmark = pytest.mark.usefixtures("built")


@pytest.mark.parametrize("cmdline", ["", "xapic"])
def test_blink_alone(cmdline):
    with m.Machine("-kernel", str(m.build_dir() / "inmates/erika/blink32.elf"), "-append", cmdline) as machine:
        for times, state in ((1, "on"), (2, "off"), (3, "on")):
            machine.expect(f"blink {times}: {state}\n")
