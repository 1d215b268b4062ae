#!/usr/bin/env bats
# octavo tune without a space: candidates from the graph.

load training.bash

setup_file() {
  make_graph
  awk '{ print > (NR % 10 ? "some.tsv" : "valid.tsv") }' train.tsv
  "$OCTAVO" --quiet import some.tsv --valid valid.tsv --graph split
  "$OCTAVO" --threads 1 tune --graph split "${short[@]}" --output unbroken --json >unbroken.json 2>unbroken.log
}

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR"/{graph,split,unbroken,unbroken.json,unbroken.log} .; }

short=(--trials 4 --validation-sample 20)

# The log without times, and without the checksums over them.
decisions() { sed -E 's/"seconds":[0-9.e+-]+/"seconds":0/; s/,"fixed_seconds":[0-9.e+-]+//; s/,?"checksum":"[0-9a-f]*"//' "$1/tune.jsonl"; }
# value FILE KEY: of an object.
value() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$@"; }
option() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/run.json"))["options"][sys.argv[2]])' "$@"; }

@test "the first candidate is what train chooses, and the end says what the best is worth beside it" {
  "$OCTAVO" train --graph split --run run 2>train.log
  [ "$(grep '^chosen: ' train.log | cut -d' ' -f2- | tr ' ' '\n' | grep -c .)" -gt 10 ]
  grep -qE '^auto: --model rescal ' unbroken.log
  grep -qE '^best: .*valid MRR 0\.[0-9]{4}(, auto 0\.[0-9]{4} \(\+0\.[0-9]{4}\)|; none of 3 other candidates was better)$' unbroken.log
  run="$(value unbroken.json run)"
  /usr/bin/python3 - <<'PYTHON'
import json
o = json.load(open("unbroken.json"))
assert o["end"] == "done" and o["held_out"] == 0, o
first = next(t for t in o["trials"] if t["trial"] == 0)
best = o["trials"][0]
assert best["mrr"] >= o["auto"] == first["mrr"], o
chosen = json.load(open("run/run.json"))["options"]
for name, value in first["options"].items():
    # A run has what auto has become on this machine.
    assert chosen[name] == value or (name, value) == ("precision", "auto"), (name, chosen[name], value)
assert first["epochs"] == chosen["epochs"] and best["rung"] == first["rung"] == len(o["rungs"])
PYTHON
  "$OCTAVO" --quiet train --preset none --graph split --run again --config unbroken/best.toml
  [ "$(tables again)" = "$(tables "$run")" ]
}

@test "killed anywhere and called again, it takes the same decisions and gives the same best" {
  for place in tune.append:1 tune.append:2 tune.sync:1 tune.sync:3 tune.trained:4 tune.remove:5 train.batch:20 commit.C5:30; do
    status=0
    OCTAVO_FAILPOINT="$place=kill" "$OCTAVO" --quiet tune --graph split "${short[@]}" --output search >out.log 2>&1 || status=$?
    [ "$status" -eq 137 ]
    "$OCTAVO" --quiet --memory 300MiB tune --graph split "${short[@]}" --output search --json >out.json
    [ "$(decisions search)" = "$(decisions unbroken)" ] || { echo "$place"; return 1; }
    [ "$(value out.json best)" = "$(value unbroken.json best)" ]
    [ "$(tables "$(value out.json run)")" = "$(tables "$(value unbroken.json run)")" ]
    rm -r search
  done
}

@test "the table says what differs from auto" {
  "$OCTAVO" --quiet tune --graph split "${short[@]}" --output unbroken >table
  [ "$(wc -l <table)" -eq 5 ]
  head -1 table | grep -qE '^rank +trial +MRR +hits@10 +epochs +seconds +options$'
  [ "$(grep -cE ' auto$' table)" -eq 1 ]
  [ "$(grep -cE '(rate|dim|model|epochs|batch|regularization|dropout|negatives|loss|regularizer|queries) [a-z0-9.]+' table)" -ge 3 ]
}

# How long a machine takes is not tested, only that the time decides and the decisions are kept.
@test "--time writes its decisions to the log, keeps them, and trains the best in full" {
  "$OCTAVO" tune --graph split --trials 5 --output search --time 1h --json >out.json 2>err.log
  [ "$(grep -c '"begun"' search/tune.jsonl)" -ge 5 ]
  [ "$(value out.json end)" = done ]
  cp search/tune.jsonl before
  "$OCTAVO" --quiet tune --graph split --trials 5 --output search --time 1h --json >again.json
  cmp before search/tune.jsonl
  [ "$(value again.json best)" = "$(value out.json best)" ]
  # There is no time for any other candidate.
  "$OCTAVO" --quiet tune --graph split --output short --time 0.01s --json >short.json
  [ "$(value short.json best)" = 0 ]
  grep -q '"left","trial":1,"rung":0,"reason":"left, for lack of time"' short/tune.jsonl
  fails 2 'another --time: found 2 s, expected 3600 s' "$OCTAVO" tune --graph split --trials 5 --output search --time 2s
}

