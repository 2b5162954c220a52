# SPDX-License-Identifier: GPL-2.0-only
"""The shells complete the commands of qvctl by the scripts that scripts/commands prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools"))
from qv.cli.table import COMMANDS  # noqa: E402

VERBS = {c.path.removeprefix("cell ") for c in COMMANDS if c.path.startswith("cell ")}
TOPS = {c.path.split(" ")[0] for c in COMMANDS} | {"help", "version"}
BASH = """. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _qvctl; printf '%s\\n' "${COMPREPLY[@]}" """
# zsh completes in its line editor only, so it gets a terminal of its own
ZSH = r"""zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "source $1/setup"
zpty -w -n z "$2"$'\t'
while zpty -r z line; do print -r -- "$line"; [[ $line == *$'\3'* ]] && break; done"""
# It prints each word that compadd would add between the characters 1 and 2, and 3 at the end
SETUP = r"""PROMPT=; unsetopt zle_bracketed_paste; fpath=($1 $fpath)
autoload -U compinit; compinit -D -u; compdef _qvctl qvctl
compadd() {
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
	typeset -a hits
	builtin compadd -A hits "$@"
	print -nr -- $'\1'${^hits}$'\2'
}
show() { _main_complete; print -n $'\3'; exit }
zle -C complete-word complete-word show
bindkey '^I' complete-word
"""


def completion(shell: str, folder: Path) -> Path:
    script = folder / {"bash": "qvctl", "zsh": "_qvctl", "fish": "qvctl.fish"}[shell]
    made = subprocess.run([TOP / "scripts/commands", shell], capture_output=True, text=True, check=True)
    script.write_text(made.stdout)
    return script


def offered(shell: str, line: str, folder: Path) -> set[str]:
    """Returns the words that a shell offers at the end of a line."""
    script = completion(shell, folder)
    if shell == "bash":
        argv = ["bash", "-c", BASH, "bash", str(script), *line.split(" ")]
    elif shell == "fish":
        argv = ["fish", "-N", "-c", f"source {script}; complete -C '{line}'"]
    else:
        (folder / "setup").write_text(SETUP.replace("$1", str(folder)))
        argv = ["zsh", "-f", "-c", ZSH, "zsh", str(folder), line]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=folder, timeout=60, check=False)
    assert not done.stderr, done.stderr
    if shell == "zsh":
        return set(re.findall("\1([^\2]*)\2", done.stdout))
    return {word.split("\t")[0] for word in done.stdout.splitlines() if word}


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_shell_offers_commands(shell: str, tmp_path: Path) -> None:
    found = offered(shell, "qvctl ", tmp_path)
    assert TOPS - {"help", "version"} <= found, found


def test_shell_offers_verbs_of_cells(shell: str, tmp_path: Path) -> None:
    assert offered(shell, "qvctl cell ", tmp_path) == VERBS
    assert offered(shell, "qvctl cell sh", tmp_path) == {"shutdown", "show"}


def test_shell_offers_options_of_a_command(shell: str, tmp_path: Path) -> None:
    found = offered(shell, "qvctl cell create --", tmp_path)
    assert {"--start", "--force", "--json"} <= found
    assert "--timeout" not in found


def test_shell_offers_yaml_files(shell: str, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").touch()
    found = offered(shell, "qvctl cell create o", tmp_path)
    assert "one.yaml" in found


def test_page_has_list_of_commands(tmp_path: Path) -> None:
    page = TOP / "Documentation/reference/qvctl.md"
    copy = tmp_path / page.name
    copy.write_text(page.read_text())
    subprocess.run([TOP / "scripts/commands", copy], check=True)
    assert copy.read_text() == page.read_text(), "run scripts/commands Documentation/reference/qvctl.md"
