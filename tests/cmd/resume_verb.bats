#!/usr/bin/env bats
# octavo resume as its users run it.

load training.bash

setup_file() { make_graph; }

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph; }

train() { "$OCTAVO" train --graph graph --run run "${tiny[@]}" "$@"; }

# stop SIGNAL CODE [flags]: starts a slow training, sends the signal in the middle of it, and checks the exit code.
stop() {
  local signal="$1" code="$2" status=0
  shift 2
  # A script's background jobs ignore SIGINT; a person's do not.
  OCTAVO_FAILPOINT="$(printf 'train.batch:%d=sleep,' {2..60})" env --default-signal=INT "$OCTAVO" train --graph graph \
    --run run "${tiny[@]}" "$@" 2>err.log 3>&- &
  local pid=$!
  wait_for 20 test -e run/metrics.jsonl
  sleep 0.25
  kill "-$signal" "$pid"
  wait "$pid" || status=$?
  echo "exit $status: $(cat err.log)"
  [ "$status" -eq "$code" ]
}

@test "SIGTERM and SIGINT commit, say how to continue, and exit with 143 and 130; resume gives an uninterrupted run's bytes" {
  "$OCTAVO" --quiet train --graph graph --run unbroken "${tiny[@]}"
  stop TERM 143
  grep -q 'stopped by SIGTERM: generation [0-9]* is committed; continue with: octavo resume --run run' err.log
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$(tables unbroken)" ]
  stop INT 130 --overwrite
  "$OCTAVO" inspect run | grep -q '^batches of the next'
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$(tables unbroken)" ]
}

# end_twice SIGNAL SIGNAL: starts a slow training, whose commits take 0.7 s, and sends the second signal 0.6 s after the
# first. It stands still meanwhile, so that it does not end before, however busy the machine is.
end_twice() {
  OCTAVO_FAILPOINT="$(printf 'commit.C%s=sleep,' {1..7}:{1..20})$(printf 'train.batch:%d=sleep,' {2..60})" \
    "$OCTAVO" train --graph graph --run run "${tiny[@]}" 2>err.log 3>&- &
  pid=$!
  wait_for 20 test -e run/metrics.jsonl
  sleep 0.25
  kill "-$1" "$pid"
  sleep 0.1
  kill -STOP "$pid"
  sleep 0.5
  kill "-$2" "$pid"
  kill -CONT "$pid"
  status=0
  wait "$pid" || status=$?
}

@test "a second signal ends the program at once, and nothing is lost" {
  "$OCTAVO" --quiet train --graph graph --run unbroken "${tiny[@]}"
  end_twice TERM TERM
  [ "$status" -eq 143 ]
  if grep 'stopped by' err.log; then false; fi
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$(tables unbroken)" ]
}

@test "a signal that comes twice at once is one request" {
  OCTAVO_FAILPOINT="$(printf 'train.batch:%d=sleep,' {2..60})" "$OCTAVO" train --graph graph --run run "${tiny[@]}" \
    2>err.log 3>&- &
  pid=$!
  wait_for 20 test -e run/metrics.jsonl
  for _ in 1 2 3; do
    kill -TERM "$pid" || true
    sleep 0.02
  done
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 143 ]
  grep -q 'stopped by SIGTERM: generation [0-9]* is committed' err.log
}

@test "SIGHUP commits and exits with 129, unless it is ignored" {
  "$OCTAVO" --quiet train --graph graph --run unbroken "${tiny[@]}"
  stop HUP 129
  grep -q 'stopped by SIGHUP: generation [0-9]* is committed' err.log
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$(tables unbroken)" ]
  (
    trap '' HUP  # as nohup does
    stop HUP 0 --overwrite
  )
}

@test "a second signal of another kind also ends the program at once" {
  end_twice HUP TERM
  [ "$status" -eq 143 ]
  "$OCTAVO" --quiet resume --run run
}

@test "SIGUSR1 commits and the training continues" {
  "$OCTAVO" --quiet train --graph graph --run unbroken "${tiny[@]}"
  OCTAVO_FAILPOINT="$(printf 'train.batch:%d=sleep,' {2..60})" "$OCTAVO" train --graph graph --run run "${tiny[@]}" \
    2>err.log 3>&- &
  pid=$!
  wait_for 20 test -e run/metrics.jsonl
  kill -USR1 "$pid"
  wait_for 20 grep -q '^generation 2 is committed$' err.log
  kill -KILL "$pid"
  wait "$pid" || true
  "$OCTAVO" inspect run | grep -q '^batches of the next'
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$(tables unbroken)" ]
}

