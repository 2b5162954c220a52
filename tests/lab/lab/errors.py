# SPDX-License-Identifier: GPL-2.0-only
"""The exceptions of the lab."""


class LabError(Exception):
    """The lab itself failed, which says nothing about the product. Has a reason and a remedy."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} ({remedy})" if remedy else reason)
        self.reason = reason
        self.remedy = remedy


class BuildError(LabError):
    """The tree does not build."""


class GuestTimeout(Exception):
    """A command in the machine did not end in time. The machine continues to run."""


class MachineDead(Exception):
    """The machine crashed, reset, or switched itself off."""
