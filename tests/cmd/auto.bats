#!/usr/bin/env bats
# Options that nobody gave: octavo train, plan and --print-config choose them from the graph.

load training.bash

setup_file() { make_graph; }

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph; }

# option RUN NAME: the value in run.json.
option() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/run.json"))["options"][sys.argv[2]])' "$@"; }

@test "without an option, all are chosen and the choice is explained in three lines" {
  "$OCTAVO" train --graph graph --run run --epochs 1 2>err.log
  [ "$(sed -n '1,3p' err.log | cut -d: -f1 | tr '\n' ' ')" = "the graph chosen because " ]
  grep -q '^the graph: 40 nodes, .* 3 relations' err.log
  grep -q '^chosen: --model rescal ' err.log
  [ "$(option run optimizer)" = adagrad ]
  [ "$(option run reciprocal)" = True ]
  [ "$(option run negatives)" = all ]
}

@test "a given option stays, and --preset none takes the defaults for the others" {
  "$OCTAVO" --quiet train --graph graph --run run --epochs 1 --dim 20 --optimizer sgd
  [ "$(option run dim)" = 20 ]
  [ "$(option run optimizer)" = sgd ]
  [ "$(option run reciprocal)" = True ]
  "$OCTAVO" train --graph graph --run plain --epochs 1 --preset none 2>err.log
  ! grep -q '^chosen' err.log
  [ "$(option plain dim)" = 100 ]
  [ "$(option plain optimizer)" = row-adagrad ]
  [ "$(option plain reciprocal)" = False ]
}

@test "the value auto chooses one option, also beside a configuration file" {
  echo 'dim = 20' >a.toml
  "$OCTAVO" train --graph graph --run run --config a.toml --epochs 1 --optimizer auto 2>err.log
  grep -q '^chosen: .*--optimizer adagrad' err.log
  [ "$(option run dim)" = 20 ]
  [ "$(option run optimizer)" = adagrad ]
  [ "$(option run reciprocal)" = False ]
  "$OCTAVO" --quiet train --graph graph --run other --preset none --epochs 1 --model auto --batch 77 --chunk 11
  [ "$(option other model)" = complex ]
  fails 2 '--dim: found "many"' "$OCTAVO" train --graph graph --run new --dim many
}

@test "--print-config with a graph prints the choice, and trains the same" {
  "$OCTAVO" train --graph graph --print-config --epochs 2 >choice.toml
  grep -q '^reciprocal = true$' choice.toml
  "$OCTAVO" --quiet train --graph graph --run from-file --config choice.toml
  "$OCTAVO" --quiet --threads 1 train --graph graph --run chosen --epochs 2
  [ "$(tables from-file)" = "$(tables chosen)" ]
  "$OCTAVO" train --print-config | grep -q '^reciprocal = false$'
}

@test "plan and a dry run show the same choice" {
  "$OCTAVO" plan --graph graph --no-probe >out.log 2>plan.log
  "$OCTAVO" train --graph graph --run run --dry-run 2>dry.log
  [ ! -e run ]
  [ "$(grep '^chosen' plan.log)" = "$(grep '^chosen' dry.log)" ]
}

@test "a resume keeps the choice to the bit" {
  "$OCTAVO" --quiet train --graph graph --run whole --epochs 3
  OCTAVO_FAILPOINT=commit.C5:3=kill "$OCTAVO" --quiet train --graph graph --run run --epochs 3 || true
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$(tables whole)" ]
}

@test "a preset has one name only, and one that is absent is refused" {
  echo 'dim = 20' >a.toml
  fails 2 'found both' "$OCTAVO" train --graph graph --run run --preset umls-complex --config a.toml
  fails 2 'no-such-preset' "$OCTAVO" train --graph graph --run run --preset no-such-preset
  [ ! -e run ]
}

catches_usr1() {
  [ "/proc/$1/exe" -ef "$OCTAVO" ] || return 1  # before exec it is the shell, which may catch it, too
  (($((16#$(sed -n 's/^SigCgt:\t//p' "/proc/$1/status"))) >> 9 & 1))
}

# SIGUSR1 asks for a commit. It ended a training that still measured how fast the machine is.
@test "SIGUSR1 during the measurement of --time does not end the training" {
  awk 'BEGIN { srand(3); for (i = 0; i < 20000; ++i) printf "n%d\tr%d\tn%d\n", rand() * 2000, rand() * 5, rand() * 2000 }' >kg.tsv
  "$OCTAVO" --quiet import kg.tsv --graph kg
  "$OCTAVO" --quiet train --graph kg --run run --time 10s 3>&- &
  pid=$!
  wait_for 20 catches_usr1 "$pid"
  [ ! -e run ]
  kill -USR1 "$pid"
  wait "$pid"
  "$OCTAVO" verify run
}

# The machine may be busy, so how long it takes is not tested.
@test "--time chooses the epochs by a measurement, writes them once, and a resume keeps them" {
  "$OCTAVO" --quiet generate kg --nodes 2000 --edges 20000 --relations 5 --seed 1 >kg.tsv 2>/dev/null ||
    awk 'BEGIN { srand(3); for (i = 0; i < 20000; ++i) printf "n%d\tr%d\tn%d\n", rand() * 2000, rand() * 5, rand() * 2000 }' >kg.tsv
  "$OCTAVO" --quiet import kg.tsv --graph kg
  "$OCTAVO" train --graph kg --run run --time 15s --threads 1 2>err.log
  grep -q '^because: .* for the time given' err.log
  epochs="$(option run epochs)"
  grep -q "^done: $epochs epoch" err.log
  "$OCTAVO" --quiet resume --run run
  [ "$(option run epochs)" = "$epochs" ]
  "$OCTAVO" plan --graph kg --time 15s >out.log 2>err.log
  grep -qE '^chosen: .* --epochs [0-9]+( --precision bf16)? \(for 15[^,]*\)' err.log
  # Less time than an epoch of the usual choice takes: a smaller choice, and the text says so.
  awk 'BEGIN { srand(4); for (i = 0; i < 100000; ++i) printf "%d\t%d\n", rand() * 20000, rand() * 20000 }' >social.tsv
  "$OCTAVO" --quiet import social.tsv --graph social
  "$OCTAVO" plan --graph social --no-probe 2>err.log >out.log
  grep -qE '^chosen: .* --walks [1-9][0-9]? ' err.log
  "$OCTAVO" plan --graph social --time 0.5s 2>err.log >out.log
  grep -qE '^chosen: .* --walks 1 .* --epochs 1( --precision bf16)? \(for 0.5 s, ' err.log
  fails 2 '--time: found "soon"; expected a time above 0' "$OCTAVO" train --graph kg --run new --time soon
  fails 2 'epochs that are given' "$OCTAVO" train --graph kg --run new --time 1m --epochs 3
  fails 2 'epochs that are given' "$OCTAVO" train --graph kg --run new --time 1m --preset none
  [ ! -e new ]
}
