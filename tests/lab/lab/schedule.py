# SPDX-License-Identifier: GPL-2.0-only
"""The order in which the workers take the groups of tests."""

from typing import Any

from xdist.scheduler import LoadGroupScheduling

from .fixtures import SLOW


class SlowFirst(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """Returns the groups of slow machines first, so that they do not end last, then the largest
    groups."""

    def _assign_work_unit(self, node: Any) -> None:
        slow = [scope for scope in self.workqueue if scope.startswith(SLOW)]
        if slow:
            self.workqueue.move_to_end(slow[0], last=False)
        super()._assign_work_unit(node)