@test "more epochs give the result of a longer training" {
  "$OCTAVO" --quiet train --graph graph --run longer "${tiny[@]/3/6}"
  train --quiet
  "$OCTAVO" resume --run run --epochs 6 2>err.log
  grep -q '^epoch 6/6 ' err.log
  [ "$(tables run)" = "$(tables longer)" ]
  [ "$(wc -l <run/metrics.jsonl)" -eq 6 ]
  fails 2 "6 epochs are done already" "$OCTAVO" resume --run run --epochs 5
  grep -q '"epochs": 6' run/run.json
}

@test "resuming a finished run does nothing" {
  train --quiet
  before="$(tables run)"
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$before" ]
  [ ! -e run/embeddings.other.npy ]
}

@test "wrong usage exits with 2" {
  fails 2 "absent: no run here" "$OCTAVO" resume --run absent
  [ ! -e absent ]
  fails 2 "graph: is a graph, not a run; octavo train makes one" "$OCTAVO" resume --run graph
  fails 2 "--run" "$OCTAVO" resume
  train --quiet
  fails 2 '--epochs: found "0"; expected a whole number from 1 to 1000000' "$OCTAVO" resume --run run --epochs 0
  fails 2 '--epochs: found "-1"' "$OCTAVO" resume --run run --epochs=-1
  fails 2 "--dim" "$OCTAVO" resume --run run --dim 3
  fails 2 "training needs" "$OCTAVO" resume --run run --epochs 9 --memory 1MiB
}

@test "damaged and foreign files exit with 4 and name the file" {
  train --quiet
  cp -r run whole
  for file in STATE embeddings.npy optimizer.npy relations.npy relations.optimizer.npy run.json; do
    truncate -s 100 "run/$file"
    sha256sum run/*.npy run/STATE run/run.json run/metrics.jsonl >before
    fails 4 "run/$file" "$OCTAVO" resume --run run --epochs 4
    sha256sum --quiet --check before
    rm -r run
    cp -r whole run
  done
  for file in embeddings.npy optimizer.npy relations.npy; do
    printf 'x' | dd of="run/$file" bs=1 seek=4100 conv=notrunc status=none
    fails 4 "run/$file" "$OCTAVO" resume --run run --epochs 4
    rm -r run
    cp -r whole run
  done
  sed -i 's/"dim": 8/"dim": 16/; /"checksum"/d; s/^  },$/  }/' run/run.json
  fails 4 "run" "$OCTAVO" resume --run run --epochs 4
}

@test "a missing graph and another graph are reported as such" {
  cp -r "$BATS_FILE_TMPDIR/graph" mine
  "$OCTAVO" --quiet train --graph mine --run run "${tiny[@]}"
  mv mine elsewhere
  fails 2 "run: was trained on the graph $PWD/mine, where there is none now; --graph DIR names its new place" \
    "$OCTAVO" resume --run run --epochs 4
  cp -r run unmoved
  "$OCTAVO" --quiet resume --run run --epochs 4 --graph elsewhere
  "$OCTAVO" --quiet resume --run run --epochs 5  # which now has the new path
  "$OCTAVO" --quiet train --graph elsewhere --run whole "${tiny[@]/3/5}"
  [ "$(tables run)" = "$(tables whole)" ]
  rm -r run && mv unmoved run
  printf 'a\tr\tb\n' >other.tsv
  "$OCTAVO" --quiet import other.tsv --graph mine --columns head,relation,tail
  fails 4 "fingerprint" "$OCTAVO" resume --run run --epochs 4
}

@test "the resume of a finished run says that nothing was left, and names --epochs" {
  "$OCTAVO" --quiet train --graph graph --run run "${tiny[@]}"
  "$OCTAVO" resume --run run 2>err.log
  grep -qx 'nothing was left to train; with more epochs: octavo resume --run run --epochs 6' err.log
  "$OCTAVO" resume --run run --epochs 6 2>err.log
  if grep -q 'nothing was left' err.log; then false; fi
}
