# SPDX-License-Identifier: GPL-2.0-only
"""A folder outside the tree, where applications for the OSEK kernel are built with the installed
files."""

import os
import subprocess
from pathlib import Path

from .bare import build_dir
from .paths import TOP


class Outside:
    """A folder outside the tree, with a space in its name, and the stage that `make install`
    filled."""

    def __init__(self, base: Path) -> None:
        self.stage, self.path = base / "stage", base / "my work"
        self.path.mkdir()
        self.environment = {
            **os.environ, "PKG_CONFIG_PATH": str(self.stage / "usr/share/pkgconfig"),
            "PATH": f"{self.stage}/usr/bin:{os.environ['PATH']}"
        }
        self.run("make", "-s", "-C", str(TOP / "inmates/erika/sdk"), f"O={build_dir()}",
                 f"DESTDIR={self.stage}", "install")

    def run(self, *command: str, folder: str = ".", status: int = 0) -> str:
        done = subprocess.run(command,
                              cwd=self.path / folder,
                              env=self.environment,
                              text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT,
                              check=False)
        assert done.returncode == status, f"{command}: {done.stdout}"
        return done.stdout
