# SPDX-License-Identifier: GPL-2.0-only
"""The Debian mirror and keyring that this machine's own apt uses."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError

APT = Path("/etc/apt")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
ONE_LINE = re.compile(r"^deb\s+(?:\[(?P<options>[^]]*)\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)$")


@dataclass
class Source:
    uri: str
    suite: str
    components: list[str]
    signed_by: str


def _one_line(text: str) -> Iterator[Source]:
    for line in text.splitlines():
        if match := ONE_LINE.match(line.split("#")[0].strip()):
            options = dict(o.split("=", 1) for o in (match["options"] or "").split() if "=" in o)
            yield Source(match["uri"], match["suite"], match["components"].split(),
                         options.get("signed-by", ""))


def _deb822(text: str) -> Iterator[Source]:
    lines = "\n".join(l for l in text.splitlines() if not l.startswith("#"))
    for stanza in re.split(r"\n[ \t]*\n", lines):
        fields: dict[str, str] = {}
        key = ""
        for line in stanza.splitlines():
            if line[:1] in " \t":
                if key:
                    fields[key] += "\n" + line.strip()
            elif ":" in line:
                key, value = line.split(":", 1)
                key = key.strip().lower()
                fields[key] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes") == "no":
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield Source(uri, suite, fields.get("components", "").split(),
                             fields.get("signed-by", ""))


def sources(apt: Path = APT) -> list[Source]:
    """Returns every source of binary packages, in apt's order."""
    found: list[Source] = []
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    for path in files:
        if path.is_file() and path.suffix in (".list", ".sources"):
            parse = _one_line if path.suffix == ".list" else _deb822
            found.extend(parse(path.read_text()))
    return found


def _resolve(uri: str) -> str:
    """Returns the address that apt would use. A mirror list gives its first mirror."""
    if uri.startswith("mirror+file:"):
        listing = Path("/" + uri.removeprefix("mirror+file:").lstrip("/"))
        for line in listing.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                return line.split()[0]
    return uri


def mirror(apt: Path = APT) -> tuple[str, str]:
    """Returns the address of a full Debian archive, and the keyring of its signature."""
    for source in sources(apt):
        release = source.suite.split("/")[0]
        full = "-" not in release and "main" in source.components
        uri = _resolve(source.uri)
        if full and re.search(r"/debian/*$", uri):
            named = source.signed_by.split()[0] if source.signed_by else ""
            keyring = named if named.startswith("/") and Path(named).exists() else KEYRING
            return uri.rstrip("/"), keyring
    raise LabError(f"no Debian archive is named under {apt}",
                   "add a line like 'deb MIRROR/debian bookworm main' to sources.list")


def proxy_options() -> list[str]:
    """Returns the options of apt that are needed to reach the mirror from here."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    keep = re.compile(r'^Acquire::(https?::proxy\b|check-valid-until|https::(ca|verify))', re.IGNORECASE)
    return [line.rstrip(";") for line in dump.splitlines() if keep.match(line) and ' "";' not in line]
