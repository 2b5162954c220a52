# SPDX-License-Identifier: GPL-2.0-only
"""The role for many boxes in Documentation/fleet brings QV by ssh to a machine that has never
had it, as the page says."""

import json
import re
import shutil
import socket
from pathlib import Path

import pytest

from lab import enter, packages, roots
from lab.machine import Machine
from lab.paths import BUILD, TOP
from pages import blocks
from test_fleet import FLEET

pytestmark = pytest.mark.slow

# The machine has no mirror of Debian, but the packages of /srv/debs
READY = """
set -e
rm -f /etc/apt/sources.list.d/*
cd /srv/debs
apt-ftparchive packages . >Packages
echo 'deb [trusted=yes] file:/srv/debs ./' >/etc/apt/sources.list
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends openssh-server
mkdir -p -m 700 /root/.ssh
cat >/root/.ssh/authorized_keys
device=$(ls /sys/class/net | grep -v lo)
ip address add 10.0.2.15/24 dev "$device"
ip link set "$device" up
"""
METRICS = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9747/metrics').read().decode())"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Box:
    """A machine without QV, which Ansible reaches by ssh, and a copy of the example that names it."""

    def __init__(self, machine: Machine, folder: Path, port: int) -> None:
        self.machine, self.folder = machine, folder / "play"
        shutil.copytree(FLEET, self.folder)
        inventory = self.folder / "inventory.ini"
        text, count = re.subn(r"(?m)^box1.example (.*)\nbox2.example .*$",
                              rf"box1.example ansible_host=127.0.0.1 ansible_port={port} \1", inventory.read_text())
        assert count == 1
        inventory.write_text(text)
        self.key = folder / "key"
        enter.shell(roots.ensure("fleet"), 'ssh-keygen -q -t ed25519 -N "" -f "$1"', str(self.key))
        self.sh(READY, stdin=Path(f"{self.key}.pub").read_bytes())

    def sh(self, command: str, stdin: bytes = b"") -> str:
        done = self.machine.run(command, 900, stdin=stdin)
        assert done.rc == 0, f"{command}: {done.out}"
        return done.out

    def ansible(self, command: str) -> str:
        """Runs a command of the page. Returns what Ansible printed."""
        script = f'cd "$1" && {command}'
        done = enter.run(roots.ensure("fleet"), ["sh", "-c", script, "sh", str(self.folder)], {
            "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_HOST_KEY_CHECKING": "False", "ANSIBLE_PRIVATE_KEY_FILE": str(self.key),
            "ANSIBLE_SSH_COMMON_ARGS": "-o UserKnownHostsFile=/dev/null"})
        assert done.returncode == 0, f"{command}: {done.stdout}"
        return done.stdout


def commands_of_page() -> list[str]:
    page = TOP / "Documentation/how-to/fleet.md"
    return [line for block in blocks(page) for line in block.lines if line.startswith("ansible")]


def test_role_installs_qv_by_ssh_and_starts_cells(tmp_path: Path) -> None:
    """The commands of the page, on a machine that has never had QV."""
    debs = packages.build(BUILD / "lab/deb-fleet")
    port = free_port()
    network = f"user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:22"
    copy, play, check = commands_of_page()
    with Machine(kernel=packages.TARGET, userland=f"kernel-{packages.TARGET}", memory="4G", install=False,
                 qemu_args=("-netdev", network, "-device", "e1000e,netdev=n")) as machine:
        assert machine.run("which qvctl").rc != 0
        box = Box(machine, tmp_path, port)
        box.ansible(copy.replace("PATH/build/deb", str(debs)))
        said = box.ansible(play)
        assert re.search(r"The packages are there.*\nchanged: \[box1.example\]", said), said
        assert json.loads(box.sh("qvctl cell show quest --json"))["state"] == "running"
        assert json.loads(box.sh("qvctl pool --json"))["size"] == 512 << 20
        assert 'qv_cell_state{' in box.sh(f'python3 -c "{METRICS}"')
        for again in (play, check):
            assert "changed=0" in (said := box.ansible(again)), said
        cell = box.folder / "cells/quest.yaml"
        cell.write_text(cell.read_text().replace("64M", "32M"))
        assert "+memory: 32M" in (said := box.ansible(check)), said
        box.ansible(play)
        assert json.loads(box.sh("qvctl cell show quest --json"))["memory"] == 32 << 20
