#!/usr/bin/env bats
# Graphs of one relation: octavo train takes walks by itself.

load training.bash

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return 1
  awk 'BEGIN { srand(5); for (i = 0; i < 600; ++i) { c = int(rand() * 3); printf "n%d\tn%d\n", c * 40 + rand() * 40, c * 40 + rand() * 40 } }' \
    >edges.tsv
  awk 'BEGIN { for (i = 0; i < 120; ++i) printf "n%d\tgroup%d\n", i, i / 40 }' >labels.txt
  "$OCTAVO" --quiet import edges.tsv --graph graph --columns head,tail
}

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph; }

option() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/run.json"))["options"][sys.argv[2]])' "$@"; }
vectors() { (cd "$1" && sha256sum embeddings.npy optimizer.npy); }

@test "one command makes vectors from walks, and leaves nothing but the run" {
  "$OCTAVO" train --graph graph --run run 2>err.log
  grep -q '^chosen: .*--walk deepwalk' err.log
  [ "$(option run walk)" = deepwalk ]
  [ "$(option run model)" = dot ]
  if ls run | grep -E 'cells|spill|train|valid|test'; then false; fi
  "$OCTAVO" verify run --deep
  accuracy="$("$OCTAVO" --quiet evaluate --run run --labels "$BATS_FILE_TMPDIR/labels.txt" --json |
    /usr/bin/python3 -c 'import json, sys; print(min(f["micro_f1"] for f in json.load(sys.stdin)["fractions"]))')"
  echo "micro-F1 $accuracy"
  /usr/bin/python3 -c "assert $accuracy > 0.9"
}

# The message said that the run was not made, but its folder was there.
@test "an interrupt during the walks says what there is, and the same command begins again" {
  flags=(--graph graph --run stopped --walk deepwalk --walk-length 1000 --epochs 1 --dim 8)
  "$OCTAVO" train "${flags[@]}" --walks 100000 2>err.log &
  pid=$!
  wait_for 60 test -e stopped/run.json
  terminate "$pid" 'stopped has nothing trained yet; the same command begins it again'
  [ ! -e stopped/STATE ]
  "$OCTAVO" --quiet train "${flags[@]}" --walks 2
  "$OCTAVO" verify stopped
}

@test "--time takes the walks before it chooses, leaves nothing of them, and a signal meanwhile makes no run" {
  "$OCTAVO" train --graph graph --run timed --time 15s --threads 1 2>err.log
  grep -qE '^chosen: .*--walks 80 .*--epochs 40 .*\(for 15\.0 s\)$' err.log  # 4 times those of no time
  [ "$(option timed walk-length)" = 40 ]
  [ -z "$(find . -name '.octavo-*')" ]
  "$OCTAVO" train --graph graph --run stopped --time 10m --walk deepwalk --walk-length 10000 --walks 20000 2>err.log 3>&- &
  pid=$!
  begun() { [ -n "$(find . -maxdepth 1 -name '.octavo-walks-*')" ]; }
  wait_for 60 begun
  terminate "$pid" 'stopped was not made'
  [ ! -e stopped ]
  [ -z "$(find . -name '.octavo-*')" ]
}

# The older run was removed before the walks.
@test "an older run stays until the one that replaces it has begun" {
  "$OCTAVO" --quiet train --graph graph --run older --preset none --epochs 1 --dim 8 --negatives 8
  sha256sum older/embeddings.npy older/run.json older/STATE >before
  for i in $(seq 50); do printf 'n%s\tn%s\n' "$i" "$i"; done >loops.tsv
  "$OCTAVO" --quiet import loops.tsv --graph loops
  run "$OCTAVO" --quiet train --graph loops --run older --overwrite
  [ "$status" -eq 3 ]
  sha256sum --check --quiet before
  flags=(--graph graph --run older --overwrite --walk deepwalk --walk-length 1000 --epochs 1 --dim 8)
  "$OCTAVO" train "${flags[@]}" --walks 100000 2>err.log &
  pid=$!
  wait_for 60 test -e older/.replacement/run.json
  terminate "$pid" 'older is as it was before'
  sha256sum --check --quiet before
  "$OCTAVO" verify older
  "$OCTAVO" --quiet train "${flags[@]}" --walks 2
  "$OCTAVO" verify older
  [ ! -e older/.replacement ]
}

