# SPDX-License-Identifier: GPL-2.0-only
"""Programs built outside the tree with the installed SDK print the same in Quest and on the host."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from lab import bare as m

pytestmark = pytest.mark.usefixtures("built")

SAMPLES = m.TOP / "inmates/quest/user/programs"
# sources that use no function of Quest's own, so that they compile on the host
POSIX = ("buffer", "pipeline", "ticker")
MAKEFILE = """\
include $(shell pkg-config --variable=makefragment qv-quest)
demo.cpio: quest/buffer quest/pipeline quest/ticker quest/two quest/plain note.txt
quest/two: quest/other.o
"""
# Plain C, which uses neither POSIX nor Quest
PLAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int write, exec;
int pipe(int n);
int read(void);
int pipe(int n) { return n + 1; }
int read(void) { return 40; }
int perror_of(void);
int perror_of(void) { return (int)(time(NULL) - time(NULL)) + (malloc(9) == NULL); }
int sleep(void);
int sleep(void) { return perror_of(); }
int main(void)
{
	FILE *file = fopen("note.txt", "r");
	char text[9];
	return !file || !fgets(text, sizeof(text), file) || printf("%d %s", pipe(read()) + sleep() + write, text) < 0;
}
"""
HELLO = '#include <stdio.h>\nint main(void)\n{\n\treturn puts("hello") < 0;\n}\n'
TWO = '#include <stdio.h>\nint other(void);\nint main(void)\n{\n\treturn printf("%.2f %d\\n", 2.0 / 3, other()) < 0;\n}\n'


def run(*command: str, **more) -> str:
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def words(text: str) -> list[str]:
    return text.split()


