#!/usr/bin/env bats
# octavo grow, octavo import --base and octavo train --init as their users run them.

load training.bash

# Makes $BATS_FILE_TMPDIR/graph and run, and edges to add: 12 new nodes, a new relation.
setup_file() {
  make_graph
  awk 'BEGIN { srand(4); for (i = 0; i < 120; ++i) printf "n%d\tr%d\tn%d\n", 28 + i % 24, rand() * 4, rand() * 52 }' \
    >add.tsv
  "$OCTAVO" --quiet train --graph graph --run run "${tiny[@]}" --reciprocal --optimizer adagrad
}

setup() {
  cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR"/{graph,run,add.tsv,train.tsv} .
  cat >named.py <<'PYTHON'
# Rows by name, from the files alone.
import json, numpy
def tables(run):
    graph = json.load(open(run + "/run.json"))["graph"]
    nodes = open(graph + "/nodes.names", "rb").read().split(b"\n")[:-1]
    relations = [line.split(b"\t")[0] for line in open(graph + "/relations.tsv", "rb")]
    relations += [name + b"^-1" for name in relations]
    load = lambda name: numpy.load(f"{run}/{name}.npy").view("uint32")
    return {name: dict(zip(names, load(name))) for name, names in [
        ("embeddings", nodes), ("optimizer", nodes), ("relations", relations), ("relations.optimizer", relations)]}
def same(a, b):
    """Of the names in both, how many there are and how many have the same bytes."""
    both = [name for name in a if name in b]
    return len(both), sum(bool((a[name] == b[name]).all()) for name in both)
PYTHON
}

grow() { "$OCTAVO" grow --run run --add add.tsv --graph grown --output "$@"; }

@test "a graph with added edges equals the graph of all lines" {
  "$OCTAVO" --quiet import train.tsv add.tsv --graph all
  "$OCTAVO" import add.tsv --base graph --graph grown --json >grown.json
  [ "$(wc -l <all/nodes.names)" = 52 ]
  for file in nodes.hash nodes.names nodes.offsets relations.tsv train.cells valid.cells test.cells; do
    cmp "all/$file" "grown/$file"
  done
  "$OCTAVO" --quiet verify grown
  /usr/bin/python3 -c 'import json; g = json.load(open("grown.json")); assert g["base_edges"] > 300 and g["input_edges"] == 120, g'
}

@test "trained rows are kept bit for bit with --freeze old, after a kill and for any number of threads" {
  before="$(cd run/ && sha256sum -- *)"
  grow frozen --freeze old --edges new --threads 1 2>err.log
  grep -q '^40 of 52 nodes and 6 of 8 relation rows start with those of run, .*with optimizer state$' err.log
  [ "$before" = "$(cd run/ && sha256sum -- *)" ]
  PYTHONPATH=. /usr/bin/python3 - <<'PYTHON'
from named import *
run, frozen = tables("run"), tables("frozen")
for name, count in [("embeddings", 40), ("optimizer", 40), ("relations", 6), ("relations.optimizer", 6)]:
    assert same(frozen[name], run[name]) == (count, count), name
assert len(frozen["embeddings"]) == 52 and all(frozen["optimizer"][n].any() for n in frozen["optimizer"])
events = [json.loads(line) for line in open("frozen/metrics.jsonl")]
assert events[0]["event"] == "init" and events[0]["nodes"] == 40 and len(events) == 4, events
options = json.load(open("frozen/run.json"))
assert options["options"]["freeze"] == "old" and options["options"]["edges"] == "new"
assert options["options"]["optimizer"] == "adagrad" and options["init"]["source"].endswith("/run"), options
PYTHON
  "$OCTAVO" --quiet verify frozen
  [ ! -e frozen/edges.cells ]
  local status=0
  OCTAVO_FAILPOINT=train.batch:2=kill "$OCTAVO" --quiet train --graph grown --run broken "${tiny[@]}" --reciprocal \
    --optimizer adagrad --init run --freeze old --edges new || status=$?
  [ "$status" = 137 ]
  "$OCTAVO" --quiet resume --run broken --threads 2
  diff <(tables frozen) <(tables broken)
}

@test "a warm start without options continues with the model of its run" {
  "$OCTAVO" import add.tsv --base graph --graph grown --quiet
  chosen() { "$OCTAVO" train --graph grown --init run --print-config "$@" 2>err.log >chosen.toml; }
  chosen
  /usr/bin/python3 - <<'PYTHON'
import json, tomllib
chosen, options = tomllib.load(open("chosen.toml", "rb")), json.load(open("run/run.json"))["options"]
for name in ("model", "dim", "optimizer", "reciprocal"):
    assert chosen[name] == options[name], (name, chosen[name], options[name])
PYTHON
  chosen --dim 24
  grep -qx 'dim = 24' chosen.toml
  "$OCTAVO" --quiet train --graph grown --run followed --init run --epochs 1
}

