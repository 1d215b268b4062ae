setup_file() { load reading.bash; make_run && make_web_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "query neighbors: table and JSON name the same nodes in descending order" {
  "$OCTAVO" query --run run neighbors "New York" -k 3 >table
  grep -q 'neighbors of "New York"' table
  "$OCTAVO" query neighbors "New York" -k 3 --run run --json >answer
  [[ "$(json 'o["node"], o["metric"], len(o["neighbors"])' <answer)" == "('New York', 'cosine', 3)" ]]
  json '"\n".join(n["node"] for n in o["neighbors"])' <answer | while read -r name; do grep -qF "$name" table; done
  [[ "$(json 'sorted((n["score"] for n in o["neighbors"]), reverse=True) == [n["score"] for n in o["neighbors"]]' <answer)" == True ]]
  [[ "$("$OCTAVO" query --run run neighbors city1 --json -k 100 | json 'len(o["neighbors"])')" == 13 ]]
}

@test "query predict: hides or marks known answers, on both sides" {
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --json >hidden
  [[ "$(json '"country1" in [p["node"] for p in o["predictions"]], len(o["predictions"])' <hidden)" == "(False, 13)" ]]
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --known mark --json >marked
  [[ "$(json '[p["node"] for p in o["predictions"] if p["known"]]' <marked)" == "['country1']" ]]
  "$OCTAVO" query --run run predict '?' in country2 -k 14 --known mark >table
  [[ "$(grep -c ' known$' table)" == 3 ]]
  # A test edge is a known answer too.
  [[ "$("$OCTAVO" query --run run predict city1 near '?' -k 14 --json | json '"city7" in [p["node"] for p in o["predictions"]]')" == False ]]
}

@test "query: unknown names are errors with similar spellings" {
  fails 2 'no node "New Yrok"; did you mean "New York"?' "$OCTAVO" query --run run neighbors "New Yrok"
  fails 2 'no node "nothing like it"' "$OCTAVO" query --run run neighbors "nothing like it"
  fails 2 'no node "esc\x1B[31m"' "$OCTAVO" query --run run neighbors $'esc\e[31m'
  # A name in brackets was once read as a list.
  fails 2 'no node "[x,y]"' "$OCTAVO" query --run run predict '[x,y]' in '?'
  fails 2 'no relation "nera"; did you mean "near"?' "$OCTAVO" query --run run predict city1 nera '?'
  fails 2 'found the word "York" too many; a name with blanks needs quotes; see octavo query neighbors --help' \
    "$OCTAVO" query --run run neighbors New York
  fails 2 'predict: found ? for the relation, which cannot be asked for; expected its name, and ? for the head or the tail' \
    "$OCTAVO" query --run run predict city1 '?' city2
}

# Quotes had backslashes before them, so that a name could not be copied, and U+202E reversed the rest of the line.
@test "query: tables show names as they can be typed, without bidirectional controls" {
  printf 'Bob "B"\tnear\t%s\nBob "B"\tnear\tq\\"\n' $'x\u202ey' >odd.tsv
  "$OCTAVO" --quiet import odd.tsv --graph odd --format tsv
  "$OCTAVO" --quiet train --preset none --graph odd --run odd-run --model dot --dim 8 --epochs 1
  "$OCTAVO" query --run odd-run neighbors 'q\"' -k 2 >table
  grep -qE '^ +[12]  Bob "B"  ' table
  grep -qF 'x\xE2\x80\xAEy' table
  "$OCTAVO" query --run odd-run neighbors 'Bob "B"' -k 2 >table
  grep -qF '  q\\\"  ' table
  "$OCTAVO" query --run odd-run neighbors 'Bob "B"' -k 2 --json | grep -qF '"x\u202ey"'
}

# Its vector has learned nothing of it, and the neighbours looked like any others.
@test "query: a node without training edges gets a note" {
  printf 'city1\tnear\tatlantis\n' >unseen.txt
  "$OCTAVO" --quiet import train.txt --test unseen.txt --graph unseen --format tsv
  "$OCTAVO" --quiet train --preset none --graph unseen --run unseen-run --dim 8 --epochs 1
  note='^note: no training edge has "atlantis": '
  "$OCTAVO" query --run unseen-run neighbors atlantis >answer 2>err.log
  grep -q "$note" err.log
  grep -q '^   1 ' answer
  "$OCTAVO" query --run unseen-run predict atlantis near '?' 2>&1 >answer | grep -q "$note"
  "$OCTAVO" query --run unseen-run neighbors city1 2>err.log >answer
  [[ ! -s err.log ]]
}

# A query for C3 found nothing when the node is http://example.org/country/C3.
@test "query: the last part of a name leads to the full one" {
  fails 2 'web-graph: no node "C3"; one node ends with that after a / or #: "http://example.org/country/C3"; expected its full name' \
    "$OCTAVO" query --run web-run neighbors C3
  fails 2 'no node "A1"; 2 nodes end with that after a / or #, such as "http://example.org/' "$OCTAVO" query --run web-run neighbors A1
  fails 2 'no relation "in"; one relation ends with that after a / or #: "http://example.org/terms#in"' \
    "$OCTAVO" query --run web-run predict http://example.org/city/A1 in '?'
  "$OCTAVO" query --run web-run neighbors http://example.org/country/C3 -k 1 >table
}

@test "query predict: says how many known answers are left out, and how to see them" {
  "$OCTAVO" query --run run predict city1 in '?' -k 1 | grep -qF '(city1, in, ?), 1 known answer left out; --known mark shows it'
  "$OCTAVO" query --run run predict '?' in country1 -k 1 | grep -qF '(?, in, country1), 4 known answers left out; --known mark shows them'
  "$OCTAVO" query --run run predict country1 in '?' -k 1 | grep -qF '(country1, in, ?), 0 known answers left out'
  "$OCTAVO" query --run run predict '?' in country1 -k 1 --known mark | grep -qF '(?, in, country1), 4 known answers marked'
  [[ "$("$OCTAVO" query --run run predict '?' in country1 -k 1 --json | json 'o["known"], o["known_answers"]')" == "('hide', 4)" ]]
  [[ "$("$OCTAVO" query --run run predict '?' in country1 -k 1 --json --known mark | json 'o["known"], o["known_answers"]')" == "('mark', 4)" ]]
}

@test "query predict --typed: answers of another type come last" {
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --known mark --typed --json >typed
  [[ "$(json 'sorted(p["node"] for p in o["predictions"][:3]), o["typed"]' <typed)" == "(['country0', 'country1', 'country2'], True)" ]]
  [[ "$(json '[p["plausible"] for p in o["predictions"]] == [True] * 3 + [False] * 11' <typed)" == True ]]
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --known mark --json >untyped
  [[ "$(json '"typed" in o, any("plausible" in p for p in o["predictions"])' <untyped)" == "(False, False)" ]]
  # Both kinds keep the order of their scores.
  json '[p["node"] for p in o["predictions"] if p["node"].startswith("country")]' <untyped >expected
  json '[p["node"] for p in o["predictions"][:3]]' <typed | cmp - expected
  json '[p["node"] for p in o["predictions"] if not p["node"].startswith("country")]' <untyped >expected
  json '[p["node"] for p in o["predictions"][3:]]' <typed | cmp - expected
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --typed >table
  [[ "$(grep -c ' other type$' table)" == 11 ]]
  # City0 to city9 are plausible heads of "in": New York is as well, by what else it is.
  [[ "$("$OCTAVO" query --run run predict '?' in country1 -k 14 --typed | grep -c ' other type$')" == 3 ]]
}

@test "query predict --types FILE: types from a file" {
  # By their type some cities are not where others are.
  printf 'country0\tland\ncountry1\tland\ncity3\tland\ncity4\ttown\nnobody\tland\n' >types.tsv
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --typed --types types.tsv --json >typed 2>err.log
  [[ "$(json 'sorted(p["node"] for p in o["predictions"] if p["plausible"])' <typed)" == "['city3', 'country0', 'country2']" ]]
  grep -q 'types.tsv: left out 1 line with names that .*graph lacks, the first "nobody"' err.log
  # Two of three countries have a type, and all of them that type.
  [[ "$("$OCTAVO" --quiet query --run run predict city1 in '?' -k 14 --typed --types types.tsv --type-share 1 --json 2>err.log |
    json 'sum(p["plausible"] for p in o["predictions"])')" == 3 ]]
  printf 'predict\tcity1\tin\t?\npredict\tcity1\tin\t?\npredict\t?\tin\tcountry1\n' >questions
  "$OCTAVO" --quiet query --run run --json -k 14 batch questions --typed --types types.tsv 2>err.log >lines
  # Half of the typed nodes that are in something are "land".
  for line in 1 2; do
    [[ "$(sed -n "${line}p" lines | json 'sorted(p["node"] for p in o["predictions"] if p["plausible"])')" == "['city3', 'country0', 'country2']" ]]
  done
  [[ "$(sed -n 3p lines | json '[n in [p["node"] for p in o["predictions"] if p["plausible"]] for n in ("country0", "country2")]')" == "[True, False]" ]]
}

@test "query predict: the tail may be omitted" {
  "$OCTAVO" query --run run predict city1 in -k 3 | diff - <("$OCTAVO" query --run run predict city1 in '?' -k 3)
  fails 2 'no relation "city2"' "$OCTAVO" query --run run predict city1 city2
}

@test "query: long names keep their ends in tables and are complete in JSON, if memory suffices" {
  /usr/bin/python3 - >long.tsv <<'PYTHON'
for i in range(100):
    print(f"http://example.org/{'x' * 60000}/{i}\tr\thttp://example.org/{'y' * 60000}/{i}")
PYTHON
  "$OCTAVO" --quiet import long.tsv --graph long --columns head,relation,tail --memory 300MiB
  "$OCTAVO" --quiet train --preset none --graph long --run long-run --dim 4 --epochs 1 --model distmult --negatives 4
  long="$(head -n 1 long/nodes.names)"
  printf '%s\n' "$long" >question
  "$OCTAVO" query --run long-run -k 150 batch question --memory 64MiB >table
  [[ "$(grep -cE '^ *[0-9]+  http://example.org/[xy]{1}[xy]*\.\.\.[xy]+/[0-9]+ +-?[0-9.]+$' table)" == 150 ]]
  [[ "$("$OCTAVO" query --run long-run -k 5 --json batch question | json 'min(len(n["node"]) for n in o["neighbors"])')" -ge 60000 ]]
  status=0
  "$OCTAVO" query --run long-run -k 150 --json batch question --memory 64MiB >lines || status=$?
  [[ "$status" == 3 ]]
  grep -qE 'the names of [0-9]+ answers take .* expected a smaller -k or a larger --memory' lines
}

@test "query: words without a subcommand get an example" {
  fails 2 'unknown subcommand "city1"; expected neighbors, predict, batch, prompt, as in: octavo query --run run neighbors city1;' \
    "$OCTAVO" query --run run city1
  fails 2 "as in: octavo query --run run predict city1 in '?';" "$OCTAVO" query --run run city1 in '?'
  fails 2 "as in: octavo query neighbors 'New York' --run run -k 3;" "$OCTAVO" query 'New York' --run run -k 3
}

@test "query: wrong usage" {
  fails 2 "expected ? for exactly one of them" "$OCTAVO" query --run run predict city1 in country1
  fails 2 "expected ? for exactly one of them" "$OCTAVO" query --run run predict '?' in '?'
  fails 2 "the graph has 2 relations" "$OCTAVO" query --run run predict city1 '?'
  fails 2 "expected a whole number from 1" "$OCTAVO" query --run run neighbors city1 -k 0
  fails 2 "the smallest sufficient --memory is" "$OCTAVO" query --run run neighbors city1 --memory 1MiB
  fails 2 "NAME" "$OCTAVO" query --run run neighbors
  fails 2 "subcommand" "$OCTAVO" query --run run
}

@test "query batch: answers each line in order, as one question alone is answered" {
  printf 'New York\n\nneighbors\tcity1\npredict\tcity1\tin\t?\npredict\t?\tin\tcountry2\n' >questions
  "$OCTAVO" query --run run batch questions -k 3 >blocks
  {
    "$OCTAVO" query --run run neighbors 'New York' -k 3
    echo
    "$OCTAVO" query --run run neighbors city1 -k 3
    echo
    "$OCTAVO" query --run run predict city1 in '?' -k 3
    echo
    "$OCTAVO" query --run run predict '?' in country2 -k 3
  } | diff - blocks
  status=0
  printf 'neighbors city1\n' | "$OCTAVO" query --run run batch - 2>hint || status=$?
  [[ "$status" == 3 ]]
  grep -q 'no node "neighbors city1".*; the words of a question are separated by tabs here$' hint
  gzip -c questions | "$OCTAVO" query --run run --json -k 3 batch - --metric dot --known mark >lines
  {
    "$OCTAVO" query --run run neighbors 'New York' -k 3 --json --metric dot
    "$OCTAVO" query --run run neighbors city1 -k 3 --json --metric dot
    "$OCTAVO" query --run run predict city1 in '?' -k 3 --json --known mark
    "$OCTAVO" query --run run predict '?' in country2 -k 3 --json --known mark
  } >alone
  /usr/bin/python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("lines")]
asked = [(line.pop("line"), line.pop("question")) for line in lines]
questions = open("questions").read().split("\n")
assert asked == [(n, questions[n - 1]) for n in (1, 3, 4, 5)], asked
alone, text = [], open("alone").read()
while text.strip():
    value, end = json.JSONDecoder().raw_decode(text)
    alone.append(value)
    text = text[end:].lstrip()
assert alone == lines, (alone, lines)
PYTHON
}

@test "query batch: with an index" {
  "$OCTAVO" --quiet index --run run --output near.hnsw --recall 0
  printf 'city1\npredict\tcity1\tin\t?\n' >questions
  "$OCTAVO" query --run run --json batch questions --index near.hnsw --ef 50 >lines
  [[ "$(head -n 1 lines | json 'o["ef"], len(o["neighbors"])')" == "(50, 10)" ]]
  [[ "$(tail -n 1 lines | json 'len(o["predictions"])')" == 10 ]]
  fails 2 "an index only supports cosine" "$OCTAVO" query --run run batch questions --index near.hnsw --metric dot
}

@test "query batch: unanswerable questions are reported, the others are answered" {
  printf 'New Yrok\ncity1\nfriends\tcity1\npredict\tcity1\t?\nneighbors\tcity1\tcity2\nneighbors\t\n\xff\ncity2' >questions
  local status=0
  "$OCTAVO" query --run run -k 1 --json batch questions >lines 2>log || status=$?
  [[ "$status" == 3 ]]
  grep -q 'questions: 6 of 8 questions could not be answered' log
  [[ "$(/usr/bin/python3 -c '
import json
for line in open("lines"): o = json.loads(line); print(o["line"], o.get("error", o.get("node")))' | sed "s|$PWD/||")" == \
"1 graph: no node \"New Yrok\"; did you mean \"New York\"?
2 city1
3 found \"friends\" and 1 field after it; expected neighbors<TAB>NAME, predict<TAB>HEAD<TAB>RELATION<TAB>? or, without a tab, NAME
4 predict: found 2 words; expected HEAD RELATION ? or ? RELATION TAIL, as the graph has 2 relations
5 found \"neighbors\" and 2 fields after it; expected neighbors<TAB>NAME, predict<TAB>HEAD<TAB>RELATION<TAB>? or, without a tab, NAME
6 graph: no node \"\"
7 graph: no node \"\\xFF\"
8 city2" ]]
  status=0
  "$OCTAVO" query --run run -k 1 batch - <questions >blocks 2>log || status=$?
  [[ "$status" == 3 && "$(grep -c '^neighbors of' blocks)" == 2 ]]
  grep -q '<stdin>:1: .*graph: no node "New Yrok"' log
  # Similar spellings are searched for only so many times.
  printf 'New Yrok\n%.0s' {1..30} | "$OCTAVO" query --run run --json batch - 2>log >lines || status=$?
  [[ "$(grep -c 'did you mean' lines) $(wc -l <lines)" == "20 30" ]]
}

@test "query batch: wrong usage" {
  fails 2 "nosuch: no such file" "$OCTAVO" query --run run batch nosuch
  fails 2 "FILE" "$OCTAVO" query --run run batch
  printf 'a\0b\n' >questions
  fails 3 "questions:1: found a NUL byte" "$OCTAVO" query --run run batch questions
  [[ -z "$("$OCTAVO" query --run run batch /dev/null)" ]]
}

@test "query batch: more lines take no more memory" {
  [[ "$(/usr/bin/python3 - "$OCTAVO" <<'PYTHON'
import os, subprocess, sys
def peak(lines):  # KiB of the program that answers them
    program = subprocess.Popen([sys.argv[1], "--threads", "1", "query", "--run", "run", "-k", "1", "batch", "-"],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    program.stdin.write(b"country1\n" * lines)
    program.stdin.close()
    _, status, usage = os.wait4(program.pid, 0)
    assert status == 0
    return usage.ru_maxrss
few, many = peak(100), peak(5000)
print("held" if many < few + 2048 else f"{few} KiB, then {many}")
PYTHON
)" == held ]]
}

@test "query prompt: a session at a terminal" {
  fails 2 "octavo query batch -" "$OCTAVO" query --run run prompt
  "$BATS_TEST_DIRNAME/check_prompt.py" "$OCTAVO" run web-run
}
