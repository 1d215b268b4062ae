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
  if grep -q '^chosen' err.log; then false; fi
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

# Makes the graph `homes`: households of 5 whose people know each other, both ways, as neighbours or as relatives. The
# opposite of a held-out edge is a training edge, which a strong regularizer hides.
make_homes() {
  awk 'BEGIN {
    srand(4)
    for (home = 0; home < 120; ++home)
      for (a = 0; a < 5; ++a)
        for (b = 0; b < a; ++b) {
          relation = rand() < 0.3 ? "neighbour" : "relative"
          printf "h%d.%d\t%s\th%d.%d\n", home, a, relation, home, b
          printf "h%d.%d\t%s\th%d.%d\n", home, b, relation, home, a
        }
  }' >homes.tsv
  "$OCTAVO" --quiet import homes.tsv --graph homes --columns head,relation,tail --split 0.8,0.1,0.1
}

@test "short trainings on a small graph find the better weight, and its run is the same without them" {
  make_homes
  # Which change is better can depend on the precision, which the choice takes from the processor.
  local options="--dim 32 --epochs 60 --precision float32"
  "$OCTAVO" train --graph homes --run run $options 2>err.log
  grep -qx 'compares the chosen options with 4 changes of them, by short trainings (off with --changes 0)' err.log
  [ "$(grep -c '^trial [1-5]/5, .*: 20 epochs, valid MRR 0' err.log)" -eq 5 ]
  weight=$(sed -n 's/^takes regularization //p' err.log)
  grep -q "^trial 2/5, regularization $weight: " err.log
  [ "$(option run regularization)" = "$weight" ]
  "$OCTAVO" --quiet --threads 1 train --graph homes --run again $options
  [ "$(tables run)" = "$(tables again)" ]
  "$OCTAVO" train --graph homes --run given $options --changes 0 --regularization "$weight" 2>given.log
  [ -z "$(grep '^compares' given.log)" ]
  [ "$(tables run)" = "$(tables given)" ]
  [ -z "$(find . -name '.octavo-trials*')" ]
}

@test "nothing is compared with few edges and none valid, with all options given, or for a plan" {
  make_homes
  "$OCTAVO" train --graph graph --run run --epochs 1 2>err.log
  "$OCTAVO" train --graph homes --run plain --epochs 1 --preset none 2>>err.log
  "$OCTAVO" train --graph homes --run given --epochs 1 --model complex --regularization 0.1 --learning-rate 0.2 --relation-prediction 0 2>>err.log
  "$OCTAVO" train --graph homes --run timed --time 0.05s 2>>err.log
  "$OCTAVO" train --graph homes --run dry --dry-run 2>dry.log
  "$OCTAVO" plan --graph homes --no-probe 2>plan.log >plan.txt
  [ -z "$(grep '^compares' err.log dry.log plan.log)" ]
  grep -qx 'train will first compare the chosen options with 4 changes of them, by short trainings' dry.log
  grep -qx 'train will first compare the chosen options with 4 changes of them, by short trainings' plan.log
}

@test "with --time, short trainings come first, and the rest of the time is for what they found" {
  make_homes
  local options="--dim 16 --precision float32 --time 20s"
  for command in "train --run dry --dry-run" plan; do
    "$OCTAVO" $command --graph homes $options 2>err.log >out.log
    grep -q '^train will first compare the chosen options with [1-4] changes\? of them' err.log
    grep -q '^chosen: .*(for 20' err.log
  done
  "$OCTAVO" train --graph homes --run run $options 2>err.log
  grep -q '^compares the chosen options with [1-4] changes\? of them' err.log
  taken=$(sed -n 's/^takes //p' err.log)
  if [[ "$taken" != "the chosen options"* ]]; then
    while read -r name value; do
      grep -q -- "^chosen: .*--$name $value .*(for 20" err.log
      [ "$(option run "$name")" = "$value" ]
    done < <(tr , '\n' <<<"$taken")
  fi
  [ -z "$(find . -name '.octavo-trials*')" ]
  "$OCTAVO" train --graph homes --run none $options --changes 0 --dry-run 2>err.log
  [ -z "$(grep 'compare' err.log)" ]
  fails 2 'epochs that are given' "$OCTAVO" train --graph homes --run given --epochs 3 --time 20s
  [ -z "$(grep '^compares' err.log)" ]
}

