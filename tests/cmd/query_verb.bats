setup_file() { load reading.bash; make_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "query neighbors: table and JSON name the same nodes in falling order" {
  "$OCTAVO" query --run run neighbors "New York" -k 3 >table
  grep -q 'neighbors of "New York"' table
  "$OCTAVO" query neighbors "New York" -k 3 --run run --json >answer
  [[ "$(json 'o["node"], o["metric"], len(o["neighbors"])' <answer)" == "('New York', 'cosine', 3)" ]]
  json '"\n".join(n["node"] for n in o["neighbors"])' <answer | while read -r name; do grep -qF "$name" table; done
  [[ "$(json 'sorted((n["score"] for n in o["neighbors"]), reverse=True) == [n["score"] for n in o["neighbors"]]' <answer)" == True ]]
  [[ "$("$OCTAVO" query --run run neighbors city1 --json -k 100 | json 'len(o["neighbors"])')" == 13 ]]
}

@test "query predict: hides or marks the known, on both sides" {
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --json >hidden
  [[ "$(json '"country1" in [p["node"] for p in o["predictions"]], len(o["predictions"])' <hidden)" == "(False, 13)" ]]
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --known mark --json >marked
  [[ "$(json '[p["node"] for p in o["predictions"] if p["known"]]' <marked)" == "['country1']" ]]
  "$OCTAVO" query --run run predict '?' in country2 -k 14 --known mark >table
  [[ "$(grep -c ' known$' table)" == 3 ]]
  # A test edge is known too.
  [[ "$("$OCTAVO" query --run run predict city1 near '?' -k 14 --json | json '"city7" in [p["node"] for p in o["predictions"]]')" == False ]]
}

@test "query: unknown names are errors with near spellings" {
  fails 2 'no node "New Yrok"; did you mean "New York"?' "$OCTAVO" query --run run neighbors "New Yrok"
  fails 2 'no node "nothing like it"' "$OCTAVO" query --run run neighbors "nothing like it"
  fails 2 'no node "esc\x1B[31m"' "$OCTAVO" query --run run neighbors $'esc\e[31m'
  # A name in brackets was once taken for a list.
  fails 2 'no node "[x,y]"' "$OCTAVO" query --run run predict '[x,y]' in '?'
  fails 2 'no relation "nera"; did you mean "near"?' "$OCTAVO" query --run run predict city1 nera '?'
}

@test "query: wrong usage" {
  fails 2 "expected ? for exactly one of them" "$OCTAVO" query --run run predict city1 in country1
  fails 2 "expected ? for exactly one of them" "$OCTAVO" query --run run predict '?' in '?'
  fails 2 "the graph has 2 relations" "$OCTAVO" query --run run predict city1 '?'
  fails 2 "expected a whole number from 1" "$OCTAVO" query --run run neighbors city1 -k 0
  fails 2 "the smallest --memory that would do is" "$OCTAVO" query --run run neighbors city1 --memory 1MiB
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
  fails 2 "an index is by cosine" "$OCTAVO" query --run run batch questions --index near.hnsw --metric dot
}

@test "query batch: what cannot be answered is told, the others are answered" {
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
3 found \"friends\" and 1 field behind it; expected neighbors<TAB>NAME, predict<TAB>HEAD<TAB>RELATION<TAB>? or, without a tab, NAME
4 predict: found 2 words; expected HEAD RELATION ? or ? RELATION TAIL, as the graph has 2 relations
5 found \"neighbors\" and 2 fields behind it; expected neighbors<TAB>NAME, predict<TAB>HEAD<TAB>RELATION<TAB>? or, without a tab, NAME
6 graph: no node \"\"
7 graph: no node \"\\xFF\"
8 city2" ]]
  status=0
  "$OCTAVO" query --run run -k 1 batch - <questions >blocks 2>log || status=$?
  [[ "$status" == 3 && "$(grep -c '^neighbors of' blocks)" == 2 ]]
  grep -q '<stdin>:1: .*graph: no node "New Yrok"' log
  # Near spellings are looked for so often and no more.
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

@test "query prompt: a conversation at a terminal" {
  fails 2 "octavo query batch -" "$OCTAVO" query --run run prompt
  "$BATS_TEST_DIRNAME/check_prompt.py" "$OCTAVO" run
}
