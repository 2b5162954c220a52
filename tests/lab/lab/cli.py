# SPDX-License-Identifier: GPL-2.0-only
"""The command `qvlab`."""

import argparse
import re
import signal
import sys
from pathlib import Path

from . import build, check, enter, everything, gate, images, lint, packages, quest, roots, terminal
from .errors import BuildError, GuestTimeout, LabError, MachineDead
from .config import IOMMUS, Config
from .machine import EMULATORS, Machine

TIMEOUT, CRASH, LAB, BUILD = 124, 125, 126, 127
STATUSES = """\
Exit status of run and shell: that of the script, or else, with the reason on
stderr in a line that starts with 'qvlab:',
    2    wrong usage
  124    not done within --timeout (the console's tail is shown)
  125    the machine crashed, reset, or switched itself off (same)
  126    the lab failed: no root, no boot, a file could not be put or got back
  127    the tree does not build
"""


def say(text: str) -> None:
    print(f"qvlab: {text}", file=sys.stderr, flush=True)


def pair(text: str) -> tuple[str, str]:
    first, colon, second = text.partition(":")
    if not (first and colon and second):
        raise argparse.ArgumentTypeError(f"{text!r} is not SRC:DST")
    return first, second


def positive(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a time")
    return value


def count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 255:
        raise argparse.ArgumentTypeError(f"{text} is not a number of CPUs (1 to 255)")
    return int(text)


def size(text: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]*[MG]", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size (like 512M or 2G)")
    return text


# Linux keeps one of these functions, and a cell gets the other
CABLE = tuple(word for n, place in (("a", "12.0"), ("b", "14.0")) for word in (
    "-netdev", f"hubport,id={n},hubid=0", "-device", f"e1000e,netdev={n},addr={place}"))