@test "without valid edges, the short trainings hold out training edges, and the run trains all" {
  make_homes
  "$OCTAVO" --quiet import homes.tsv --graph whole --columns head,relation,tail --overwrite
  "$OCTAVO" train --graph whole --run run --dim 64 --epochs 30 2>err.log
  held=$(sed -n 's/^the graph has no valid edges, so the short trainings hold out \([0-9,]*\) training edges$/\1/p' err.log)
  [ "${held/,/}" -ge 80 ]
  [ "$(grep -c '^trial [1-5]/5, .*: 10 epochs, valid MRR 0' err.log)" -eq 5 ]
  taken=$(sed -n 's/^trial of two changes, \(regularization [0-9.]*, learning-rate [0-9.]*\): 10 epochs, valid MRR 0.*/\1/p' err.log)
  grep -qx "takes $taken" err.log
  [ "regularization $(option run regularization), learning-rate $(option run learning-rate)" = "$taken" ]
  grep -q ' 2400 train, 0 valid and 0 test edges' err.log
  "$OCTAVO" --quiet --threads 1 train --graph whole --run again --dim 64 --epochs 30
  [ "$(tables run)" = "$(tables again)" ]
  [ -z "$(find . -name '.octavo-trials*')" ]
}

@test "if the trial of two changes fails, the better one of them is taken" {
  make_homes
  "$OCTAVO" --quiet import homes.tsv --graph whole --columns head,relation,tail
  "$OCTAVO" train --graph whole --run run --dim 64 --epochs 30 2>err.log
  batches=$(/usr/bin/python3 -c 'import json, math; o = json.load(open("run/run.json"))["options"]; print(math.ceil(2280 / o["batch"]))')
  OCTAVO_FAILPOINT=train.batch:$((batches * 55))=eio "$OCTAVO" train --graph whole --run failed --dim 64 --epochs 30 2>err.log || true
  grep -q '^trial 5/5' err.log
  grep -q '^warning: a short training has failed, so the comparison ends with \(regularization\|learning-rate\) [0-9.]*: ' err.log
  grep -q '^takes \(regularization\|learning-rate\) [0-9.]*$' err.log
}

@test "if few pairs of nodes can be held out, nothing is compared" {
  awk 'BEGIN { for (i = 0; i < 1200; ++i) printf "a%d\tr%d\tb%d\n", i % 12, int(i / 12), i % 12 }' >pairs.tsv
  "$OCTAVO" --quiet import pairs.tsv --graph pairs --columns head,relation,tail
  "$OCTAVO" train --graph pairs --run run --dim 16 --epochs 3 2>err.log
  grep -q '^compares nothing: the training edges that were held out are between [0-9]* pairs\? of nodes, less than 50$' err.log
  if grep -q '^trial\|^warning\|^takes' err.log; then false; fi
}

@test "what is in the way of the run is refused before the short trainings" {
  make_homes
  "$OCTAVO" --quiet train --graph homes --run run "${tiny[@]}"
  fails 2 'run: ' "$OCTAVO" train --graph homes --run run
  [ -z "$(grep '^compares' err.log)" ]
  "$OCTAVO" --quiet train --graph homes --run used --preset none --dim 8 --batch 64 --chunk 16 --negatives 8 --epochs 1000000 3>&- &
  pid=$!
  wait_for 20 test -e used/STATE
  fails 5 'in use' "$OCTAVO" train --graph homes --run used --overwrite
  [ -z "$(grep '^compares' err.log)" ]
  kill -KILL "$pid"
}

@test "a signal during the short trainings leaves nothing, and an older run as it was" {
  make_homes
  "$OCTAVO" --quiet train --graph homes --run older "${tiny[@]}"
  before=$(tables older)
  for trained in "run --epochs 100" "older --epochs 100" "run --time 10m"; do
    read -r run length <<<"$trained"
    rm -f err.log  # that of the run before: grep may read it before this one empties it
    "$OCTAVO" train --graph homes --run "$run" --overwrite --dim 512 $length --threads 1 2>err.log 3>&- &
    pid=$!
    wait_for 20 grep -q '^trial 1/[2-5]' err.log
    [ -n "$(find . -maxdepth 1 -name '.octavo-trials*')" ]
    if [ "$run" = run ]; then terminate "$pid" 'run was not made'; else terminate "$pid" 'older is as it was before'; fi
    [ -z "$(find . -name '.octavo-trials*')" ]
  done
  [ ! -e run ]
  [ "$(tables older)" = "$before" ]
}

