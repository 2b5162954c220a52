# SPDX-License-Identifier: GPL-2.0-only
"""The conformance suite of inmates/erika in cells, for `make check-all`."""

import pytest

from lab.erikasuite import BATCHES, LIBRARIES, check_batch
from product import CONFIGS, Product
from test_osek import screen
from test_watching import until


@pytest.mark.slow
@pytest.mark.parametrize("machine_kind", ["amd", pytest.param("intel", marks=pytest.mark.machine(machine="intel"))])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("family", BATCHES)
def test_conformance_suite_in_cell(qv: Product, machine_kind: str, library: str, family: str) -> None:
    """A boot of the cell runs all cases of a family: the application mode chooses the family."""
    changes = f"s/^image:.*/image: suite-{library}.elf/; s/^cmdline:.*/cmdline: mode={BATCHES.index(family)}/"
    qv.sh(f"sed '{changes}' {CONFIGS}/erika.yaml >/run/erika-suite.yaml")
    qv.do("cell create /run/erika-suite.yaml --start")
    until(lambda: "erika: shut down, status 0\n" in screen(qv), f"the end of the batch {family}")
    check_batch(screen(qv), family)
    qv.do("cell shutdown erika")
    assert qv.show("erika")["state"] == "shut-down"
    qv.do("cell destroy erika")
