# SPDX-License-Identifier: GPL-2.0-only
"""Components of a Quest cell, as Linux sees them: the key `recovery` and `qvctl recovery`."""

import re
from typing import Any

from lab.paths import TOP
from pages import block
from product import TEST_IMAGE, Product
from test_watching import until

# One component crashes once, `user` needs it, and `loop` crashes until it is given up
KEY = """recovery: |
  # the text is a module
  crash  1ms/40ms  restart=2/60s : faulty crash 60
  user   1ms/40ms  needs=crash restart=1/60s : faulty none 0
  loop   1ms/40ms  restart=1/60s : faulty always 20
"""


def test_linux_sees_how_components_recover(qv: Product) -> None:
    """The numbers are those of Quest's own command, and stay when the cell has failed."""
    file = qv.config("quest", 3, TEST_IMAGE)
    qv.sh(f"cat >>{file} <<'END'\n{KEY}END")
    qv.do(f"cell create {file} --start")
    found: dict[str, Any] = {}

    def over() -> bool:
        found.update(qv.ask("recovery quest"))
        return [one["strategy"] for one in found["outages"]].count("restart") == 2 and found["total"] == 3 and all(
            one["back_ns"] for one in found["outages"] if one["component"] == "crash") and [
            one["state"] for one in found["components"]] == ["runs", "runs", "lost"]
    until(over, "the outages of crash and loop, and the start of user")
    now = {one["name"]: one for one in found["components"]}
    assert [(name, one["state"], one["program"], one["starts"], one["faults"]) for name, one in now.items()] == [
        ("crash", "runs", "faulty", 2, 1), ("user", "runs", "faulty", 2, 0), ("loop", "lost", "faulty", 2, 2)]
    crash = next(one for one in found["outages"] if one["component"] == "crash")
    assert (crash["detector"], crash["value"], crash["strategy"]) == ("exception", 11, "restart")
    # it may be back before `user` has started
    assert 0 < crash["detected_ns"] <= crash["stopped_ns"] <= min(crash["started_ns"], crash["back_ns"])
    assert now["crash"]["longest_ns"] == crash["back_ns"]
    assert {one["name"]: one["found"] for one in found["detectors"]}["exception"] == 3
    assert all(one["bound_ns"] == 20_000_000 for one in found["detectors"])
    rows = [line.split() for line in qv.quesh("recovery").splitlines()]
    [row] = [row for row in rows if row[:2] == ["crash", "runs"]]
    assert row[2:6] == [str(now["crash"]["pid"]), "faulty", "2", "1"]
    assert abs(int(row[6]) - crash["back_ns"] / 1000) <= 1
    assert "given up" in qv.do("recovery quest")

    assert qv.machine.run("quesh quest -c 'crash memory'").rc == 1
    assert qv.show()["state"] == "failed"
    after = qv.ask("recovery quest")
    assert after["outages"] == found["outages"] and after["components"] == found["components"]


def test_trial_of_the_page(qv: Product) -> None:
    """The file and the commands of recovery.md, and a program that does not exist."""
    page = (TOP / "Documentation/how-to/recovery.md").read_text()
    text = next(code for code in re.findall(r"(?ms)^```yaml\n(.*?)^```$", page) if "trial" in code)
    qv.sh(f"cat >/run/trial.yaml <<'END'\n{text}  gone 1ms/100ms restart=1/10s : gonne\nEND")
    qv.do("enable")
    for step in block("recovery.md", "qvctl cell create").steps():
        if "kill" in step.command:
            until(lambda: re.search(r"(?m)^ +1 +0 logger ", qv.quesh("ps", "trial")), "it runs", 60)
        qv.sh(f"cd /run && {step.command}")
    until(lambda: qv.ask("recovery trial")["components"][0]["starts"] == 2, "a new start", 60)
    said = qv.do("cell console-log trial --stream")
    assert "recovery: gone: start 2 (there is no file of that name): given up" in said
