# SPDX-License-Identifier: GPL-2.0-only
"""draw.py FOLDER NAME...: draws the figures of FOLDER/NAME.json of the experiments with these names
into FOLDER. Needs matplotlib."""

import importlib
import json
import sys
from pathlib import Path


def main(folder: Path, names: list[str]) -> None:
    for name in names:
        importlib.import_module(name).draw(json.loads((folder / f"{name}.json").read_text()), folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
