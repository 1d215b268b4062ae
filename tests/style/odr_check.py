#!/usr/bin/python3
"""Checks that no two definitions share a name in one namespace of one program.

Two structs, classes, enums or inline functions of one name are undefined behaviour, of which neither compiler nor linker
says anything: each source has its own, and the linker keeps one of the functions that come with them, whichever is first.
What is in an anonymous namespace is a source's own. Types, functions and inline variables of named namespaces are read by
universal-ctags; functions are the same where their parameters have the same types.

Programs are lib/ with cmd/, and lib/ with tests/support/ and one other folder of tests/ at a time.

usage: odr_check.py [ROOT]       exit 0 when clean, 1 with one line for each pair
       odr_check.py --self-test  exit 0 when every planted pair is found, and what only looks like one is not
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TYPES = ("struct", "class", "enum", "union")
# ctags takes a macro before a class's name for the name.
MACROS = ["ABSL_LOCKABLE", "ABSL_SCOPED_LOCKABLE", "HWY_ATTR", "HWY_INLINE", "HWY_NOINLINE", "HWY_API"]


def definitions(root, files):
    """Returns, by file, of each definition in a named namespace what makes it the same as another, and its tag."""
    command = ["ctags", "--language-force=C++", "--kinds-C++=scgufv", "--fields=+nSZK", "--fields-C++=+{properties}",
               "--output-format=json", "--sort=no", "-L", "-", "-f", "-"]
    for macro in MACROS:
        command += ["-I", macro]
    listed = "\n".join(files)
    output = subprocess.run(command, cwd=root, input=listed, capture_output=True, text=True, check=True).stdout
    found = {file: [] for file in files}
    for line in output.splitlines():
        tag = json.loads(line)
        name, scope = tag["name"], tag.get("scope", "")
        own = name.startswith("__anon") or "__anon" in scope or "static" in tag.get("properties", "")
        if own or tag.get("scopeKind", "namespace") != "namespace":
            continue
        if tag["kind"] in TYPES or tag["kind"] == "variable" and re.search(r"\binline\b", tag["pattern"]):
            found[tag["path"]].append(((scope, name), tag))
        elif tag["kind"] == "function" and scope:  # others, such as main, are the linker's to find
            found[tag["path"]].append(((scope, name, parameter_types(tag["signature"])), tag))
    return found


def parameter_types(signature):
    """Returns the types of "(const Graph & graph,int k=1) const" as "const Graph &,int"."""
    inner = signature[signature.index("(") + 1:signature.rindex(")")]
    parameters, depth = [""], 0
    for character in inner:
        depth += (character in "<({[") - (character in ">)}]")
        if character == "," and depth == 0:
            parameters.append("")
        else:
            parameters[-1] += character
    types = []
    for parameter in parameters:
        words = re.findall(r"\w+(?:::\w+)*|\S", parameter.split("=")[0])
        # The name is the last word where a type stands before it.
        if len(words) > 1 and re.match(r"\w", words[-1]) and words[-2] not in ("const", "unsigned", "::"):
            words.pop()
        types.append(" ".join(words))
    return ",".join(types)


def check(root):
    paths = [path for top in ("lib", "cmd", "tests") for path in (root / top).rglob("*") if path.suffix in (".h", ".cc")]
    found = definitions(root, sorted(str(path.relative_to(root)) for path in paths))

    def in_folders(*folders):
        return [file for file in found if any(file.startswith(f"{folder}/") for folder in folders)]

    programs = [in_folders("lib", "cmd")]
    for folder in sorted({"tests/support", *("/".join(file.split("/")[:2]) for file in in_folders("tests"))}):
        programs.append(in_folders("lib", "tests/support", folder))
    pairs = {}
    for files in programs:
        places = collections.defaultdict(dict)  # of two in one file, branches of #if, the compiler sees one
        for file in files:
            for key, tag in found[file]:
                places[key].setdefault(file, tag)
        for (scope, name, *_), tags in places.items():
            if len(tags) > 1:
                first, second, *_ = tags.values()
                pairs[f"{first['path']}:{first['line']}: {first['kind']} {scope}::{name} is also at {second['path']}:"
                      f"{second['line']}; give each a name that says what it is, or an anonymous namespace"] = None
    return list(pairs)


def self_test():
    def space(text, name="octavo"):
        return f"namespace {name} {{\n{text}\n}}\n"

    own = space(space("struct A { int a; };", ""))
    # files with their text, and whether there is a pair
    cases = [
        ({"lib/a/x.h": space("struct A { int a; };"), "lib/b/y.h": space("struct A { double a; };")}, True),
        ({"lib/a/x.h": space("struct A { int a; };"), "lib/b/y.cc": space("class A { double a; };")}, True),
        ({"lib/a/x.cc": space("enum class A { kA };"), "lib/b/y.cc": space("struct A {};")}, True),
        ({"lib/a/x.h": space("class ABSL_LOCKABLE A { int a; };"), "lib/b/y.h": space("struct A { int b; };")}, True),
        ({"lib/a/x.h": space("inline int F(int a) { return a; }"),
          "lib/b/y.h": space("inline int F(int b) { return b + 1; }")}, True),
        ({"lib/a/x.h": space("inline constexpr int kA = 1;"), "lib/b/y.h": space("inline constexpr int kA = 2;")}, True),
        ({"lib/a/x.h": space("template <typename T>\nT F(const T& a) { return a; }"),
          "lib/b/y.h": space("template <typename T>\nT F(const T& b) { return -b; }")}, True),
        ({"lib/a/x.h": space("struct A {};"), "cmd/y.cc": space("struct A { int b; };")}, True),
        ({"lib/a/x.h": space("struct A {};"), "tests/support/y.h": space("struct A { int b; };")}, True),
        ({"tests/support/y.h": space("struct A {};"), "tests/a/x_test.cc": space("struct A { int b; };")}, True),
        ({"tests/a/x_test.cc": space("struct A {};"), "tests/a/y_test.cc": space("struct A { int b; };")}, True),
        ({"tests/a/x_test.cc": space("struct A {};"), "tests/b/y_test.cc": space("struct A { int b; };")}, False),
        ({"cmd/x.cc": space("struct A {};"), "tests/a/y_test.cc": space("struct A { int b; };")}, False),
        ({"lib/a/x.cc": own, "lib/b/y.cc": own}, False),
        ({"lib/a/x.h": space("struct A {};"), "lib/b/y.h": space("struct A;\nvoid F(struct A& a);")}, False),
        ({"lib/a/x.h": space("struct A {};"), "lib/b/y.h": space("struct A {};", "octavo::b")}, False),
        ({"lib/a/x.h": space("struct A { struct B {}; };"), "lib/b/y.h": space("struct C { struct B {}; };")}, False),
        ({"lib/a/x.h": space("inline int F(int a) { return a; }"),
          "lib/b/y.h": space("inline int F(const long& a) { return 1; }")}, False),
        ({"lib/a/x.cc": space("constexpr int kA = 1;"), "lib/b/y.cc": space("constexpr int kA = 2;")}, False),
    ]
    for files, pair in cases:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            found = check(pathlib.Path(folder))
            if bool(found) != pair:
                sys.exit(f"self-test: {files}: {found or 'no pair found'}")
    print(f"{len(cases)} cases behave")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    pairs = check(root)
    print("\n".join(pairs) if pairs else "all names of definitions differ")
    sys.exit(bool(pairs))


main()
