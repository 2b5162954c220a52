# SPDX-License-Identifier: GPL-2.0-only
"""Complete applications in the four dialects, by the names of their files."""

from pathlib import Path

from oil.compile import compile_text
from oil.emit import files

FOLDER = Path(__file__).parent / "dialects"
SAMPLES = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.oil"))}
SMALLEST = "CPU c { OS o; };"


def generated(text: str) -> dict[str, str]:
    """Returns the generated files of an OIL text."""
    compiled = compile_text("t.oil", text)
    assert compiled.application, compiled.problems.found
    return files(compiled.application, "t.oil")
