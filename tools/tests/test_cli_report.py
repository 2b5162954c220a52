# SPDX-License-Identifier: GPL-2.0-only
"""qvctl report, and its plots."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from running import Run

from qv import abi, svg
from qv.errors import NotAllowed, NotLoaded

SPACE = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """Collects the elements, and checks that each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not {"src", "href", "onload"} & {
            name for name, _ in attrs
        }, "the page refers to nothing outside"
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_report_is_one_page(run: Run, tmp_path: Path) -> None:
    run.create("--start")
    run.device.enabled = True
    info = run.device.cells["quest"]
    info.heartbeat, info.idle_cpus, info.idle_cycles = 7, 1, 1000
    info.cmdline = b"a<script>b"
    cells = Path(run.system.root) / "etc/qv/cells"
    cells.mkdir(parents=True)
    (cells / "quest.yaml").write_text("name: quest  # <mine>\n")
    file = tmp_path / "report.html"
    assert run.json("--json", "report", str(file), "-n", "3")["bytes"] == file.stat().st_size
    assert file.stat().st_mode & 0o777 == 0o600
    page = Page(file.read_text())
    assert page.seen.count("svg") == 5, "three plots over time, the exits of Linux and of the cell"
    assert (
        "script" not in page.seen
        and "a<script>b" in page.text
        and "name: quest  # <mine>" in page.text
    )
    assert re.search(r"heartbeats\s*7", page.text) and "cell quest: it runs?[2J" in page.text
    assert "tsc_khz" in page.text and "Doctor" in page.text


def test_name_has_one_colour_in_all_plots(run: Run, tmp_path: Path) -> None:
    """Linux does not count its idle time, so the first plot has the cell alone."""
    run.create("--start")
    run.device.enabled = True
    info = run.device.cells["quest"]
    info.heartbeat, info.idle_cpus, info.idle_cycles = 7, 1, 1000
    assert run("report", str(tmp_path / "r.html"), "-n", "2") == 0, run.err
    plots = re.findall(r"<svg.*?</svg>", (tmp_path / "r.html").read_text(), re.DOTALL)
    found: dict[str, set[str]] = {}
    for plot in plots[:3]:
        for text in ElementTree.fromstring(plot).iter(f"{SPACE}text"):
            if text.attrib["fill"] != "currentColor":
                found.setdefault(str(text.text), set()).add(text.attrib["fill"])
    for plot in plots[3:]:
        root = ElementTree.fromstring(plot)
        name = str(root.findtext(f"{SPACE}title")).removeprefix("exits of ")
        found[name] |= {bar.attrib["fill"] for bar in root.iter(f"{SPACE}rect")}
    assert sorted(found) == ["linux", "quest"] and all(len(one) == 1 for one in found.values()), found
    assert found["linux"] != found["quest"]


def test_report_of_a_failed_cell_has_its_registers(run: Run, tmp_path: Path) -> None:
    run.create("--start")
    run.device.enabled = True
    info = run.device.cells["quest"]
    info.state, info.failure.reason, info.failure.rip = abi.State.FAILED, abi.Failure.MEMORY, 0x1234
    assert run("report", str(tmp_path / "r.html"), "-n", "1") == 0, run.err
    page = Page((tmp_path / "r.html").read_text())
    assert (
        "failed: memory: it touched memory outside the cell" in page.text and "0x1234" in page.text
    )


def test_report_without_monitor_or_driver(run: Run, tmp_path: Path) -> None:
    assert run("report", str(tmp_path / "r.html")) == 0, run.err
    assert "svg" not in Page((tmp_path / "r.html").read_text()).seen
    assert run("report", str(tmp_path / "none/r.html")) == 1 and "cannot be written" in run.err
    assert run("report", str(tmp_path / "r.html"), "-n", "0") == 2
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("r.html")] == [
        "r.html"
    ]


