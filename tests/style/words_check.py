#!/usr/bin/python3
"""Checks rules of the sources that no compiler knows.

usage: words_check.py [ROOT]       exit 0 when clean, 1 with one line for each breach
       words_check.py --self-test  exit 0 when every kind of deliberate breach is caught
"""

import pathlib
import re
import sys
import tempfile

SOURCES = {".h", ".cc"}
TEXTS = SOURCES | {".md", ".txt", ".py", ".cmake", ".in", ".toml", ".json", ".bats", ".sh", ".bash", ".zsh", ".fish", ".js", ".css", ""}
AS_FOUND = {"samples", "golden", "corpus", "__pycache__"}  # inputs of tests: their blanks are meant
FOLDERS = ["lib", "cmd", "tests", "scripts", "data", "configs", "docs", "examples", "packaging"]

# (where, pattern, why). A line with a pattern in a file whose path matches is a breach. The classes in brackets keep
# the patterns from finding themselves.
RULES = [
    (r".", r"\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b", "unfinished: do it, or say why not in plain words"),
    (r".", r"[ \t]+$", "blank at the end of the line"),
    (r"^(lib|cmd|tests)/.*\.(h|cc)$", r"\t", "tab"),
    (r"^tests/", r"\b[D]ISABLED_", "a test that is switched off"),
    (r"^tests/.*\.(h|cc)$", r"\b[G]TEST_SKIP\(\)\s*;", "a skipped test says why"),
    (r"^lib/", r"\b(std::c(out|err)|std::exit|std::quick_exit|_exit)\b|\b(fmt|std)::print\b|(?<![nf])\bprintf\s*\(",
     "nothing in lib/ prints or exits: return a status"),
    (r"^(lib|cmd)/.*\.(h|cc)$", r"\busing namespace\b", "names are spelled out"),
    (r"^(lib|cmd|tests)/.*\.h$", r"#ifndef \w+_H_?\b", "headers have #pragma once"),
    (r"(^|/)CMakeLists\.txt$", r"-march=native|\bGLOB\b", "one portable build, from explicit lists of files"),
]

# Phrases that must not return, and plain ones: pages, comments, messages and names are in plain technical English. Each
# is looked for in the files of PHRASE_FILES, in any case, also across the end of a line or of a part of a string; what
# stands in `backquotes` is quoted and not looked at.
PHRASE_FILES = re.compile(r"\.(md|h|cc|py|bats|bash|zsh|fish|toml|cmake|in|js|css)$|(^|/)(CMakeLists\.txt|Dockerfile)$|^(scripts|data|tests)/([^.]*/)?[^./]*$")
PHRASES = [
    (r"(?<!write.)(?<!drop.)(?<!drops.)behind", "after, then, later; in the background"),  # terms of I/O remain
    (r"but for", "except"),
    (r"(by|up to|within) chance", "at random, stochastic"),
    (r"(is|are|was|were) let by", "is not checked, is allowed"),
    (r"(is|are|was|were|be|been) told", "is reported, is passed, is known"),
    (r"of (its|their|his|our|your|one's) own", "its own X"),
    (r"(its|the|a) (reader|user|caller) wishes|a wish", "what the reader needs; best effort"),
    (r"where (it|they) likes?", "clobbers; anywhere"),
    (r"(has|have) not(?=[.,;:)])", "lacks"),
    (r"for want of", "as X is missing"),
    (r"(is|are|was|were) not there", "is missing, is not available, is not supported"),
    (r"(stands?|stood) there", "is present, occurs"),
    (r"(that|which) (is|are) none", "is not a X, is invalid"),
    (r"(take|takes|took|taking) (the|its|their) places? of", "replaces"),
    (r"(do|does) the like|(and|or) (its|their|the) like", "does this too; and similar"),
    (r"(an?|one) (name|line|event|object|vector|row) an? (name|line|event|object|vector|row|node)", "one per line"),
    (r"one a (line|node|file|verb)", "one per line"),
    (r"a (name|line|byte|vector|row) more", "another line, one more byte"),
    (r"from there on", "from then on"),
    (r"sittings?", "session; on an idle machine"),
    (r"beside (a|the|an?other) (running )?training", "during a training"),
    (r"limits? of memory", "memory limit"),
    (r"(goes|go|went|going) by (extension|validations|the ending)", "is chosen by, is based on"),
    (r"(goes|go|went|going|gone) on with", "continues"),
    (r"takes? root", "requires root"),
    (r"un?harmed|harmed", "undamaged, damaged"),
    (r"in (its|their|the) midst", "in the middle, during"),
    (r"told from", "distinguished from"),
    (r"brings? to light", "finds"),
]
COMPILED = [(re.compile(where), re.compile(pattern), why) for where, pattern, why in RULES]
BETWEEN_WORDS = r'(?:[\s#"]|//)+'
COMPILED_PHRASES = [(re.compile(r"\b(?:%s)\b" % pattern.replace(" ", BETWEEN_WORDS), re.IGNORECASE), better)
                    for pattern, better in PHRASES]