@test "without freezing all rows continue to train" {
  grow free --epochs 2
  PYTHONPATH=. /usr/bin/python3 - <<'PYTHON'
from named import *
run, free = tables("run"), tables("free")
assert same(free["embeddings"], run["embeddings"]) == (40, 0)
assert json.load(open("free/run.json"))["options"]["epochs"] == 2
# Adagrad's state can only grow.
grew = [(free["optimizer"][n].view("f4") >= run["optimizer"][n].view("f4")).all() for n in run["optimizer"]]
assert all(grew)
PYTHON
}

@test "vectors of every exported format can start a run, and so can numpy's and gensim's" {
  local format
  for format in npy word2vec word2vec-binary; do
    "$OCTAVO" --quiet export --run run --output "vectors.$format" --format "$format" --names names
    local names=()
    [ "$format" != npy ] || names=(--init-names names)
    "$OCTAVO" --quiet import add.tsv --base graph --graph grown --overwrite
    "$OCTAVO" --quiet train --graph grown --run "$format" "${tiny[@]}" --init "vectors.$format" "${names[@]}" --freeze old
  done
  /usr/bin/python3 - <<'PYTHON'
import gzip, numpy
rows = numpy.load("vectors.npy")
numpy.save("numpy.npy", rows)
names = open("names").read().split("\n")[:-1]
with gzip.open("gensim.txt.gz", "wt") as out:  # as gensim writes text: repr of floats, a header
    out.write(f"{len(rows)} {rows.shape[1]}\n")
    for name, row in zip(names, rows): out.write(name + " " + " ".join(repr(float(x)) for x in row) + "\n")
PYTHON
  "$OCTAVO" --quiet train --graph grown --run numpy "${tiny[@]}" --init numpy.npy --init-names names --freeze old
  "$OCTAVO" --quiet train --graph grown --run gensim "${tiny[@]}" --init gensim.txt.gz --freeze old
  for format in word2vec word2vec-binary numpy gensim; do diff <(tables npy) <(tables "$format"); done
  PYTHONPATH=. /usr/bin/python3 -c '
from named import *
assert same(tables("npy")["embeddings"], tables("run")["embeddings"]) == (40, 40)'
}

@test "what cannot be grown is rejected before anything is made" {
  fails 2 "dim" grow out --dim 10
  fails 2 "absent" "$OCTAVO" grow --run absent --add add.tsv --graph grown --output out
  fails 2 "is in the folder of the run that is made of it" "$OCTAVO" grow --run run --add add.tsv --graph grown --output run
  printf 'a\tb\n' >pairs.tsv
  fails 3 "pairs.tsv: columns head,tail; expected a relation" "$OCTAVO" grow --run run --add pairs.tsv --graph grown --output out
  fails 2 "--init" "$OCTAVO" train --graph graph --run out "${tiny[@]}" --init-names names
  fails 2 "--init" "$OCTAVO" train --graph graph --run out "${tiny[@]}" --freeze old
  ln -s loop loop
  fails 1 "loop/out: resolve: Too many levels" "$OCTAVO" train --graph graph --run loop/out "${tiny[@]}" --init run
  [ ! -e grown ] && [ ! -e out ]
}

# The graph was replaced first, and the error was found only afterwards.
@test "a rejected growth replaces no graph" {
  "$OCTAVO" --quiet import train.tsv --graph grown
  before="$(sha256sum grown/*)"
  fails 2 "expected 10, the dim of the training" grow out --overwrite --dim 10
  fails 2 "is in the folder of the run that is made of it" grow run --overwrite
  fails 2 "is a graph" grow graph --overwrite
  fails 2 "is also --graph" grow ./grown --overwrite
  fails 2 "no edges to validate with" grow out --overwrite --validate-every 1
  fails 2 "--memory" grow out --overwrite --memory 1MiB
  echo mine >file
  fails 2 "is not a folder" grow file --overwrite
  mkdir mine && echo mine >mine/embeddings.npy
  fails 2 "does not belong to a run" "$OCTAVO" grow --run run --add add.tsv --graph other --output mine
  [ "$before" = "$(sha256sum grown/*)" ] && [ ! -e other ] && [ ! -e out ]
  "$OCTAVO" --quiet grow --run run --add add.tsv --graph grown --output out --overwrite --valid add.tsv \
    --validate-every 2 --epochs 2
}

