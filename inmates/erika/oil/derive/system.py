# SPDX-License-Identifier: GPL-2.0-only
"""The OS object, application modes, COM, and the words for the Makefile."""

from __future__ import annotations

from ..check import Checked, Item, Values
from ..model import MOST_MODES, Hooks, Task
from ..names import DEFAULT_MODE, why_not_name
from ..problems import Place, Problems, shown

# The hooks of OS: its attribute, the field in struct os_hooks, the function
HOOKS = (
    ("STARTUPHOOK", "startup", "StartupHook"),
    ("SHUTDOWNHOOK", "shutdown", "ShutdownHook"),
    ("ERRORHOOK", "error", "ErrorHook"),
    ("PRETASKHOOK", "pre_task", "PreTaskHook"),
    ("POSTTASKHOOK", "post_task", "PostTaskHook"),
    ("IDLEHOOK", "idle", "IdleHook"),
)
# The ends of names of files in C++
CPP = (".cpp", ".cc", ".cxx", ".c++", ".C")


def os_values(checked: Checked) -> Values:
    """Returns the values of the OS object; none if there is no OS object."""
    return next((item.values for item in checked.of("OS").values()), Values(checked.place))


def com_values(checked: Checked) -> Values:
    return next((item.values for item in checked.of("COM").values()), Values(checked.place))


def idle_data(checked: Checked) -> Values:
    """Returns the CPU_DATA that asks for a function while no task runs; an empty one if there is no
    such CPU_DATA."""
    values = os_values(checked)
    asking = (data.inside for data in values.many("CPU_DATA") if data.inside.truth("IDLEHOOK"))
    return next(asking, Values(values.place))


def check_one_os(checked: Checked, problems: Problems) -> None:
    if not checked.of("OS"):
        problems.error(
            checked.place, f"CPU {shown(checked.cpu)} has no OS object", "OS name { ... };"
        )


def c_word(word: str, place: Place, what: str, problems: Problems) -> str:
    """Returns a string of the file that becomes a name in C."""
    wrong = (
        why_not_name(word) if word.isascii() and word.isidentifier() else "it is not a name in C"
    )
    if wrong:
        problems.error(place, f"{what}: {shown(word)} cannot be used: {wrong}")
    return word


def modes(checked: Checked, problems: Problems) -> list[str]:
    """Returns the application modes. The first is OSDEFAULTAPPMODE: the one of that name, the one
    with DEFAULT, or the first in the file."""
    items = list(checked.of("APPMODE").values())
    if len(items) > MOST_MODES:
        problems.error(
            items[MOST_MODES].place, f"there are more than {MOST_MODES} application modes"
        )

    def is_default(item: Item) -> bool:
        return item.name == DEFAULT_MODE or item.values.truth("DEFAULT")

    return [item.name for item in sorted(items, key=lambda item: not is_default(item))] or [
        DEFAULT_MODE
    ]


def chosen_modes(values: Values, known: list[str]) -> list[str]:
    """Returns the modes of an AUTOSTART: those that it names, or all. OSDEFAULTAPPMODE is the first
    mode, whatever its name."""
    named = [known[0] if name == DEFAULT_MODE else name for name in values.texts("APPMODE")]
    return list(dict.fromkeys(named)) or known


def hooks(checked: Checked) -> Hooks:
    values, com = os_values(checked), com_values(checked)
    found = Hooks(
        {field: name for attribute, field, name in HOOKS if values.truth(attribute)},
        com.truth("COMERRORHOOK"),
        com.truth("COMSTARTCOMEXTENSION"),
    )
    idle = idle_data(checked).inside("IDLEHOOK").text("HOOKNAME")
    if idle:
        found.names["idle"] = idle
    return found


def trace(checked: Checked) -> int:
    """Returns how many records the trace keeps; 0: no trace."""
    values = os_values(checked)
    return values.inside("TRACE").number("RECORDS") or 0 if values.truth("TRACE") else 0


def com_modes(checked: Checked) -> list[str]:
    return list(dict.fromkeys(com_values(checked).texts("COMAPPMODE")))


def com_extended(checked: Checked) -> bool:
    """Returns whether the services of COM check their identifiers: COMSTATUS, else STATUS."""
    status = com_values(checked).text("COMSTATUS")
    return status == "COMEXTENDED" or not status and os_values(checked).text("STATUS") == "EXTENDED"


def _declared_class(checked: Checked) -> tuple[str, Place]:
    values = os_values(checked)
    kernel = values.text("KERNEL_TYPE")
    inside = values.inside("KERNEL_TYPE")
    if values.text("CC"):
        return values.text("CC"), values.place_of("CC")
    if kernel == "OSEK":
        return inside.text("CLASS"), inside.place_of("CLASS")
    return kernel, values.place_of("KERNEL_TYPE")


def conformance(checked: Checked, tasks: list[Task], problems: Problems) -> str:
    """Returns the conformance class that the tasks need, after a comparison with the declared
    one."""
    extended = any(task.extended for task in tasks)
    priorities = [task.priority for task in tasks]
    queued = any(task.activations > 1 for task in tasks) or len(set(priorities)) < len(priorities)
    needed = ("ECC" if extended else "BCC") + ("2" if queued else "1")
    declared, place = _declared_class(checked)
    values = os_values(checked)
    if declared.startswith("BCC") and extended:
        name = next(task.name for task in tasks if task.extended)
        problems.error(
            place,
            f"the class {declared} has no events, but TASK {name} has some",
            f"E{declared[1:]}",
        )
    if declared.endswith("1") and queued:
        name = next((task.name for task in tasks if task.activations > 1), "")
        why = f"TASK {name} has several activations" if name else "two tasks share a priority"
        wrong = f"the class {declared} has one activation and one task for each priority, but {why}"
        if values.text("CC"):
            problems.error(place, wrong, declared[:3] + "2")
        else:  # RT-Druid does not compare its KERNEL_TYPE with the tasks
            problems.warn_once("class", place, f"{wrong}, so the class is {needed}")
    return needed


def sources(checked: Checked, problems: Problems) -> list[str]:
    """Returns the source files that the OIL file lists."""
    values = os_values(checked)
    sets = [values, values.inside("BUILD"), *(data.inside for data in values.many("CPU_DATA"))]
    kinds = ("APPDATA", "TASK", "RESOURCE")
    sets += [item.values for kind in kinds for item in checked.of(kind).values()]
    sets += [item.values.inside("RESOURCEPROPERTY") for item in checked.of("RESOURCE").values()]
    found = [value for values in sets for value in values.many("APP_SRC")]
    for value in found:
        name = str(value.value)
        if not name.endswith(".c"):
            why = "this kernel has no C++" if name.endswith(CPP) else "make compiles only C"
            problems.error(value.place, f"APP_SRC: {shown(name)}: {why}", "a file such as code.c")
    return list(dict.fromkeys(str(value.value) for value in found))


def headers(checked: Checked) -> list[tuple[str, Place]]:
    found = [*os_values(checked).many("CHEADER"), *com_values(checked).many("INCLUDES")]
    return [(str(value.value), value.place) for value in found]


def floats(checked: Checked) -> bool:
    """Returns whether tasks, ISRs and hooks may use floating point."""
    users = [item for kind in ("TASK", "ISR") for item in checked.of(kind).values()]
    return os_values(checked).truth("FLOATINGPOINT") or any(
        item.values.truth("USEFLOAT") for item in users
    )


def cflags(checked: Checked) -> list[str]:
    values = os_values(checked)
    return [*values.texts("CFLAGS"), *values.inside("BUILD").texts("CFLAGS")]
