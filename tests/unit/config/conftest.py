# SPDX-License-Identifier: GPL-2.0-only
"""Makes qv.abi importable."""

import generated  # noqa: F401
