# SPDX-License-Identifier: GPL-2.0-only
"""Writes initramfs archives (the kernel's "newc" cpio) in Python."""

import stat
from pathlib import Path


class Archive:
    """Collects members; `data()` is the finished archive."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._inode = 0
        self._known: set[str] = set()

    def _member(self, name: str, mode: int, body: bytes, rdev: tuple[int, int] = (0, 0)) -> None:
        self._inode += 1
        raw = name.encode() + b"\0"
        fields = [self._inode, mode, 0, 0, 1, 0, len(body), 0, 0, *rdev, len(raw), 0]
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + raw
        self._parts += [head, b"\0" * (-len(head) % 4), body, b"\0" * (-len(body) % 4)]

    def folder(self, name: str, mode: int = 0o755) -> None:
        if name and name != "." and name not in self._known:
            self._known.add(name)
            self.folder(str(Path(name).parent))
            self._member(name, stat.S_IFDIR | mode, b"")

    def file(self, name: str, body: bytes, mode: int = 0o644) -> None:
        self.folder(str(Path(name).parent))
        self._member(name, stat.S_IFREG | mode, body)

    def link(self, name: str, target: str) -> None:
        self.folder(str(Path(name).parent))
        self._member(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name: str, major: int, minor: int) -> None:
        self.folder(str(Path(name).parent))
        self._member(name, stat.S_IFCHR | 0o600, b"", (major, minor))

    def tree(self, source: Path, prefix: str) -> None:
        """Adds everything under `source` as `prefix`/..."""
        for path in sorted(source.rglob("*")):
            name = f"{prefix}/{path.relative_to(source)}"
            if path.is_symlink():
                self.link(name, str(path.readlink()))
            elif path.is_dir():
                self.folder(name, path.stat().st_mode & 0o7777)
            elif path.is_file():
                self.file(name, path.read_bytes(), path.stat().st_mode & 0o7777)

    def data(self) -> bytes:
        self._member("TRAILER!!!", 0, b"")
        body = b"".join(self._parts)
        return body + b"\0" * (-len(body) % 512)
