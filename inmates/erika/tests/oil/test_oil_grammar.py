# SPDX-License-Identifier: GPL-2.0-only
"""The grammar of OIL 2.5, a test for each construct."""

from pathlib import Path

import pytest
from oil.compile import compile_file, compile_text
from oil.model import Application
from oil.parse import parse_text
from oil.problems import Problems, Stop
from oil.tree import Definition, File, Object, Parameter


def parsed(text: str) -> File:
    problems = Problems()
    try:
        return parse_text("t.oil", text, problems)
    except Stop:
        raise AssertionError(problems.found) from None


def objects(text: str) -> tuple[Object, ...]:
    return parsed(f"CPU c {{ {text} }};").cpus[0].objects


def parameter(text: str) -> Parameter:
    return objects(f"TASK t {{ {text} }};")[0].parameters[0]


def definition(text: str) -> Definition:
    return parsed(f"IMPLEMENTATION i {{ TASK {{ {text} }}; }};"
                  ).implementations[0].specifications[0].definitions[0]


def application(text: str, more: str = "", dialect: str = "") -> Application:
    compiled = compile_text("t.oil", f"{more}\nCPU c {{ OS o {{ }};\n{text}\n}};", dialect)
    assert compiled.application, compiled.problems.found
    return compiled.application


def test_version_and_its_description() -> None:
    assert parsed('OIL_VERSION = "2.5";').versions[0].value == "2.5"
    assert parsed('OIL_VERSION = "2.5" : "of the engine";').versions[0].value == "2.5"


def test_object_with_and_without_braces() -> None:
    one, two = objects('TASK t { P = 1; } : "text"; EVENT e : "text";')
    assert (one.kind.value, one.name.value, len(one.parameters)) == ("TASK", "t", 1)
    assert (two.kind.value, two.name.value, two.parameters) == ("EVENT", "e", ())


@pytest.mark.parametrize("written, kind, value",
                         [("7", "number", 7), ("0x1F", "number", 31), ("0X1f", "number", 31),
                          ("-7", "number", -7), ("+7", "number", 7), ("007", "number", 7),
                          ("0.5", "float", 0.5), ("-1.5e-3", "float", -0.0015),
                          ("1e3", "float", 1000.0), ("FULL", "name", "FULL"),
                          ("_a1", "name", "_a1"), ('"a b"', "string", "a b"), ('""', "string", ""),
                          (r'"say \"x\" \\"', "string", 'say "x" \\'),
                          ('"two\nlines"', "string", "two\nlines"),
                          ('"joined \\\nline"', "string", "joined line"), ("AUTO", "name", "AUTO"),
                          ("CPU", "name", "CPU"), ("WITH_AUTO", "name", "WITH_AUTO"),
                          ('"// no comment /* */"', "string", "// no comment /* */")])
def test_value(written: str, kind: str, value: object) -> None:
    found = parameter(f"X = {written};").value
    assert (found.kind, found.value) == (kind, value)


def test_nested_parameters() -> None:
    found = parameter('A = TRUE { B = X { C = 1; } : "text"; D = 2; } : "text";')
    assert [inner.name.value for inner in found.inside] == ["B", "D"]
    assert found.inside[0].inside[0].name.value == "C"


def test_empty_braces() -> None:
    assert parameter("A = TRUE { };").braces and not parameter("A = TRUE;").braces


def test_structure_without_equals_sign() -> None:
    found = parameter('EXPIRY_POINT p { OFFSET = 1; } : "text";')
    assert found.struct and (found.name.value, found.value.value) == ("EXPIRY_POINT", "p")


def test_places_of_names_and_values() -> None:
    found = parsed('CPU c {\n\tTASK t {\n\t\tP = 1;\n};};').cpus[0].objects[0]
    assert (found.name.place.line, found.name.place.column) == (2, 7)
    assert (found.parameters[0].value.place.line, found.parameters[0].value.place.column) == (3, 7)


@pytest.mark.parametrize(
    "kind",
    ["UINT32", "INT32", "UINT64", "INT64", "FLOAT", "STRING", "BOOLEAN", "TASK_TYPE", "IDENTIFIER"])
def test_definition_of_each_type(kind: str) -> None:
    found = definition(f"{kind} X;")
    assert (found.type.value, found.name.value, found.multiple, found.default) == (kind, "X", False,
                                                                                   None)


def test_definition_with_everything() -> None:
    found = definition('UINT32 WITH_AUTO [1..0x10] X[] = AUTO : "text";')
    assert found.with_auto and found.multiple and found.description == "text"
    assert found.range and [word.value for word in found.range] == [1, 16]
    assert found.default and found.default.value == "AUTO"


def test_definition_with_a_list_of_numbers() -> None:
    assert [choice.word.value
            for choice in definition("UINT32 [1, 2, 4] X = 2;").choices] == [1, 2, 4]


def test_definition_with_a_range_of_floats() -> None:
    found = definition("FLOAT [0.5..1e3] X = 1.0;").range
    assert found and [word.value for word in found] == [0.5, 1000.0]


def test_definition_without_default() -> None:
    default = definition("UINT32 X = NO_DEFAULT;").default
    assert default and default.value == "NO_DEFAULT"


def test_enum_with_nested_definitions_and_descriptions() -> None:
    found = definition('ENUM [A { UINT32 X; STRING Y; } : "first", B : "second", C] E = B;')
    assert [choice.word.value for choice in found.choices] == ["A", "B", "C"]
    assert [len(choice.definitions) for choice in found.choices] == [2, 0, 0]
    assert [choice.description for choice in found.choices] == ["first", "second", ""]


