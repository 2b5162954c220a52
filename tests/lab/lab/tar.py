# SPDX-License-Identifier: GPL-2.0-only
"""Tar archives with the methods of cpio.Archive, for machines that have booted already."""

import io
import tarfile
from pathlib import Path


class Archive:
    """Collects members; `data()` is the finished archive."""

    def __init__(self) -> None:
        self._data = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._data, mode="w", format=tarfile.GNU_FORMAT)

    def _member(self, name: str, kind: bytes, mode: int, body: bytes = b"", target: str = "") -> None:
        member = tarfile.TarInfo(name)
        member.type, member.mode, member.size, member.linkname = kind, mode, len(body), target
        self._tar.addfile(member, io.BytesIO(body))

    def file(self, name: str, body: bytes, mode: int = 0o644) -> None:
        self._member(name, tarfile.REGTYPE, mode, body)

    def link(self, name: str, target: str) -> None:
        self._member(name, tarfile.SYMTYPE, 0o777, target=target)

    def tree(self, source: Path, prefix: str) -> None:
        """Adds everything under `source` as `prefix`/..."""
        for path in sorted(source.rglob("*")):
            name = f"{prefix}/{path.relative_to(source)}"
            if path.is_symlink():
                self.link(name, str(path.readlink()))
            elif path.is_dir():
                self._member(name, tarfile.DIRTYPE, path.stat().st_mode & 0o7777)
            elif path.is_file():
                self.file(name, path.read_bytes(), path.stat().st_mode & 0o7777)

    def data(self) -> bytes:
        self._tar.close()
        return self._data.getvalue()
