# SPDX-License-Identifier: GPL-2.0-only
"""promtool, with which Prometheus checks its input, accepts the numbers of `qvctl metrics` and the
example of a configuration. The driver here exists only in the test."""

from pathlib import Path

import pytest

from lab import build, enter, roots
from lab.paths import TOP

pytestmark = pytest.mark.slow
NUMBERS = """
import sys
from pathlib import Path
import generated
from fakes import FakeDevice, FakeSystem
from qv.cli import main
from qv.transcript import LATENCY, Transcript
from test_cli_latency import SOME, page
device = FakeDevice()
folder = Path(sys.argv[1])
system = FakeSystem(device, folder)
(folder / "quest.elf").write_bytes(Path(sys.argv[2]).read_bytes())
(folder / "quest.yaml").write_text("name: quest\\ncpus: [3]\\nmemory: 64M\\nimage: quest.elf\\n")
(folder / "quest").mkdir()
(folder / "quest/console").write_bytes(bytes(LATENCY) + page(*SOME) + bytes(0x4000))
system.transcript = lambda name: Transcript(name, str(folder))
assert main(["cell", "create", str(folder / "quest.yaml"), "--start"], system) == 0
device.enabled = True
info = device.cells["quest"]
info.heartbeat, info.idle_cpus, info.idle_cycles, info.started_ns = 7, 1, 1000, 5
sys.exit(main(["metrics", "--file", str(folder / "qv.prom")], system))
"""


def promtool(*words: str) -> tuple[int, str]:
    done = enter.run(roots.ensure("fleet"), ["sh", "-c", 'file=$1; shift; exec promtool "$@" <"$file"', "sh", *words])
    return done.returncode, done.stdout


def test_promtool_accepts_the_metrics(tmp_path: Path) -> None:
    build.abi()
    path = f"{TOP}/tools:{TOP}/tools/tests"
    image = TOP / "tests/unit/config/good/tiny.elf"
    made = enter.run(roots.ensure("tool"), ["python3", "-c", NUMBERS, str(tmp_path), str(image)],
                     {"PYTHONPATH": path, "O": str(build.OUT), "PYTHONDONTWRITEBYTECODE": "1"})
    assert made.returncode == 0, made.stdout
    numbers = (tmp_path / "qv.prom").read_text()
    assert 'qv_cell_state{' in numbers and 'qv_latency_seconds_bucket{' in numbers, numbers
    assert promtool(str(tmp_path / "qv.prom"), "check", "metrics") == (0, "")
    (tmp_path / "wrong.prom").write_text("# HELP qv_wait_ms_total A gauge.\n# TYPE qv_wait_ms_total gauge\nqv_wait_ms_total 1\n")
    status, said = promtool(str(tmp_path / "wrong.prom"), "check", "metrics")
    assert status != 0 and "qv_wait_ms_total" in said, "it finds what is wrong"


def test_promtool_accepts_the_configuration() -> None:
    status, said = promtool("/dev/null", "check", "config", "--syntax-only", str(TOP / "Documentation/fleet/prometheus.yml"))
    assert status == 0, said
