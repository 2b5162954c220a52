# SPDX-License-Identifier: GPL-2.0-only
"""The conformance suite of inmates/erika as images for machines (inmates/tests/erika/cell)."""

import re

from .paths import TOP

CASES = TOP / "inmates/tests/erika"
LIBRARIES = ("single-standard", "single-extended", "multi-standard", "multi-extended")
# A batch is a file of cases. `mode=N` chooses it: cell/cell.c has them in this order, too.
BATCHES = sorted(path.stem for path in CASES.glob("*.cases"))


def check_batch(text: str, family: str) -> None:
    """Fails unless the text is the output of a batch without a failure and without a missing case."""
    found = re.search(r"batch (\w+): (\d+) cases, (\d+) passed, (\d+) failed\n", text)
    assert found and found[1] == family and found[4] == "0" and int(found[3]), text[-2000:]
    cases = (CASES / f"{family}.cases").read_text(encoding="utf-8")
    assert int(found[2]) == len(re.findall(r"(?m)^case ", cases))