def test_boolean_with_nested_definitions() -> None:
    found = definition("BOOLEAN [TRUE { APPMODE_TYPE APPMODE[]; }, FALSE] AUTOSTART = FALSE;")
    assert found.choices[0].definitions[0].multiple


def test_structure_in_a_definition() -> None:
    found = definition("STRUCT { UINT32 X; } S[];")
    assert found.fields and found.multiple


def test_definitions_with_brackets_after_the_kind() -> None:
    assert parsed("IMPLEMENTATION i { TASK [] { UINT32 X; }; };"
                  ).implementations[0].specifications[0].definitions


def test_comments() -> None:
    assert objects("// one\n/* two\n three */ EVENT /* four */ e;")[0].name.value == "e"


def test_line_ends_and_byte_order_mark() -> None:
    assert parsed("\ufeffCPU c {\r\nEVENT e;\r\n};\r\n").cpus[0].objects[0].name.place.line == 2


def test_implementation_adds_a_default() -> None:
    found = application("TASK t { };",
                        "IMPLEMENTATION i { TASK { UINT32 [1..10] PRIORITY = 4; }; };")
    assert found.tasks[0].priority == 4


def test_attribute_that_only_implementation_has_is_a_warning_once() -> None:
    text = ("IMPLEMENTATION i { TASK { UINT32 COLOUR; }; };\n"
            "CPU c { OS o { }; TASK t { PRIORITY = 1; COLOUR = 1; };"
            "TASK u { PRIORITY = 2; COLOUR = 2; }; };")
    compiled = compile_text("t.oil", text)
    assert compiled.application
    assert [(problem.level, problem.place.line)
            for problem in compiled.problems.found] == [("warning", 2)]


def test_cpu_in_parts() -> None:
    found = application("TASK t { PRIORITY = 1; };", "CPU c { TASK u { PRIORITY = 2; }; };")
    assert [task.name for task in found.tasks] == ["u", "t"]


def test_include(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "tasks.oil").write_text("TASK t { PRIORITY = 1; };\n")
    (tmp_path / "part.oil").write_text('#include <tasks.oil>\nTASK u { PRIORITY = 2; };\n')
    main = tmp_path / "main.oil"
    main.write_text('CPU c { OS o;\n  #include "part.oil" // both\n};\n')
    compiled = compile_file(main, [tmp_path / "more"])
    assert compiled.application and [task.name for task in compiled.application.tasks] == ["t", "u"]
    assert [path.name for path in compiled.source.read] == ["main.oil", "part.oil", "tasks.oil"]


def test_error_in_an_included_file_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "part.oil").write_text("\nTASK u { PRIO = 2; };\n")
    main = tmp_path / "main.oil"
    main.write_text('CPU c { OS o;\n#include "part.oil"\n};\n')
    errors = compile_file(main).problems.errors()
    assert [(Path(error.place.file).name, error.place.line)
            for error in errors][0] == ("part.oil", 2)


def test_include_in_a_circle(tmp_path: Path) -> None:
    main = tmp_path / "main.oil"
    main.write_text('#include "main.oil"\n')
    assert [error.wrong
            for error in compile_file(main).problems.errors()] == ["main.oil includes itself"]


@pytest.mark.parametrize("name", ["arch.oil", "softwareIT.oil", "watchdog.oil"])
def test_include_that_another_tool_brings(name: str) -> None:
    assert application("TASK t { PRIORITY = 1; };", f"#include <{name}>").tasks


def test_include_of_a_file_that_only_the_compiler_has_is_an_error() -> None:
    found = compile_text("t.oil", "#include <filter.oil>\nCPU c { OS o; };")
    assert [error.wrong for error in found.problems.errors()] == ["filter.oil is not found"]


def test_include_inside_a_comment_is_none() -> None:
    assert application("TASK t { PRIORITY = 1; };", "/*\n#include <nothing.oil>\n*/").tasks


def test_caret_is_under_the_place() -> None:
    error = compile_text("t.oil", "CPU c { OS o;\n\tTASK t { PRIO = 1; }; };").problems.errors()[0]
    assert str(error).splitlines()[1:] == ["    \tTASK t { PRIO = 1; }; };", "    \t         ^"]


def test_caret_in_a_long_line() -> None:
    """The part of the line around the place is shown."""
    text = f"CPU c {{ OS o; /* {'x' * 300} */ EVENT e {{ MASKE = 1; }}; }};"
    _, line, caret = str(compile_text("t.oil", text).problems.errors()[0]).splitlines()
    assert line[len(caret) - 1:].startswith("MASKE = 1;") and len(line) <= 204


def test_files_that_include_each_other_thousands_of_times(tmp_path: Path) -> None:
    """Each of 15 files includes the next one twice."""
    for number in range(15):
        (tmp_path / f"{number}.oil").write_text(f'#include "{number + 1}.oil"\n' * 2)
    (tmp_path / "15.oil").write_text("")
    found = compile_file(tmp_path / "0.oil")
    assert [problem.wrong for problem in found.problems.errors()] == [
        "more than 1000 files are included"
    ]


def test_included_files_are_named_as_seen_from_the_current_folder(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    Path("main.oil").write_text('#include "sub/first.oil"\n')
    Path("sub/first.oil").write_text('#include "second.oil"\n')
    Path("sub/second.oil").write_text('#include "../main.oil"\n')
    assert [error.sentence() for error in compile_file(Path("main.oil")).problems.errors()] == [
        "sub/second.oil:1:1: ../main.oil includes itself"
    ]
    Path("sub/second.oil").write_text("CPU c { OS o { X = 1; }; };\n")
    assert [str(error.place) for error in compile_file(Path("main.oil")).problems.errors()] == [
        "sub/second.oil:1:16"
    ]
