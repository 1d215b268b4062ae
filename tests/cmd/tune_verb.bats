#!/usr/bin/env bats
# octavo tune as its users run it.

load training.bash

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN { srand(5); for (i = 0; i < 600; ++i) { h = i % 40; r = int(rand() * 3)
      printf "n%d\tr%d\tn%d\n", h, r, (h * (r + 2) + int(rand() * 4)) % 40 } }' >train.tsv
  "$OCTAVO" --quiet import train.tsv --graph graph --columns head,relation,tail --split 0.9,0.1,0
  cat >space.toml <<'END'
dim = [4, 8]
batch = 64
chunk = 16
negatives = { min = 8, max = 24, step = 8 }
learning-rate = { min = 0.01, max = 1.0, log = true }
learning-rate-schedule = "linear"
durability = "process"
END
  tune --output unbroken --json --threads 1 >unbroken.json
}

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR"/{graph,space.toml,unbroken,unbroken.json} .; }

# Flags of a search that takes a moment, and the search with them.
short=(--graph graph --space space.toml --trials 6 --epochs-least 1 --epochs 4 --reduction-factor 2 --seed 3)
tune() { "$OCTAVO" --quiet tune "${short[@]}" "$@"; }

# with FLAG VALUE [FLAG VALUE]... -- FLAGS...: the same with other values for some flags.
with() {
  local flags=("${short[@]}") i
  while [ "$1" != -- ]; do
    for i in "${!flags[@]}"; do
      [ "${flags[i]}" != "$1" ] || flags[i + 1]="$2"
    done
    shift 2
  done
  shift
  "$OCTAVO" --quiet tune "${flags[@]}" "$@"
}

# Without times and the folder's name.
results() {
  /usr/bin/python3 - "$1" <<'PYTHON'
import json, sys
o = json.load(open(sys.argv[1]))
for key in "seconds", "preset", "run":
    del o[key]
for trial in o["trials"]:
    del trial["seconds"]
print(json.dumps(o, indent=1))
PYTHON
}

@test "the best trial's preset and run are left, and train gives the same bits" {
  best="$(/usr/bin/python3 -c 'import json; o = json.load(open("unbroken.json")); print("trial-%03d" % o["best"])')"
  [ "$(ls unbroken | LC_ALL=C sort | tr '\n' ' ')" = "LOCK best.toml $best tune.jsonl " ]
  "$OCTAVO" --quiet train --preset none --graph graph --run run --config unbroken/best.toml
  [ "$(tables run)" = "$(tables "unbroken/$best")" ]
  # The MRR is the same as evaluate's.
  "$OCTAVO" --quiet evaluate --run "unbroken/$best" --split valid --json >evaluated.json
  /usr/bin/python3 - <<'PYTHON'
import json
o, e = json.load(open("unbroken.json")), json.load(open("evaluated.json"))
best = o["trials"][0]
assert o["end"] == "done" and best["trial"] == o["best"] and best["rank"] == 1, o
for key in "mrr", "hits@1", "hits@3", "hits@10", "mean_rank":
    assert best[key] == e[key], (key, best[key], e[key])
assert [(r["epochs"], r["trials"], r["done"]) for r in o["rungs"]] == [(1, 6, 6), (2, 3, 3), (4, 1, 1)], o["rungs"]
assert sorted(t["trial"] for t in o["trials"]) == list(range(6))
assert [t["epochs"] for t in o["trials"]] == [4, 2, 2, 1, 1, 1]
assert [t["rank"] for t in o["trials"]] == [1, 2, 3, 4, 5, 6]
for group in (o["trials"][1:3], o["trials"][3:]):
    assert [t["mrr"] for t in group] == sorted((t["mrr"] for t in group), reverse=True)
for t in o["trials"]:
    options = t["options"]
    assert options["dim"] in (4, 8) and options["negatives"] in (8, 16, 24) and 0.01 <= options["learning-rate"] <= 1
PYTHON
}

@test "the table has a line for each trial and what varies" {
  tune --output unbroken >table
  [ "$(wc -l <table)" -eq 7 ]
  head -1 table | grep -qE '^rank +trial +MRR +hits@10 +epochs +seconds +dim +negatives +learning-rate$'
  sed -n 2p table | grep -qE '^1 +[0-9] +0\.[0-9]{4} +[01]\.[0-9]{4} +4 +[0-9.]+ +[48] +(8|16|24) +[0-9.]+$'
}

@test "threads change no result" {
  tune --output search --json --threads 2 >out.json
  [ "$(results out.json)" = "$(results unbroken.json)" ]
}

@test "killed anywhere and called again, it gives the same result" {
  for place in tune.append:1 tune.sync:2 tune.trained:4 tune.remove:5 tune.append:7 tune.remove:8 tune.sync:10 \
    train.batch:3 train.batch:40 train.validate:2 commit.C5:6 commit.C6:9; do
    status=0
    OCTAVO_FAILPOINT="$place=kill" tune --output search >out.log 2>&1 || status=$?
    [ "$status" -eq 137 ]
    tune --output search --json >out.json
    [ "$(results out.json)" = "$(results unbroken.json)" ] || { echo "$place"; return 1; }
    [ "$(ls search)" = "$(ls unbroken/)" ]
    rm -r search
  done
}