# The graph was replaced first, and the older run had no graph until the new one was complete.
@test "a growth over a graph and its run replaces both or none, at whatever moment it is killed" {
  pair() { (cd pair && sha256sum -- *) && tables out; }
  killed() {  # PLACE
    local status=0
    OCTAVO_FAILPOINT="$1=kill" grow out --overwrite --graph pair 2>/dev/null || status=$?
    [ "$status" = 137 ]
  }
  grow() { "$OCTAVO" grow --run run --add add.tsv --output "$@"; }
  grow out --graph pair
  new="$(pair)"
  rm -r pair out
  "$OCTAVO" --quiet import train.tsv --graph pair
  "$OCTAVO" --quiet train --graph pair --run out "${tiny[@]}" --seed 9
  older="$(pair)"
  for place in initial.rows folder.commit; do
    killed "$place"
    [ "$older" = "$(pair)" ]
    "$OCTAVO" --quiet evaluate --run out --split train >/dev/null
  done
  killed replace.P1
  fails 2 "octavo resume --run out completes that" "$OCTAVO" evaluate --run out --split train
  fails 2 "octavo resume --run out completes that" "$OCTAVO" resume --run out --dry-run
  fails 2 "octavo resume --run out completes that" "$OCTAVO" verify out
  "$OCTAVO" --quiet resume --run out
  [ "$new" = "$(pair)" ]
  [ "$(ls -A | grep -c partial)" = 0 ]
  "$OCTAVO" --quiet verify out && "$OCTAVO" --quiet verify pair
}

@test "an interrupted replacement is reported, with the command that continues" {
  "$OCTAVO" --quiet train --graph graph --run out "${tiny[@]}" --seed 9
  older="$(tables out)"
  cut() {  # PLACE
    local status=0
    OCTAVO_FAILPOINT="$1=kill" "$OCTAVO" -q train --graph graph --run out "${tiny[@]}" --init run --overwrite || status=$?
    [ "$status" = 137 ]
  }
  cut replace.P1
  "$OCTAVO" evaluate --run out --split train >/dev/null 2>err.log
  grep -q '^warning: out/.replacement: a run that will replace out, which is still valid' err.log
  "$OCTAVO" resume --run out --dry-run 2>err.log
  grep -q '^warning: out/.replacement: a run that will replace out, which is still valid' err.log
  [ "$older" = "$(tables out)" ]
  cut replace.P2
  fails 2 "octavo resume --run out completes that" "$OCTAVO" evaluate --run out --split train
  fails 2 "octavo resume --run out completes that" "$OCTAVO" resume --run out --dry-run
  "$OCTAVO" --quiet resume --run out
  [ "$older" != "$(tables out)" ]
}

# The lock was released before the import.
@test "a growth locks its run folder before the import, and leaves none that it did not use" {
  mkfifo lines
  exec 7<>lines  # which never ends
  "$OCTAVO" grow --run run --add - --graph grown --output new/out <&7 2>err.log &
  local pid=$!
  wait_for 10 grep -q "^pid $pid " new/out/LOCK
  fails 5 "the run is in use by pid $pid" "$OCTAVO" train --graph graph --run new/out "${tiny[@]}"
  kill "$pid"
  local status=0
  wait "$pid" || status=$?
  exec 7>&-
  [ "$status" = 143 ]
  [ ! -e new ] && [ ! -e grown ]
}

# The message named a folder that no longer existed.
@test "an error in a new graph names its final path" {
  limited() { bash -c 'ulimit -f 1 && "$@"' _ "$@"; }
  fails 1 "error: $(pwd -P)/new/grown/train.cells: write of" \
    limited "$OCTAVO" --quiet grow --run run --add add.tsv --graph new/grown --output out
  printf 'x\tr0\ty\n' >unseen.tsv
  fails 2 "error: $(pwd -P)/grown: no edges to validate with" grow out --valid unseen.tsv --unseen drop --validate-every 1
  fails 1 "error: vectors: write of" limited "$OCTAVO" --quiet export --run run --output vectors
  [ ! -e new ] && [ ! -e grown ] && [ ! -e out ] && [ ! -e vectors ]
}

@test "the help says what growth inherits from the import" {
  COLUMNS=1000 "$OCTAVO" grow --help >help
  grep -q 'Use each added line for both directions.*; by default as the graph of the run was imported$' help
  grep -q -- '^  --duplicates TEXT:{merge,keep}$' help
  grep -q 'merge into one, weights added, or keep; by default as the graph of the run was imported$' help
}