class Folder:
    """A folder of programs outside the tree, and the stage that `make install` filled."""

    def __init__(self, base: Path):
        self.stage, self.path = base / "stage", base / "work"
        run("make", "-s", "-C", str(m.TOP / "inmates"), f"O={m.build_dir()}", f"DESTDIR={self.stage}", "install")
        self.path.mkdir()
        self.environment = {**os.environ, "PKG_CONFIG_PATH": str(self.stage / "usr/share/pkgconfig")}
        for name in POSIX:
            shutil.copy(SAMPLES / f"{name}.c", self.path)
        (self.path / "two.c").write_text(TWO)
        (self.path / "plain.c").write_text(PLAIN)
        (self.path / "other.c").write_text("int other(void);\nint other(void)\n{\n\treturn 7;\n}\n")
        (self.path / "note.txt").write_text("a note\n")
        (self.path / "Makefile").write_text(MAKEFILE)

    def run(self, *command: str) -> str:
        return run(*command, cwd=self.path, env=self.environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return Folder(tmp_path_factory.mktemp("sdk"))


@pytest.fixture(scope="module")
def quest(folder):
    """A machine with the shipped image and an archive that was built outside the tree."""
    folder.run("make", "demo.cpio")
    with m.Machine("-kernel", str(m.quest("quest32.elf")), "-initrd", str(folder.path / "demo.cpio")) as machine:
        yield m.Shell(machine, r"(?m)^> ")


def in_quest(shell: m.Shell, line: str) -> str:
    """Returns the output of the program without the shell's line about its VCPU."""
    return re.sub(r"(?m)^\S+ (begins in \d+ ms|: no VCPU of).*\n", "", shell.run(line))


def test_make_after_a_change_links_again(folder):
    """The .d file of the first `make` must not become the goal of the second."""
    example = folder.path / "changed"
    shutil.copytree(folder.stage / "usr/share/qv/examples/quest", example)
    (example / "page").write_text(MAKEFILE.replace("demo.cpio: quest/buffer quest/pipeline quest/ticker quest/two "
                                                   "quest/plain note.txt", "demo.cpio: quest/hello"))
    for word in ("greetings", "salutations"):
        folder.run("make", "-C", str(example))
        folder.run("make", "-C", str(example), "-f", "page")
        (example / "hello.c").write_text((example / "hello.c").read_text().replace("hello from", f"{word} from"))
        folder.run("make", "-C", str(example))
        assert word.encode() in (example / "quest/hello").read_bytes()
        folder.run("make", "-C", str(example), "-f", "page")
        assert word.encode() in (example / "demo.cpio").read_bytes()
        (example / "hello.c").write_text((example / "hello.c").read_text().replace(f"{word} from", "hello from"))


def test_pack_destroys_no_file_and_says_what_quest_would_not_use(folder):
    pack = folder.run("pkg-config", "--variable=pack", "qv-quest").strip()
    long = "n" * 32
    (folder.path / long).write_text("x")
    (folder.path / "other").mkdir()
    (folder.path / "other/note.txt").write_text("another note\n")
    many = [f"f{number}" for number in range(65)]
    for name in many:
        (folder.path / name).write_text(name)
    for arguments, wrong in (
            # the archive is forgotten
            (["two.c", "note.txt"], "two.c is no archive, so it stays: name the archive first, then its files"),
            (["new.cpio", "none"], "none: no such file or directory"),
            (["new.cpio", "other"], "other: is a directory"),
            (["none/new.cpio", "note.txt"], "none/new.cpio: no such file or directory"),
            (["new.cpio", long], f"the name {long} has more than 31 bytes"),
            (["new.cpio", "note.txt", "other/note.txt"],
             "two files are named note.txt: Quest knows no folders"),
            (["new.cpio", *many], "there are 65 files, and Quest takes 64")):
        done = subprocess.run([pack, *arguments], cwd=folder.path, text=True, capture_output=True,
                              check=False)
        assert (done.returncode, done.stderr) == (1, f"pack.py: {wrong}\n")
        assert not (folder.path / "new.cpio").exists()
    assert (folder.path / "two.c").read_text() == TWO
    for _ in range(2):      # an archive is replaced
        assert folder.run(pack, "new.cpio", "note.txt") == ""


def test_no_header_of_the_host_is_found(folder):
    """A header that Quest does not have is an error; a header of the host is not used."""
    (folder.path / "foreign.c").write_text("#include <sys/ioctl.h>\n")
    flags = folder.run("pkg-config", "--cflags", "qv-quest").split()
    done = subprocess.run(["gcc", *flags, "-c", "foreign.c"], cwd=folder.path, text=True, capture_output=True, check=False)
    assert "sys/ioctl.h: No such file" in done.stderr
    (folder.path / "each.c").write_text("".join(
        f"#include <{p.relative_to(m.TOP / 'inmates/quest/user/include')}>\n"
        for p in sorted((m.TOP / "inmates/quest/user/include").rglob("*.h"))) + "int most = INT_MAX;\n")
    depend = folder.run("gcc", *flags, "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-M", "each.c")
    assert not [name for name in depend.split() if name.startswith("/usr/include")]
    folder.run("gcc", *flags, "-std=c11", "-Wall", "-Wextra", "-Werror", "-c", "each.c")


def test_commands_of_the_page(folder):
    """Runs the commands of quest-programs.md, which build a program and an archive, without make
    and with it."""
    page = (m.TOP / "Documentation/tutorial/quest-programs.md").read_text()
    section = page.split("## Outside the tree: the SDK")[1]
    fragment, commands = ([line.strip() for line in lines.splitlines()] for lines in re.findall(r"(?m)^(?:    .*\n)+", section)[:2])
    for name, text in {"hello.c": HELLO, "more.c": "int more;\n", "data.bin": "", "page.mk": "\n".join(fragment)}.items():
        (folder.path / name).write_text(text)
    for line in commands:
        folder.run("sh", "-ec", line)
    assert b"hello" in (folder.path / "demo.cpio").read_bytes()
    (folder.path / "demo.cpio").unlink()
    folder.run("make", "-f", "page.mk", "demo.cpio")
    assert all(name in (folder.path / "demo.cpio").read_bytes() for name in (b"hello", b"pipeline", b"data.bin"))


def test_installed_example(folder):
    """The example of the packages builds, and its cell has the program that was built."""
    place = folder.path / "example"
    shutil.copytree(folder.stage / "usr/share/qv/examples/quest", place)
    run("make", "all", "more.cpio", cwd=place, env=folder.environment)
    assert (place / "quest/hello").read_bytes().startswith(b"\x7fELF")
    page = (m.TOP / "Documentation/tutorial/quest-programs.md").read_text()
    described = (place / "hello.yaml").read_text().split("quesh hello\n")[1]
    assert f"```yaml\n{described}```" in page
    assert (place / "hello.c").read_text().split("\n", 2)[2] in page
    cell = yaml.safe_load(described)
    assert (place / cell["modules"][0]["file"]).exists()


def test_sources_of_one_command(folder):
    flags = {what: folder.run("pkg-config", what, "qv-quest").split() for what in ("--cflags", "--libs")}
    folder.run("gcc", "-O2", *flags["--cflags"], "two.c", "other.c", "-o", "alone", *flags["--libs"])
    assert (folder.path / "alone").read_bytes().startswith(b"\x7fELF")


@pytest.mark.parametrize("name", POSIX)
def test_same_source_does_the_same_in_quest_and_on_the_host(folder, quest, name):
    folder.run("gcc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-O2", "-pthread",
               "-o", f"host-{name}", f"{name}.c")
    theirs = subprocess.run([folder.path / f"host-{name}"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    ours = re.sub(r"(?m)^late by [\d.]+ us in the mean, [\d.]+ us at most, \d+ missed\n", "", in_quest(quest, name))
    assert words(ours) == words(theirs.stdout) != []


def test_errors_go_to_stderr(quest):
    assert "nothing: no such program\n" in in_quest(quest, "pipeline nothing")
    assert in_quest(quest, "ticker x").startswith("usage: ticker [TICKS [MS]], 1 to 1000 ms\n")


def test_several_sources_and_floating_point(quest):
    assert in_quest(quest, "two") == "0.67 7\n"


def test_plain_c_may_have_names_of_posix(quest):
    assert in_quest(quest, "plain") == "41 a note\n"


def test_shipped_image_holds_samples_only(quest):
    names = {line.split()[0] for line in quest.run("ls").splitlines()}
    shipped = {path.stem for path in SAMPLES.glob("*.c")} | {"frame.pgm", "nicdriver"}
    assert names == shipped | {"two", "plain", "note.txt"}
    for name in ("hostile", "fuzz", "calls", "fault", "pcitest get 0 0 4", "edu id"):
        assert "no such command" in quest.run(name)


def test_broken_sample_does_not_stop_the_kernel(tmp_path):
    """The image lacks the sample and does not contain an older build of it. make fails with a reason."""
    tree, out = tmp_path / "tree", tmp_path / "out"
    for part in ("inmates", "include", "lib", "scripts", "tools/qv"):
        shutil.copytree(m.TOP / part, tree / part, symlinks=True)
    broken = tree / "inmates/quest/user/programs/logger.c"
    make = ["make", "-s", "-j2", "-C", str(tree / "inmates"), f"O={out}"]
    assert subprocess.run([*make, "all"], capture_output=True, check=False).returncode == 0
    broken.write_text(broken.read_text().replace("return 0;", "return 0"))
    done = subprocess.run([*make, "all"], text=True, capture_output=True, check=False)
    assert done.returncode != 0 and "logger.c" in done.stderr
    image = (out / "inmates/quest/quest.elf").read_bytes()
    assert b"periodic\0" in image and b"logger\0" not in image


@pytest.mark.parametrize("page", ["channels", "messages", "migration", "recovery"])
def test_programs_of_pages_compile_without_a_warning(folder, page):
    text = (m.TOP / f"Documentation/how-to/{page}.md").read_text()
    programs = [code for code in re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if "int main(" in code]
    assert programs
    for n, code in enumerate(programs):
        (folder.path / f"{page}{n}.c").write_text(code)
        folder.run("make", "CFLAGS=-O2 -Wall -Wextra -Werror", f"quest/{page}{n}")
