# SPDX-License-Identifier: GPL-2.0-only
"""Messages with a bound between programs of two Quest cells."""

import re

import pytest

from lab.paths import TOP
from pages import block, blocks
from product import TEST_IMAGE, Product
from test_watching import until

PAGE = "messages.md"
ASK = re.compile(r"ask: (\d+) calls, the longest took ([\d.]+) ms; bound ([\d.]+) ms, with any VCPUs ([\d.]+) ms")
CPU = {"one": 3, "two": 2}


def in_run(qv: Product, command: str) -> str:
    done = qv.machine.run(["sh", "-c", f"cd /run && {command}"], 1200)
    assert done.rc == 0, f"{command}: {done.out}"
    return done.out


def write(qv: Product, text: str) -> None:
    name = re.findall(r"(?m)^name: (\w+)$", text)[0]
    in_run(qv, f"cat >{name}.yaml <<'END'\n{text}END")


def kept(said: str) -> float:
    """Returns which part of its bound the longest call took."""
    found = ASK.search(said)
    assert found, said
    longest, bound, admitted = map(float, found.groups()[1:])
    assert longest <= bound <= admitted
    return longest / bound


@pytest.mark.machine(icount=True)
def test_commands_of_the_page(qv: Product) -> None:
    """The bound is known before the first message, and holds for ends that poll and for ends that
    sleep: the clock counts instructions, so other work of the host does not matter. `bound` prints
    w."""
    qv.do("enable")
    for b in blocks(TOP / "Documentation/how-to" / PAGE):
        if b.kind == "yaml":
            write(qv, "\n".join(b.lines) + "\n")
    for step in block(PAGE, "qvctl cell create one.yaml").steps():
        said = in_run(qv, step.command)
    assert re.fullmatch(step.expected(), said.strip()), said
    assert kept(said) > 0.2
    [pid] = re.findall(r"(?m)^ *(\d+) +\d+ answer ", qv.quesh("ps", "two"))
    qv.quesh(f"kill {pid}", "two")
    qv.quesh("vcpu=talk answer questions sleep &", "two")
    kept(qv.quesh("vcpu=talk ask questions 20 sleep", "one", timeout=600))
    [step] = block(PAGE, "bound talk 5 40").steps()
    shown = qv.quesh(step.command, "one", timeout=120)
    assert re.fullmatch(step.expected(), shown.strip()), shown
    [wake] = re.findall(r"of which w ([\d.]+) ms", shown)
    assert 0 < float(wake) < 10, shown


def test_messages_of_many_sizes(qv: Product) -> None:
    """Of one slot and of several, to and fro; too large ones are refused, and the next one passes."""
    qv.do("enable")
    for name, cpu in CPU.items():
        write(qv, f"name: {name}\ncpus: [{cpu}]\nmemory: 32M\nimage: {TEST_IMAGE}\nvcpus: [{{name: talk, C: 5ms, T: 25ms}}]\n"
              "channels:\n  - {name: talk, type: mailbox, item: 4096, writer: one, readers: [two]}\n")
        qv.do(f"cell create /run/{name}.yaml --start")
    qv.quesh("vcpu=talk parcel talk take &", "two")
    said = qv.quesh("vcpu=talk parcel talk send", "one", timeout=1200)
    assert re.search(r"^parcel: \d{2} right, 0 wrong$", said, re.M), said
    until(lambda: ", 0 wrong" in qv.sh("quesh two --dump"), "the receiver's end", 60)