def machine_options(p: argparse.ArgumentParser) -> None:
    kernels = sorted(roots.sections()["kernel"])
    p.add_argument("--machine", choices=sorted(EMULATORS), default="amd",
                   help="whose processor is emulated: amd with AMD-V in QEMU (default), intel with VT-x in Bochs")
    p.add_argument("--kernel", choices=kernels, default="6.12", help="Debian kernel (default: 6.12)")
    p.add_argument("--cpus", type=count, default=4, metavar="N", help="number of CPUs (default: 4)")
    p.add_argument("--memory", type=size, metavar="SIZE",
                   help="RAM (default: 2G; 1G with --machine intel)")
    p.add_argument("--iommu", choices=IOMMUS, default="none",
                   help="intel and amd give Linux x2APIC; none leaves it in xAPIC mode (default)")
    p.add_argument("--icount", action="store_true",
                   help="one virtual clock that counts instructions: slow, but repeatable")
    p.add_argument("--cpu-flags", default="", metavar="FLAGS", help="e.g. --cpu-flags=-svm")
    p.add_argument("--boot-arg", action="append", default=[], metavar="ARG",
                   help="one more kernel parameter (repeatable)")
    p.add_argument("--qemu-arg", action="append", default=[], metavar="ARG",
                   help="one more QEMU argument, e.g. --qemu-arg=-device --qemu-arg=edu (repeatable)")
    p.add_argument("--cable", action="store_true",
                   help="two network functions on one cable: 00:12.0 and 00:14.0 (with --iommu, for a cell)")
    p.add_argument("--no-build", action="store_true", help="install what was built last time")
    p.add_argument("--no-install", action="store_true", help="a machine without QV in it")
    p.add_argument("--console", type=Path, metavar="FILE",
                   help="where the serial console goes (default: a new file under build/lab/logs)")
    p.add_argument("--put", type=pair, action="append", default=[], metavar="SRC:DST",
                   help="copy a file or folder in before (repeatable)")
    p.add_argument("--get", type=pair, action="append", default=[], metavar="SRC:DST",
                   help="copy a file or folder out after (repeatable)")


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="qvlab", description=__doc__, epilog=STATUSES,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = p.add_subparsers(dest="action", required=True, metavar="COMMAND")

    def command(name: str, help: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help, description=help, epilog=STATUSES,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    run = command("run", "Build the tree, boot a machine with it, run a script as root in it.")
    machine_options(run)
    run.add_argument("--timeout", type=positive, default=None, metavar="S",
                     help="seconds for the script, from when the machine has booted (default: 600, more where all is slower)")
    run.add_argument("-c", dest="text", metavar="CMD", help="run this line of bash")
    run.add_argument("script", nargs="?", metavar="SCRIPT", help="run this file ('-': standard input)")
    shell = command("shell", "A root shell in such a machine, which ends with it.")
    machine_options(shell)
    setup = command("setup", "Make what the machines need (once).")
    setup.add_argument("--kernel", choices=sorted(roots.sections()["kernel"]), action="append",
                       help="fetch this kernel too (repeatable)")
    setup.add_argument("--machine", choices=["amd", "intel"], default="amd", help="intel: make one with VT-x that has booted, too")
    setup.add_argument("--packages", action="store_true", help="make what the tests of the Debian packages need, too")
    setup.add_argument("--fleet", action="store_true", help="make what the tests of many boxes need, too")
    command("sources", "Fetch the source packages that make compiles, too: what `make deps` does.")
    alone = command("quest", "Quest alone in QEMU, in this terminal: no Linux, no cell. Ctrl-A x ends it.")
    alone.add_argument("--files", type=Path, metavar="ARCHIVE",
                       help="an archive of inmates/quest/user/pack.py: more programs and files")
    alone.add_argument("--cmdline", default="", metavar="WORDS", help="e.g. admission=exact")
    made = command("build", "Build the tree for a kernel.")
    made.add_argument("--kernel", choices=sorted(roots.sections()["kernel"]), default="6.12")
    command("deb", "The Debian packages, in build/deb: what `make deb` does.")
    command("test", "The lab's tests, by pytest in the tool root; what follows is pytest's, "
            "e.g. tests/lab/test_lab.py -k files -x")
    command("make", "make in the tool root, where all tools are; what follows is make's, "
            "e.g. -C tests/fuzz fuzz SECONDS=600")
    command("check", "The gate, the same for every commit: what `make check` does.")
    command("lint", "English, commits and types: what `make lint` does.")
    parts = command("check-all", "Every test on every kind of machine, long proofs: what `make check-all` does.")
    parts.add_argument("--part", default="", metavar="K/N", help="only that part, e.g. 3/8 (default: all)")
    parts.add_argument("--list", action="store_true", help="name its commands and tests, do nothing")
    return p


def new_machine(o: argparse.Namespace) -> Machine:
    config = Config(machine=o.machine, kernel=o.kernel, cpus=o.cpus, memory=o.memory or "", iommu=o.iommu, icount=o.icount,
                    cpu_flags=o.cpu_flags, boot_args=tuple(o.boot_arg),
                    qemu_args=(*(CABLE if o.cable else ()), *o.qemu_arg))
    return Machine(config, install=not o.no_install, compile=not o.no_build, console=o.console,
                   boot_limit=getattr(o, "timeout", None) or 0.0)


def write_out(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def script_of(o: argparse.Namespace, machine: Machine) -> list[str]:
    """Puts the script into the machine. Returns the command that runs it."""
    if o.text is not None:
        return ["/bin/bash", "-c", o.text]
    data = sys.stdin.buffer.read() if o.script == "-" else Path(o.script).read_bytes()
    name = "script" if o.script == "-" else Path(o.script).name
    place = f"/root/{name}"
    machine.run(["/bin/sh", "-c", 'cat >"$1" && chmod 755 "$1"', "put", place], stdin=data)
    return [place] if data.startswith(b"#!") else ["/bin/bash", place]


def carry_out(o: argparse.Namespace) -> int:
    machine = new_machine(o)
    limit = o.timeout or 600.0 * machine.config.slowness
    try:
        with machine:
            for source, target in o.put:
                machine.put(source, target)
            argv = script_of(o, machine)
            try:
                rc = machine.run(argv, limit, sink=write_out).rc
            except GuestTimeout as e:
                say(f"not done within {limit:g} s: {e}; the end of the console:")
                print(machine.console_tail(), file=sys.stderr)
                rc = TIMEOUT
            failed = [f for f in o.get if not got(machine, f[0], f[1], brief=rc == TIMEOUT)]
            return LAB if failed and rc == 0 else rc
    except GuestTimeout as e:
        say(f"{e} within {machine.boot_limit:g} s; the end of the console:")
        print(machine.console_tail(), file=sys.stderr)
        return TIMEOUT
    except MachineDead as e:
        say(f"{e}; the end of the console ({machine.console}):")
        print(machine.console_tail(), file=sys.stderr)
        return CRASH


def got(machine: Machine, source: str, target: str, brief: bool) -> bool:
    try:
        machine.get(source, target, 15 if brief else 120)
        return True
    except (LabError, GuestTimeout) as e:
        say(f"not got back: {e}")
        return False


def main(argv: list[str]) -> int:
    p = parser()
    # The arguments after `test` are for pytest. Those after `make` are for make. This includes
    # options.
    o = p.parse_args(argv[:1] if argv[:1] in (["test"], ["make"]) else argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if o.action == "run":
            if (o.text is None) == (o.script is None):
                p.error("run needs either a SCRIPT or -c CMD")
            if o.script not in (None, "-") and not Path(o.script).is_file():
                p.error(f"{o.script}: no such script")
            for source, _ in o.put:
                if not Path(source).exists():
                    p.error(f"{source}: no such file to put")
            return carry_out(o)
        if o.action == "shell":
            return terminal.shell(new_machine(o), o.put, o.get)
        if o.action == "build":
            with build.lock():
                build.compile_for(images.kernel(o.kernel))
            return 0
        if o.action == "deb":
            return packages.main()
        if o.action == "quest":
            return quest.alone(o.files, o.cmdline)
        if o.action == "make":
            folder = argv[argv.index("-C") + 1].rstrip("/") if "-C" in argv[:-1] else ""
            return enter.run(check.tree(folder), ["make", "--no-print-directory", f"O={build.OUT}",
                                                  *argv[1:]], capture=False).returncode
        if o.action == "check":
            return gate.main()
        if o.action == "lint":
            return lint.main()
        if o.action == "check-all":
            return everything.main(o.part, o.list)
        if o.action == "sources":
            for name in roots.sections()["source"]:
                roots.source(name)
            return 0
        if o.action == "test":
            return check.pytest(argv[1:] or ["tests/lab"])
        images.root_disk()
        roots.ensure("python")  # a test uses its module for channels in a machine
        for name in ["6.12", *(o.kernel or [])]:
            images.kernel(name)
        if o.packages:
            packages.setup()
        if o.fleet:
            roots.ensure("fleet")
        if o.machine == "intel":
            check.boots()
        return 0
    except BuildError as e:
        say(str(e))
        return BUILD
    except LabError as e:
        say(str(e))
        return LAB
    except OSError as e:
        say(f"{e.strerror or e}: {e.filename or 'no file named'} (check the path and the disk)")
        return LAB
    except KeyboardInterrupt:
        say("interrupted")
        return 130
