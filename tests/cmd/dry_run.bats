#!/usr/bin/env bats
# Commands that report what they would do and do nothing: --print-config and --dry-run.

load training.bash

setup_file() { make_graph; }

setup() { cd "$BATS_TEST_TMPDIR" && cp -r "$BATS_FILE_TMPDIR/graph" graph; }

# unchanged COMMAND...: exits with 0 and changes no file, name or time below the folder except the log.
unchanged() {
  find . ! -name '*.log' ! -path . -printf '%p %s %T@\n' | sort >../before.txt
  "$@" >out.log 2>err.log || { cat err.log; return 1; }
  find . ! -name '*.log' ! -path . -printf '%p %s %T@\n' | sort | diff ../before.txt - || return 1
  grep -q 'nothing was written' err.log
}

@test "--print-config has all options of run.json, and gives the same run and the same output again" {
  "$OCTAVO" train --print-config "${tiny[@]}" --model rotate --margin auto --learning-rate 1e-05 --partitions auto --seed 18446744073709551615 >config.toml
  "$OCTAVO" train --print-config --config config.toml | cmp - config.toml
  "$OCTAVO" --quiet train --graph graph --run flags "${tiny[@]}" --model rotate --margin auto --learning-rate 1e-05 --partitions auto --seed 18446744073709551615
  "$OCTAVO" --quiet train --preset none --graph graph --run config --config config.toml
  [ "$(tables flags)" = "$(tables config)" ]
  /usr/bin/python3 -c '
import json, tomllib
config = tomllib.load(open("config.toml", "rb"))
config["seed"] = int(config["seed"])  # integers of TOML end at 2^63
assert config == json.load(open("flags/run.json"))["options"]'
  fails 2 'regularization is 1 but regularizer is none' "$OCTAVO" train --print-config --regularization 1
  fails 2 '--run is required' "$OCTAVO" train --preset none --graph graph
}

@test "train --dry-run reports memory and disk, rejects what train rejects, and writes nothing" {
  unchanged "$OCTAVO" train --graph graph --run run "${tiny[@]}" --dry-run
  grep -q '^run: new; complex, dim 8, to epoch 3 of 385 edges each$' err.log
  grep -q '^memory: .* all tables are in memory$' err.log
  "$OCTAVO" --quiet train --graph graph --run run "${tiny[@]}"
  fails 2 'has a run; continue it with octavo resume' "$OCTAVO" train --graph graph --run run "${tiny[@]}" --dry-run
  unchanged "$OCTAVO" train --graph graph --run run "${tiny[@]}" --overwrite --dry-run
  fails 2 'absent: not a graph' "$OCTAVO" train --preset none --graph absent --run other --dry-run
  fails 2 'the smallest sufficient --memory' "$OCTAVO" --memory 1MiB train --preset none --graph graph --run other --dry-run
  fails 2 'is a graph; choose another folder' "$OCTAVO" train --preset none --graph graph --run graph --dry-run
  [ ! -e other ]
}

@test "resume --dry-run reports where it would continue" {
  "$OCTAVO" --quiet train --graph graph --run run "${tiny[@]}"
  unchanged "$OCTAVO" resume --run run --epochs 7 --dry-run
  grep -q '^run: generation [0-9]*, 3 epochs and 0 batches done; complex, dim 8, to epoch 7 of 385 edges each$' err.log
  fails 2 'expected --epochs of at least 3' "$OCTAVO" resume --run run --epochs 2 --dry-run
  fails 2 'octavo train makes one' "$OCTAVO" resume --run graph --dry-run
}

@test "import and walk --dry-run leave nothing" {
  printf 'a\tb\n' >edges.tsv
  printf '<http://a> <http://b> <http://c> .\n' >triples
  unchanged "$OCTAVO" import edges.tsv triples --graph new --dry-run
  grep -q '^reading edges.tsv as tab-separated text (by extension)$' err.log
  grep -q '^reading triples as N-Triples (by its first lines)$' err.log
  unchanged "$OCTAVO" import - --graph new --dry-run
  printf '@prefix a: <http://a/> .\na:b a:c a:d .\n' >turtle
  fails 3 'turtle: found Turtle (by its first lines)' "$OCTAVO" import turtle --graph new --dry-run
  fails 2 'already exists' "$OCTAVO" import edges.tsv --graph graph --dry-run
  fails 2 'absent.tsv' "$OCTAVO" import absent.tsv --graph new --dry-run
  "$OCTAVO" --quiet import edges.tsv --graph pairs
  unchanged "$OCTAVO" walk --graph pairs --output walks --dry-run
  fails 2 'expected one without' "$OCTAVO" walk --graph graph --output walks --dry-run
}

@test "tune --dry-run shows the rungs" {
  awk '{ print > (NR % 10 ? "train.tsv" : "valid.tsv") }' "$BATS_FILE_TMPDIR/train.tsv"
  "$OCTAVO" --quiet import train.tsv --valid valid.tsv --graph split
  printf 'dim = [8, 16]\nseed = [1, 2, 3]\n' >space.toml
  unchanged "$OCTAVO" tune --graph split --space space.toml --output search --trials 6 --epochs-least 1 --epochs 9 --dry-run
  [ "$(head -n 3 err.log)" = "$(printf '6 trials to epoch 1\n2 trials to epoch 3\n1 trial to epoch 9')" ]
  grep -qE '^16 epochs in all, about [0-9.:]+ [a-z]+ of training here, and the validations$' err.log
  grep -qx '1 in 3 of 2 trials is not a whole number: 1 continue from epoch 3 to 9' err.log
  fails 2 'absent: not a graph' "$OCTAVO" tune --graph absent --space space.toml --output search --dry-run

  # An existing search is what would be continued.
  "$OCTAVO" --quiet tune --graph split --space space.toml --output begun --trials 3 --epochs-least 1 --epochs 3 >/dev/null
  cp -r begun before
  "$OCTAVO" tune --graph split --space space.toml --output begun --trials 3 --epochs-least 1 --epochs 3 --dry-run 2>err.log
  grep -qE '^begun: continues this search, with 4 rungs of trials done in ' err.log
  fails 2 'begun: ' "$OCTAVO" tune --graph split --space space.toml --output begun --trials 4 --epochs-least 1 --epochs 3 --dry-run
  diff -r before begun
}