def check_file(root, path):
    name = path.relative_to(root).as_posix()
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return  # a binary or damaged file that some test wants as it is
    if "\0" in text:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for where, pattern, why in COMPILED:
            if where.search(name) and pattern.search(line):
                yield f"{name}:{number}: {line.strip()[:80]}: {why}"
    if PHRASE_FILES.search(name) and name != "tests/style/words_check.py":
        prose = re.sub(r"`[^`\n]*`", lambda quoted: "`" * len(quoted[0]), text)
        for phrase, better in COMPILED_PHRASES:
            for found in phrase.finditer(prose):
                number = text.count("\n", 0, found.start()) + 1
                yield f"{name}:{number}: \"{' '.join(found[0].split())}\": plain technical English; better: {better}"
    if text and not text.endswith("\n"):
        yield f"{name}: no newline at the end"
    if path.suffix == ".h" and "#pragma once" not in text and not name.endswith("-inl.h"):  # Highway's: once a target
        yield f"{name}: no #pragma once"
    if path.suffix == ".h" and name.startswith(("lib/", "cmd/")) and not text.startswith("//"):
        yield f"{name}: a header begins with a comment that says what it is"


def check(root):
    files = [p for p in root.iterdir() if p.is_file() and p.suffix in TEXTS and p.name != ".git"]
    for folder in FOLDERS:
        files += [p for p in (root / folder).rglob("*") if p.is_file() and p.suffix in TEXTS]
    breaches = []
    for path in sorted(files):
        if not AS_FOUND.intersection(path.parts):
            breaches.extend(check_file(root, path))
    return breaches


def self_test():
    header = "// A header.\n#pragma once\n"
    cases = [
        ("lib/base/a.h", header, False),
        ("lib/base/a.h", "#pragma once\n", True),
        ("lib/base/a.h", "// A header.\n", True),
        ("lib/base/a.h", header + "// TO" + "DO: later\n", True),
        ("lib/base/a.cc", "int a; \n", True),
        ("lib/base/a.cc", "\tint a;\n", True),
        ("lib/base/a.cc", "int a;", True),
        ("lib/io/a.cc", 'std::printf("x");\n', True),
        ("lib/io/a.cc", 'fmt::print("x");\n', True),
        ("lib/io/a.cc", "std::cerr << 1;\n", True),
        ("lib/io/a.cc", "std::snprintf(a, 1, b);\n", False),
        ("cmd/a.cc", 'fmt::print("x");\n', False),
        ("cmd/a.cc", "using namespace std;\n", True),
        ("tests/io/a_test.cc", "GTEST" + "_SKIP();\n", True),
        ("tests/io/a_test.cc", "GTEST" + '_SKIP() << "no such disk here";\n', False),
        ("tests/io/a_test.cc", "TEST(A, DIS" + "ABLED_B) {}\n", True),
        ("lib/io/CMakeLists.txt", "file(GLOB a *.cc)\n", True),
        ("README.md", "fine\n", False),
        ("README.md", "FIX" + "ME\n", True),
        ("README.md", "A commit comes after the epoch.\n", False),
        ("README.md", "A commit comes behind the epoch.\n", True),
        ("docs/a.md", "All of them but\nfor one.\n", True),
        ("docs/a.md", "The message is `behind the epoch`.\n", False),
        ("configs/a.toml", "# A rate of its\n# own.\n", True),
        ("lib/base/a.cc", "// A commit comes behind the epoch.\n", True),
        ("lib/base/a.cc", "// All of them but\n// for one.\n", True),
        ("lib/base/a.cc", 'Fail("a file of its "\n     "own");\n', True),
        ("lib/base/a.cc", "WriteBehind write_behind;  // write-behind drops behind\n", False),
        ("tests/cmd/a.bats", "@test \"errors are told\" {\n", True),
        ("tests/end_to_end/a", "# This takes root.\n", True),
        ("scripts/a", "# This takes root.\n", True),
        ("cmd/CMakeLists.txt", "# A folder\n# of its own.\n", True),
    ]
    for name, text, breach in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            found = check(pathlib.Path(folder))
            if bool(found) != breach:
                sys.exit(f"self-test: {name} with {text!r}: {found or 'no breach found'}")
    print(f"{len(cases)} cases behave")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    breaches = check(root)
    print("\n".join(breaches) if breaches else "no breach")
    sys.exit(bool(breaches))


main()