@test "short trainings that diverge or fail leave the chosen options" {
  make_homes
  fails 1 "is not finite" "$OCTAVO" train --graph homes --run run --epochs 9 --optimizer sgd --initial-scale 1000 --regularizer n3
  [ "$(grep -c '^trial ./.*has diverged' err.log)" -ge 2 ]
  grep -q '^takes the chosen options' err.log
  OCTAVO_FAILPOINT=train.batch=eio "$OCTAVO" train --graph homes --run failed --epochs 3 2>err.log || true
  grep -q '^warning: a short training has failed, so the comparison ends with the chosen options: ' err.log
  if grep -q '^warning: .*octavo resume' err.log; then false; fi
}

catches_usr1() {
  [ "/proc/$1/exe" -ef "$OCTAVO" ] || return 1  # before exec it is the shell, which may catch it, too
  (($((16#$(sed -n 's/^SigCgt:\t//p' "/proc/$1/status"))) >> 9 & 1))
}

# SIGUSR1 asks for a commit. It ended a training that still measured how fast the machine is.
@test "SIGUSR1 during the measurement of --time does not end the training" {
  awk 'BEGIN { srand(3); for (i = 0; i < 20000; ++i) printf "n%d\tr%d\tn%d\n", rand() * 2000, rand() * 5, rand() * 2000 }' >kg.tsv
  "$OCTAVO" --quiet import kg.tsv --graph kg
  "$OCTAVO" --quiet train --graph kg --run run --time 5s 3>&- &
  pid=$!
  wait_for 20 catches_usr1 "$pid"
  [ ! -e run ]
  kill -USR1 "$pid"
  wait "$pid"
  "$OCTAVO" verify run
}

# The machine may be busy, so how long it takes is not tested.
@test "--time chooses the epochs by a measurement, writes them once, and a resume keeps them" {
  awk 'BEGIN { srand(3); for (i = 0; i < 20000; ++i) printf "n%d\tr%d\tn%d\n", rand() * 2000, rand() * 5, rand() * 2000 }' >kg.tsv
  "$OCTAVO" --quiet import kg.tsv --graph kg
  "$OCTAVO" train --graph kg --run run --time 6s --threads 1 2>err.log
  grep -q '^because: .* for the time given' err.log
  epochs="$(option run epochs)"
  grep -q "^done: $epochs epoch" err.log
  "$OCTAVO" --quiet resume --run run
  [ "$(option run epochs)" = "$epochs" ]
  "$OCTAVO" plan --graph kg --time 6s >out.log 2>err.log
  grep -qE '^chosen: .* --epochs [0-9]+( --precision bf16)? \(for 6[^,]*\)' err.log
  # Less time than an epoch of the usual choice takes: a smaller choice, and the text says so.
  awk 'BEGIN { srand(4); for (i = 0; i < 100000; ++i) printf "%d\t%d\n", rand() * 20000, rand() * 20000 }' >social.tsv
  "$OCTAVO" --quiet import social.tsv --graph social
  "$OCTAVO" plan --graph social --no-probe 2>err.log >out.log
  grep -qE '^chosen: .* --walks [1-9][0-9]? ' err.log
  "$OCTAVO" plan --graph social --time 0.5s 2>err.log >out.log
  grep -qE '^chosen: .* --walks 1 .* --epochs 1( --precision bf16)? \(for 0.5 s, ' err.log
  fails 2 '--time: found "soon"; expected a time above 0' "$OCTAVO" train --graph kg --run new --time soon
  fails 2 'epochs that are given' "$OCTAVO" train --graph kg --run new --time 1m --epochs 3
  "$OCTAVO" train --preset none --graph kg --run new --time 3s --epochs auto --dry-run 2>err.log >out.log
  grep -q '^because: dim ' err.log
  fails 2 'found those of --preset none; expected --time alone' "$OCTAVO" train --graph kg --run new --time 1m --preset none
  [ ! -e new ]
}