@test "added lines become edges like those of the graph, unless flags say otherwise" {
  printf 'a\tb\na\tb\nb\tc\n' >lines.tsv
  printf 'c\td\nc\td\n' >more.tsv
  edges() { "$OCTAVO" inspect "$1" --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["train_edges"])'; }
  "$OCTAVO" --quiet import lines.tsv --graph both --undirected --duplicates keep
  "$OCTAVO" import more.tsv --base both --graph kept 2>err.log
  grep -q '^both was imported with --undirected; the same applies to the added edges$' err.log
  grep -q '^both was imported with --duplicates keep; the same applies to the added edges$' err.log
  [ "$(edges both) $(edges kept)" = "6 10" ]
  "$OCTAVO" --quiet import more.tsv --base both --graph one --directed
  [ "$(edges one)" = 8 ]
  "$OCTAVO" --quiet import more.tsv --base both --graph merged --duplicates merge
  [ "$(edges merged)" = 6 ]
  "$OCTAVO" --quiet import more.tsv --base kept --graph again
  [ "$(edges again)" = 14 ]
  "$OCTAVO" --quiet train --graph both --run dot --model dot "${tiny[@]}"
  "$OCTAVO" --quiet grow --run dot --add more.tsv --graph more --output more.run --epochs 1
  [ "$(edges more)" = 10 ]
  cmp more/train.cells kept/train.cells
}

@test "a signal while rows are copied leaves no run, and an older one unchanged" {
  stop() {  # FOLDER SIGNAL CODE FATE FLAGS...: the signal comes when the tables are in the folder
    local folder="$1" signal="$2" code="$3" fate="$4" status=0
    shift 4
    OCTAVO_FAILPOINT="initial.rows:1=sleep,initial.state:1=sleep" env --default-signal="$signal" \
      "$OCTAVO" train --graph graph --run out "${tiny[@]}" --reciprocal --optimizer adagrad --init run "$@" 2>err.log &
    local pid=$!
    wait_for 10 [ -e "$folder/relations.optimizer.npy" ]
    kill "-$signal" "$pid"
    wait "$pid" || status=$?
    [ "$status" = "$code" ]
    grep -qx "warning: interrupted; out $fate" err.log
  }
  stop out INT 130 'has nothing trained yet; the same command begins it again'
  [ ! -e out/STATE ] && [ ! -e out/embeddings.npy ]
  "$OCTAVO" --quiet train --graph graph --run out "${tiny[@]}"
  before="$(tables out)$(sha256sum out/STATE)"
  stop out/.replacement TERM 143 'is as it was before' --overwrite
  [ "$before" = "$(tables out)$(sha256sum out/STATE)" ] && [ ! -e out/.replacement ]
}

# The purpose of growing: after a third of the epochs, the quality is close to that of a full training.
@test "UMLS grown by the edges of a tenth of its nodes is close to a full training after a third of the epochs" {
  data="${OCTAVO_DATA:-$OCTAVO_DATA_DEFAULT}/UMLS"
  [ -e "$data/train.txt.zst" ] || { [ "${CI:-}" != true ] && skip "UMLS is absent"; }
  for part in train valid test; do
    zstd -dcq "$data/$part.txt.zst" | awk -F'\t' -v base="$part.base" -v add="$part.add" '
      function held(name) { if (!(name in drawn)) drawn[name] = (length(name) * 7 + index("abcdefghijklmnopqrstuvwxyz", substr(name, 1, 1))) % 10 == 0; return drawn[name] }
      { print > (held($1) || held($3) ? add : base) }'
    cat "$part.base" "$part.add" >"$part.all"
  done
  flags=(--model complex --dim 64 --reciprocal --negatives all --group-queries --chunk 100 --batch 500 --regularizer n3
    --regularization 0.01 --optimizer adagrad --learning-rate 0.1 --learning-rate-schedule linear --epochs 21)
  "$OCTAVO" -q import train.all --valid valid.all --test test.all --graph all
  "$OCTAVO" -q import train.base --valid valid.base --test test.base --graph base
  "$OCTAVO" -q train --preset none --graph all --run full "${flags[@]}"
  "$OCTAVO" -q train --preset none --graph base --run part "${flags[@]}"
  "$OCTAVO" -q grow --run part --add train.add --valid valid.add --test test.add --graph umls --output grown.run --epochs 7
  for run in full grown.run; do "$OCTAVO" -q evaluate --run "$run" --json >"$run.json"; done
  /usr/bin/python3 -c '
import json
full, grown = (json.load(open(run + ".json"))["mrr"] for run in ("full", "grown.run"))
print(full, grown)
assert full > 0.8 and grown > full - 0.06'
}