def test_report_without_module(run: Run, tmp_path: Path) -> None:
    """The page has what Linux alone knows, and says what it lacks and why."""
    root = Path(run.system.root)
    for path, text in (("etc/qv/cells/quest.yaml", "name: quest  # <mine>\n"),
                       ("etc/qv/qv.conf", "QV_POOL=64M\n"),
                       ("proc/cpuinfo", "vendor_id\t: X\nmodel name\t: Some <CPU>\n"),
                       ("proc/cmdline", "quiet iommu=pt\n"),
                       ("modinfo", "version: 9.9\n")):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    run.system.entries = ["host kernel: qv: it says\n", "host kernel: other: it too\n"]
    run.system.fake = NotLoaded("the module qv is not loaded: there is no /dev/qv", "modprobe qv")
    file = tmp_path / "r.html"
    assert run.json("report", str(file), "--json") == {
        "file": str(file), "bytes": file.stat().st_size, "module": False}
    page = Page(file.read_text())
    assert "svg" not in page.seen and "tsc_khz" not in page.text and "Cells" not in page.text
    for part in ("The module qv is not loaded: there is no /dev/qv. So this page has no state",
                 "modprobe qv", "name: quest  # <mine>", "QV_POOL=64M", "Some <CPU>", "iommu=pt",
                 "9.9", "there is no module qv for the kernel", "qv: it says"):
        assert part.lower() in page.text.lower(), part
    assert page.text.count("other: it too") == 1, "among the units' lines, not the module's"
    assert run("report", str(file)) == 0 and "the module qv is not loaded" in run.out


def test_report_without_right_to_the_device(run: Run, tmp_path: Path) -> None:
    """A page without the state would mislead if only the right to see it is missing."""
    run.system.fake = NotAllowed("you may not open /dev/qv", "run it with sudo")
    assert run("report", str(tmp_path / "r.html")) == 1 and "you may not open" in run.err


def test_report_names_files_of_cells_that_do_not_exist(run: Run, tmp_path: Path) -> None:
    run.create("--start")
    run.device.enabled = True
    cells = Path(run.system.root) / "etc/qv/cells"
    cells.mkdir(parents=True)
    for name in ("quest", "later"):
        (cells / f"{name}.yaml").write_text(f"name: {name}  # of the unit\n")
    assert run("report", str(tmp_path / "r.html"), "-n", "1") == 0, run.err
    page = Page((tmp_path / "r.html").read_text())
    assert page.text.count("# of the unit") == 2 and "/etc/qv/cells/later.yaml" in page.text


def points(text: str) -> list[list[tuple[float, float]]]:
    root = ElementTree.fromstring(text)
    return [
        [
            (float(x), float(y))
            for x, y in (point.split(",") for point in line.attrib["points"].split(" "))
        ]
        for line in root.iter(f"{SPACE}polyline")
    ]


def test_lines_are_to_scale() -> None:
    drawn = points(svg.lines("a", [0, 1, 2, 3], {"one": [0, 5, None, 10], "two": [20, 20, 20, 20]}))
    bottom, top = svg.HEIGHT - svg.BOTTOM, svg.TOP
    assert drawn[0][0] == (svg.LEFT, bottom) and drawn[0][1][1] == bottom - (bottom - top) / 4
    assert len(drawn) == 3 and drawn[1] == [(svg.WIDTH - svg.RIGHT, (bottom + top) / 2)]
    assert {y for _, y in drawn[2]} == {top}
    assert points(svg.lines("flat", [1], {"zero": [0]}))[0][0][1] == bottom


@pytest.mark.parametrize("rows", [[], [("a&b", 0.0)], [("x", 10.0), ("y", 5.0)]])
def test_bars_are_to_scale(rows: list[tuple[str, float]]) -> None:
    root = ElementTree.fromstring(svg.bars("t", rows))
    widths = [float(bar.attrib["width"]) for bar in root.iter(f"{SPACE}rect")]
    assert len(widths) == len(rows)
    if len(rows) == 2:
        assert widths[0] == 2 * widths[1] > 0


def test_numbers_of_an_axis() -> None:
    assert [svg.number(value) for value in (0, 0.5, 999, 1500, 2e6, 3e9)] == [
        "0",
        "0.5",
        "999",
        "1.5k",
        "2M",
        "3G",
    ]
