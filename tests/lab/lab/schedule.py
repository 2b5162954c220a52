# SPDX-License-Identifier: GPL-2.0-only
"""The order in which the workers take the groups of tests."""

from typing import Any

from xdist.scheduler import LoadGroupScheduling

from .config import Config
from .fixtures import SLOW

FIRST = (SLOW, Config.__name__)  # prefixes of the names of groups: in Bochs, in other machines


class SlowFirst(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """Returns the groups of slow machines first, so that they do not end last, then those of other
    machines, then tests without a machine. Of each kind it returns the largest groups first."""

    def _assign_work_unit(self, node: Any) -> None:
        found = [scope for prefix in FIRST for scope in self.workqueue if scope.startswith(prefix)]
        if found:
            self.workqueue.move_to_end(found[0], last=False)
        super()._assign_work_unit(node)
