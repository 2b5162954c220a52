# SPDX-License-Identifier: GPL-2.0-only
"""Complete applications in the three dialects, by the names of their files."""

from pathlib import Path

FOLDER = Path(__file__).parent / "dialects"
SAMPLES = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.oil"))}