# octavo walk warned, the walks of a training did not.
@test "walks that end at once on a directed graph are warned about, with what helps" {
  awk 'BEGIN { srand(5); for (i = 0; i < 900; ++i) print int(rand() * 300) "\t" 300 + int(rand() * 300) }' >bipartite.tsv
  "$OCTAVO" --quiet import bipartite.tsv --graph one-way
  flags=(--preset none --dim 8 --epochs 1 --negatives 8 --walk deepwalk)
  "$OCTAVO" train --graph one-way --run directed "${flags[@]}" --model source-context 2>err.log
  grep -qE '^warning: most walks end early: 0\.[0-9]+ pairs a walk, .* --undirected, or train with --model dot' err.log
  "$OCTAVO" train --graph one-way --run both-ways "${flags[@]}" --model dot 2>err.log
  if grep -q '^warning' err.log; then false; fi
}

@test "the walks are those of octavo walk, and threads and memory do not change them" {
  flags=(--preset none --model dot --dim 8 --epochs 2 --negatives 8 --degree-fraction 1 --degree-by-weight --batch 500)
  awk '{ print; print $2 "\t" $1 }' "$BATS_FILE_TMPDIR/edges.tsv" >both.tsv
  "$OCTAVO" --quiet import both.tsv --graph both --columns head,tail --duplicates keep
  "$OCTAVO" --quiet walk --graph both --output pairs --walks 7 --length 12 --window 3 --pairs forward
  "$OCTAVO" --quiet train --graph pairs --run by-hand "${flags[@]}"
  "$OCTAVO" --quiet import "$BATS_FILE_TMPDIR/edges.tsv" --graph one-way --columns head,tail --duplicates keep
  "$OCTAVO" --quiet train --graph one-way --run inside "${flags[@]}" --walk deepwalk --walks 7 --walk-length 12 --walk-window 3
  [ "$(vectors inside)" = "$(vectors by-hand)" ]
  "$OCTAVO" --quiet --threads 1 --memory 70MiB train --graph one-way --run less "${flags[@]}" --walk deepwalk --walks 7 \
    --walk-length 12 --walk-window 3
  [ "$(vectors inside)" = "$(vectors less)" ]
}

@test "a killed training takes its walks again and gives the same bits" {
  flags=(--epochs 3 --dim 8)
  "$OCTAVO" --quiet train --graph graph --run whole "${flags[@]}"
  OCTAVO_FAILPOINT=commit.C5:2=kill "$OCTAVO" --quiet train --graph graph --run run "${flags[@]}" || true
  "$OCTAVO" --quiet resume --run run
  [ "$(vectors run)" = "$(vectors whole)" ]
  if ls run | grep -E 'cells|spill'; then false; fi
}

@test "a graph of walks is not walked again" {
  "$OCTAVO" --quiet walk --graph graph --output pairs --walks 3
  "$OCTAVO" --quiet train --graph pairs --run run --epochs 1
  [ "$(option run walk)" = none ]
  [ "$(option run degree-by-weight)" = True ]
}

@test "walks are refused on a graph with relations, and for new edges only" {
  printf 'a\tr\tb\nb\ts\tc\n' >kg.tsv
  "$OCTAVO" --quiet import kg.tsv --graph kg
  fails 2 "kg: a graph of 2 relations; expected one without" "$OCTAVO" train --graph kg --run run --walk deepwalk
  fails 2 "expected walk none" "$OCTAVO" train --graph graph --run run --preset none --walk deepwalk --edges new --init x
  [ ! -e run ]
}
