# SPDX-License-Identifier: GPL-2.0-only
"""What can go wrong in the lab, each with a reason and a remedy."""


class LabError(Exception):
    """The lab itself failed: nothing is said about the product."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} ({remedy})" if remedy else reason)
        self.reason = reason
        self.remedy = remedy


class BuildError(LabError):
    """The tree does not build."""


class GuestTimeout(Exception):
    """A command in the machine did not end in time; the machine lives on."""


class MachineDead(Exception):
    """The machine crashed, reset, or switched itself off."""