@test "a signal before the first trial ends the search, and the same command begins it again" {
  awk 'BEGIN { srand(5); for (i = 0; i < 20000; ++i) printf "n%d\tr%d\tn%d\n", i % 9000, rand() * 4, rand() * 9000 }' >all.tsv
  awk '{ print > (NR % 20 ? "large.tsv" : "valid.tsv") }' all.tsv
  "$OCTAVO" --quiet import large.tsv --valid valid.tsv --graph large
  flags=(--graph large --output stopped --time 15s --trials 2)
  "$OCTAVO" tune "${flags[@]}" >out.log 2>err.log 3>&- &
  pid=$!
  wait_for 60 measures "$pid"
  terminate "$pid" 'stopped has no trial yet; the same command begins the search again'
  [ ! -s out.log ]
  [ -z "$(find . -name '.octavo*')" ]
  if grep -q '"begun"' stopped/tune.jsonl; then false; fi
  "$OCTAVO" --quiet tune "${flags[@]}" --json >out.json
  [ "$(value out.json end)" = done ]
}

@test "a graph without valid edges has some held out, and the best is trained on all of them" {
  printf '1\tthe instructor\n34\tthe president\n' >labels.tsv
  "$OCTAVO" --quiet import "$BATS_TEST_DIRNAME/../../data/karate.tsv" --graph karate --columns head,tail --labels labels.tsv
  "$OCTAVO" tune --graph karate --output search --trials 3 --json >out.json 2>err.log
  grep -qE '^the graph has no valid edges: [0-9]+ of the training edges are held out to compare the candidates$' err.log
  grep -qE '^best: .*valid MRR 0\.[0-9]+ on the edges held out' err.log
  [ "$(value out.json run)" = search/run ]
  [ "$(option search/run walk)" != "" ]
  "$OCTAVO" --quiet train --preset none --graph karate --run again --config search/best.toml
  (cd again && sha256sum embeddings.npy) | (cd search/run && sha256sum --check --quiet)
  "$OCTAVO" --quiet verify search --deep
  "$OCTAVO" query --run search/run neighbors "the president" >table
  grep -q '"34" (the president)' table
  cp -r search damaged
  printf 'x' | dd of=damaged/graph/train.cells bs=1 seek=300 conv=notrunc status=none
  status=0
  "$OCTAVO" --quiet verify damaged >verify.log || status=$?
  [ "$status" -eq 4 ]
  grep -qE '^DAMAGED +graph/train.cells' verify.log
  rm damaged/graph/graph.json
  status=0
  "$OCTAVO" --quiet verify damaged >verify.log || status=$?
  [ "$status" -eq 4 ]
  grep -q 'graph/graph.json' verify.log
  "$OCTAVO" --quiet verify search/run --deep
}

@test "UMLS: not worse than auto" {
  data="${OCTAVO_DATA:-$OCTAVO_DATA_DEFAULT}/UMLS"
  [ -e "$data" ] || skip "NOT TESTED: $data is absent; set OCTAVO_DATA"
  for split in train valid test; do zstd -dcq "$data/$split.txt.zst" >$split.txt; done
  "$OCTAVO" --quiet import train.txt --valid valid.txt --test test.txt --graph umls
  "$OCTAVO" tune --graph umls --output search --time 20s --json >out.json 2>err.log
  grep -q '^best: ' err.log
  /usr/bin/python3 -c 'import json; o = json.load(open("out.json")); assert o["trials"][0]["mrr"] >= o["auto"] > 0.8, o'
}

@test "--dry-run prints the candidates, and writes nothing" {
  "$OCTAVO" tune --graph split --output search --trials 4 --dry-run 2>err.log
  grep -qE '^auto: --model rescal ' err.log
  [ "$(grep -cE '^trial [0-3]: ' err.log)" -eq 4 ]
  grep -qx 'trial 0: auto' err.log
  grep -qE '^[0-9]+ epochs in all, about .* of training here' err.log
  "$OCTAVO" tune --graph graph --output search --time 1m --dry-run 2>err.log
  grep -qE '^about [0-9]+ edges are held out$' err.log
  grep -qx 'as many of them as 60.0 s allow' err.log
  [ ! -e search ]
}

@test "flags of the other kind of search are refused" {
  echo 'dim = [4, 8]' >space.toml
  fails 2 '--epochs: found without --space' "$OCTAVO" tune --graph split --output new --epochs 9
  fails 2 '--epochs-least: found without --space' "$OCTAVO" tune --graph split --output new --epochs-least 9
  fails 2 '--time: found with --space' "$OCTAVO" tune --graph split --output new --space space.toml --time 1m
  fails 2 '--time: found "soon"' "$OCTAVO" tune --graph split --output new --time soon
  fails 2 'another --trials' "$OCTAVO" tune --graph split --output unbroken --trials 5 --validation-sample 20
  printf 'a\tr\tb\n' >one.tsv
  "$OCTAVO" --quiet import one.tsv --graph one
  fails 2 'one: 1 training edges are too few to hold some out' "$OCTAVO" tune --graph one --output new2
  [ ! -e new ]
}