@test "SIGTERM and SIGINT commit and exit with 143 and 130, and the same call continues" {
  for signal in TERM INT; do
    status=0
    OCTAVO_FAILPOINT="$(printf 'train.batch:%d=sleep,' {12..90})" env --default-signal=INT "$OCTAVO" tune "${short[@]}" \
      --output search >table 2>err.log 3>&- &
    pid=$!
    wait_for 20 grep -q '"result"' search/tune.jsonl
    sleep 0.25
    kill "-$signal" "$pid"
    wait "$pid" || status=$?
    echo "exit $status: $(cat err.log)"
    [ "$status" -eq "$([ "$signal" = TERM ] && echo 143 || echo 130)" ]
    grep -q "stopped by SIG$signal; trials so far: [1-6] of 6 to epoch 1, .*; repeat the command to continue" err.log
    [ "$(wc -l <table)" -eq 7 ]
    tune --output search --json >out.json
    [ "$(results out.json)" = "$(results unbroken.json)" ]
    rm -r search
  done
}

@test "a spent budget exits with 0 and reports the progress; a larger one continues" {
  "$OCTAVO" tune "${short[@]}" --output search --budget 0.000001s >table 2>err.log
  grep -q 'the --budget is spent after [0-9.]* s; trials so far: 0 of 6 to epoch 1, 0 of 3 to epoch 2, 0 of 1 to epoch 4' err.log
  [ "$(grep -c 'not trained yet' table)" -eq 6 ]
  [ ! -e search/best.toml ]
  tune --output search --json --budget 1h >out.json
  [ "$(results out.json)" = "$(results unbroken.json)" ]
}

@test "other arguments in the same folder are rejected with the difference" {
  before="$(cat unbroken/tune.jsonl)"
  fails 2 "another --trials: found 5, expected 6" with --trials 5 -- --output unbroken
  sed 's/\[4, 8\]/[4, 8, 12]/' space.toml >other.toml
  fails 2 "another dim in --space: found [4, 8, 12], expected [4, 8]" with --space other.toml -- --output unbroken
  [ "$(cat unbroken/tune.jsonl)" = "$before" ]
  mkdir mine
  touch mine/notes
  fails 2 "mine/notes: exists and does not belong to a search" tune --output mine
}

@test "a trial that diverges, or does not fit the memory, ranks last, with the reason" {
  printf 'dim = 8\nbatch = 64\nchunk = 16\noptimizer = "sgd"\nlearning-rate = [0.01, 1000]\n' >a.toml
  with --space a.toml --epochs-least 20 --epochs 40 -- --output search >table 2>err.log
  sed -n 3p table | grep -qE '^- +[01] +- +- +0 +[0-9.]+ +1000 +the (loss|row of the .*) is not finite'
  sed -n 2p table | grep -qE '^1 +[01] +0\.'
  grep -q 'trial [01] has failed: the ' err.log
  printf 'dim = [8, 60000]\nbatch = 64\nchunk = 16\n' >b.toml
  with --space b.toml -- --output small --memory 256MiB >table
  sed -n 3p table | grep -qE '^- .* 60000 +.*(need|memory)'
  printf 'dim = [60000, 61000]\nbatch = 64\nchunk = 16\n' >c.toml
  status=0
  with --space c.toml -- --output none --memory 64MiB >table 2>err.log || status=$?
  [ "$status" -eq 1 ]
  grep -q 'every trial has failed, the first one because: ' err.log
  [ "$(wc -l <table)" -eq 3 ]
}

@test "wrong values and spaces exit with 2 and make nothing" {
  fails 2 '--budget: found "2"; expected a time above 0 such as' tune --output new --budget 2
  fails 2 '--budget: found "0h"' tune --output new --budget 0h
  fails 2 '--reduction-factor: found "1"; expected a whole number from 2' with --reduction-factor 1 -- --output new
  fails 2 '--trials: found "0"' with --trials 0 -- --output new
  fails 2 '--epochs is 4 and --epochs-least 9' with --epochs-least 9 -- --output new
  printf 'dim = [4, 8]\nlearning-rate = { min = 1, max = 0.1 }\n' >a.toml
  fails 2 'a.toml:2: learning-rate: found min 1 above max 0.1; expected' with --space a.toml -- --output new
  printf 'dims = [4, 8]\n' >a.toml
  fails 2 'a.toml:1: unknown key "dims"; did you mean dim?' with --space a.toml -- --output new
  fails 2 'absent.toml' with --space absent.toml -- --output new
  fails 2 'absent: not a graph' with --graph absent -- --output new
  awk 'NR <= 300' "$BATS_FILE_TMPDIR/train.tsv" >few.tsv
  "$OCTAVO" --quiet import few.tsv --graph few --columns head,relation,tail
  fails 2 'no edges to validate with' with --graph few -- --output new
  [ ! -e new ]
}

@test "the spaces of configs/tune can be searched" {
  for space in "$BATS_TEST_DIRNAME"/../../configs/tune/*.toml; do
    name="$(basename "$space" .toml)"
    grep -q "^# *octavo tune .*--space $name " "$space"
    with --space "$space" --trials 2 --epochs 1 -- --output "search-$name" >table
    mkdir "$name"  # a folder is not a space
    with --space "$name" --trials 2 --epochs 1 -- --output "search-$name" >again  # by its name: continues, and is done
    cmp table again
  done
}
