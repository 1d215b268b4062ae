#!/usr/bin/env bats
# octavo train as its users run it.

load training.bash

setup_file() { make_graph; }

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph; }

train() { "$OCTAVO" train --graph graph --run run "${tiny[@]}" "$@"; }

@test "a training leaves the files of the contract and nothing on standard output" {
  train >out.log 2>err.log
  [ ! -s out.log ]
  grep -q '^epoch 3/3  loss [0-9.]*  ' err.log
  grep -q '^done: 3 epochs' err.log
  [ "$(sed -n 1p err.log)" = 'trains complex, dim 8, 3 epochs: softmax against 8 negatives, row-adagrad at 0.1' ]
  sed -n 2p err.log | grep -qE '^on 40 nodes, 3 relations, [0-9]+ train, 0 valid and 0 test edges, in run$'
  [ "$(ls -A run | tr '\n' ' ')" = "LOCK STATE embeddings.npy metrics.jsonl optimizer.npy relations.npy relations.optimizer.npy run.json " ] ||
    [ "$(ls -A run | LC_ALL=C sort | tr '\n' ' ')" = "LOCK STATE embeddings.npy metrics.jsonl optimizer.npy relations.npy relations.optimizer.npy run.json " ]
  /usr/bin/python3 - <<'PYTHON'
import json, numpy
rows = numpy.load("run/embeddings.npy", mmap_mode="r")
assert rows.shape == (40, 8) and rows.dtype == numpy.float32, rows.shape
assert numpy.isfinite(rows).all()
assert numpy.load("run/relations.npy").shape == (3, 8)
assert numpy.load("run/optimizer.npy").shape == (40, 1)
events = [json.loads(line) for line in open("run/metrics.jsonl")]
keys = """event epoch loss edges seconds edges_per_second fetch_seconds compute_seconds apply_seconds stall_seconds windows prefetched_windows
partition_loads planned_read_bytes read_bytes written_bytes peak_rss_bytes memory_bytes""".split()
assert [e["epoch"] for e in events] == [1, 2, 3]
assert all(key in event for key in keys for event in events)
assert json.load(open("run/run.json"))["options"]["dim"] == 8
PYTHON
}

# The file as numpy opens it, the verbs that read it, damage, a kill and a resume.
@test "bf16 embeddings are words of half the size, and every verb supports them" {
  train --storage bf16
  "$OCTAVO" inspect run | grep -Eq '^embeddings +40 x 8 of bf16$'
  "$OCTAVO" inspect run/embeddings.npy | grep -Eq '^table of <u2 +40 x 8 of bf16 words$'
  [ "$("$OCTAVO" inspect run --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["options"]["storage"])')" = bf16 ]
  "$OCTAVO" verify run --deep
  for format in npy tsv word2vec word2vec-binary; do
    "$OCTAVO" --quiet export --run run --output "vectors.$format" --format "$format"
  done
  "$OCTAVO" query --run run neighbors n1 -k 3 --json >nearest.json
  /usr/bin/python3 - <<'PYTHON'
import json, numpy
words = numpy.load("run/embeddings.npy", mmap_mode="r")
assert words.dtype == numpy.dtype("<u2") and words.shape == (40, 8), (words.dtype, words.shape)
rows = (words.astype("uint32") << 16).view("float32")
assert rows.dtype == numpy.float32 and numpy.isfinite(rows).all() and 0 < numpy.abs(rows).max() < 100
exported = numpy.load("vectors.npy")
assert exported.dtype == numpy.dtype("<f4") and numpy.array_equal(exported, rows)
lines = [line.split("\t") for line in open("vectors.tsv")]
assert numpy.array_equal(numpy.array([[numpy.float32(x) for x in line[1:]] for line in lines]), rows)
assert numpy.load("run/relations.npy").dtype == numpy.load("run/optimizer.npy").dtype == numpy.dtype("<f4")
names = open("graph/nodes.names").read().split("\n")
unit = rows / numpy.linalg.norm(rows, axis=1, keepdims=True)
cosines = unit @ unit[names.index("n1")]
best = [names[i] for i in numpy.argsort(-cosines) if names[i] != "n1"][:3]
assert [n["node"] for n in json.load(open("nearest.json"))["neighbors"]] == best, best
PYTHON
  expected="$(tables run)"
  rm -r run
  OCTAVO_FAILPOINT=commit.C5:3=kill train --storage bf16 || true
  [ -e run/embeddings.other.npy ]
  "$OCTAVO" resume --run run
  [ "$(tables run)" = "$expected" ]
  printf 'x' | dd of=run/embeddings.npy bs=1 seek=4500 conv=notrunc 2>/dev/null
  fails 4 "partition 0" "$OCTAVO" --quiet evaluate --run run --split train
  status=0
  "$OCTAVO" verify run >out.log 2>err.log || status=$?
  [ "$status" -eq 4 ]
  cat out.log err.log | grep -q 'embeddings.npy.*partition 0 (rows 0 on, byte 4096 on)'
}

@test "wrong values name flag, value and what is allowed, and exit with 2" {
  while IFS='|' read -r flag value text; do
    status=0
    "$OCTAVO" train --preset none --graph graph --run run "$flag=$value" >out.log 2>err.log || status=$?
    echo "$flag=$value: $status $(cat err.log)"
    [ "$status" -eq 2 ] || return 1
    grep -qF -- "$flag: found \"$value\"; expected $text" err.log || return 1
    [ ! -e run ] || return 1
  done <<'END'
--dim|0|a whole number from 1 to 65536
--dim|-1|a whole number from 1 to 65536
--dim|8.5|a whole number
--dim|18446744073709551617|a whole number
--dim|1e3|a whole number
--learning-rate|nan|a number from 0 to 1000
--learning-rate|inf|a number from 0 to 1000
--learning-rate|1e400|a number from 0 to 1000
--learning-rate|-0.1|a number from 0 to 1000
--learning-rate|fast|a number from 0 to 1000
--degree-fraction|1.5|a number from 0 to 1
--negatives|0|a whole number from 1 to 16777216, or all
--negatives|some|a whole number from 1 to 16777216, or all
--epochs|0|a whole number from 1 to 1000000
--model|TransX|one of dot, distmult, complex, transe, rotate, source-context, rescal
--loss|hinge|one of softmax, logistic, ranking, self-adversarial
--optimizer|sdg|one of row-adagrad, adagrad, sgd, adam
--schedule|hogwild|one of sync, pipelined, async
--checkpoint-minutes|-1|a number from 0 to
--durability|none|one of full, process
--storage|float16|one of float32, bf16
--seed|-1|a whole number from 0 to 18446744073709551615
END
}

@test "a negative number after a blank is a value, not a flag" {
  fails 2 '--dim: found "-1"; expected a whole number' "$OCTAVO" train --preset none --graph graph --run run --dim -1
}

@test "inconsistent options exit with 2 and make nothing" {
  fails 2 "chunk is 200 and batch 100" "$OCTAVO" train --preset none --graph graph --run run --chunk 200 --batch 100
  fails 2 "7" "$OCTAVO" train --preset none --graph graph --run run --dim 7
  fails 2 "regularizer is none" train --regularization 0.1
  fails 2 "margin" train --margin 3
  fails 2 "degree-fraction" "$OCTAVO" train --preset none --graph graph --run run --negatives all --degree-fraction 0.5
  fails 2 "accumulate is 2 and schedule pipelined" "$OCTAVO" train --preset none --graph graph --run run --schedule pipelined --accumulate 2
  [ ! -e run ]
}

@test "unknown and missing flags exit with 2" {
  fails 2 "--dims" train --dims 3
  fails 2 "--graph" "$OCTAVO" train --run run
  fails 2 "--run" "$OCTAVO" train --preset none --graph graph
  fails 2 "--dim" "$OCTAVO" train --preset none --graph graph --run run --dim
  fails 2 "surplus" train surplus
  [ ! -e run ]
}

@test "a folder without a graph exits with 2, a damaged one with 4" {
  fails 2 "absent: not a graph" "$OCTAVO" train --preset none --graph absent --run run
  mkdir empty
  fails 2 "empty: not a graph" "$OCTAVO" train --preset none --graph empty --run run
  cp -r "$BATS_FILE_TMPDIR/graph" damaged
  truncate -s -1 damaged/train.cells
  fails 4 "damaged/train.cells" "$OCTAVO" train --preset none --graph damaged --run run
  cp "$BATS_FILE_TMPDIR/graph/train.cells" damaged/
  echo "{" >damaged/graph.json
  fails 4 "damaged/graph.json" "$OCTAVO" train --preset none --graph damaged --run run
}

@test "a folder with a run is kept without --overwrite" {
  train --quiet
  before="$(tables run)"
  fails 2 "run: has a run; continue it with octavo resume --run run, or pass --overwrite" train
  [ "$(tables run)" = "$before" ]
  train --quiet --overwrite --seed 2
  [ "$(tables run)" != "$before" ]
  train --quiet --overwrite
  [ "$(tables run)" = "$before" ]
}

@test "files that do not belong to a run are kept without --overwrite" {
  mkdir run
  echo mine >run/embeddings.npy
  fails 2 "run/embeddings.npy" train
  [ "$(cat run/embeddings.npy)" = mine ]
}

@test "a path that is not a folder is rejected" {
  echo x >run
  fails 2 "run: exists and is not a folder" train
  [ "$(cat run)" = x ]
  fails 2 "run/inside" "$OCTAVO" train --preset none --graph graph --run run/inside
  fails 1 "name too long" "$OCTAVO" train --preset none --graph graph --run "$(printf 'x%.0s' {1..300})"
}

@test "a folder that may not be written is an error with its name" {
  folder="$(mktemp -d)"  # accessible to another user: root may do everything
  cp -r "$BATS_FILE_TMPDIR/graph" "$OCTAVO" "$folder"
  mkdir "$folder/locked"
  chmod -R a+rX,a-w "$folder"
  command=("$folder/octavo" train --preset none --graph "$folder/graph" --run "$folder/locked/run")
  [ "$(id -u)" -ne 0 ] || command=(setpriv --reuid=65534 --regid=65534 --clear-groups "${command[@]}")
  status=0
  fails 1 "locked/run" "${command[@]}" || status=$?
  chmod -R u+w "$folder"
  rm -r "$folder"
  [ "$status" -eq 0 ]
  [[ "$(cat err.log)" == *"ermission denied"* ]]
}

@test "a configuration file sets options and flags override it" {
  printf 'model = "distmult"\ndim = 12\nepochs = 1\nreciprocal = true\nbatch = 64\nchunk = 16\n' >a.toml
  "$OCTAVO" --quiet train --preset none --graph graph --run run --config a.toml --dim 10
  /usr/bin/python3 -c 'import json
options = json.load(open("run/run.json"))["options"]
assert (options["model"], options["dim"], options["reciprocal"]) == ("distmult", 10, True), options'
}

# --reciprocal=false was ignored, so a flag could not override a file that says true.
@test "a switch of a configuration file can be switched off" {
  printf 'reciprocal = true\nepochs = 1\nbatch = 64\nchunk = 16\n' >a.toml
  "$OCTAVO" --quiet train --preset none --graph graph --run run --config a.toml --reciprocal=false
  grep -q '"reciprocal": false' run/run.json
  "$OCTAVO" --quiet train --preset none --graph graph --run run --overwrite --config a.toml
  grep -q '"reciprocal": true' run/run.json
  "$OCTAVO" --quiet train --graph graph --run run --overwrite "${tiny[@]}" --reciprocal
  grep -q '"reciprocal": true' run/run.json
  fails 2 '--reciprocal: found "perhaps"; expected true or false' train --reciprocal=perhaps
  fails 2 "perhaps" train --overwrite=perhaps
  fails 2 "" "$OCTAVO" --quiet=perhaps train --preset none --graph graph --run run
}

@test "an invalid configuration file exits with 2 and names file and line" {
  printf 'model = "dot"\nlearning_rate = 0.1\n' >a.toml
  fails 2 'a.toml:2: unknown key "learning_rate"; did you mean learning-rate?' train --config a.toml
  printf 'dim = "ten"\n' >a.toml
  fails 2 "a.toml:1: dim: found " train --config a.toml
  printf 'dim 10\n' >a.toml
  fails 2 "a.toml:1:" train --config a.toml
  head -c 4096 /dev/urandom >a.toml
  fails 2 "a.toml" train --config a.toml
  fails 2 "absent.toml" train --config absent.toml
  fails 2 "$PWD" train --config "$PWD"
  [ ! -e run ]
}

@test "too little memory exits with 2 and names the smallest sufficient amount, which suffices" {
  fails 2 "training needs " train --memory 1MiB
  [ ! -e run ]
  smallest="$(sed -n 's/.*the smallest sufficient --memory is \([0-9]*MiB\).*/\1/p' err.log)"
  echo "$smallest"
  fails 2 "training needs " train --memory "$((${smallest%MiB} - 1))MiB"
  train --quiet --memory "$smallest"
}

# --memory is compared with the estimate: it must not be below the actual use, nor so far above that trainings are
# refused needlessly.
@test "the memory estimate covers what a training uses" {
  awk 'BEGIN { srand(4); for (i = 0; i < 200000; ++i) printf "n%d\tn%d\n", i % 100000, rand() * 100000 }' >big.tsv
  "$OCTAVO" --quiet import big.tsv --graph big --columns head,tail
  flags=(--preset none --graph big --run run --model dot --dim 200 --optimizer adagrad --epochs 1 --batch 20000 --threads 2
    --durability process)
  for whole in "" "--partitions 1"; do
    # shellcheck disable=SC2086
    fails 2 "training needs " "$OCTAVO" train "${flags[@]}" $whole --memory 1MiB
    smallest="$(sed -n 's/.*the smallest sufficient --memory is \([0-9]*\)MiB.*/\1/p' err.log)"
    # shellcheck disable=SC2086
    "$OCTAVO" --quiet train "${flags[@]}" $whole --memory "${smallest}MiB" --overwrite
    /usr/bin/python3 - "$smallest" "$whole" <<'PYTHON'
import json, sys
peak = json.loads(open("run/metrics.jsonl").readline())["peak_rss_bytes"] / 2**20
print(f"estimated {sys.argv[1]} MiB, measured {peak:.0f} MiB {sys.argv[2]}")
assert peak <= int(sys.argv[1])
assert sys.argv[2] == "" or int(sys.argv[1]) <= 2 * peak  # in partitions no batch is full here
PYTHON
  done
}

@test "a diverging rate exits with 1, names batch and relation, and the last commit opens" {
  fails 1 "the loss is not finite" "$OCTAVO" train --preset none --graph graph --run run --dim 8 --batch 64 --chunk 16 \
    --epochs 50 --optimizer sgd --learning-rate 1000 --initial-scale 1
  grep -q 'in epoch [0-9]*, batch [0-9]*, at the edge "n[0-9]*" "r[0-9]" "n[0-9]*"; the last commit stands' err.log
  "$OCTAVO" inspect run >inspected.log
  grep -q '^generation ' inspected.log
}

@test "a second training of the same run exits with 5 and names the owner" {
  OCTAVO_FAILPOINT="$(printf 'train.batch:%d=sleep,' {1..200})" "$OCTAVO" --quiet train --graph graph --run run \
    "${tiny[@]}" 3>&- &
  owner=$!
  wait_for 20 test -e run/STATE
  fails 5 "the run is in use by pid $owner" train
  fails 5 "the run is in use by pid $owner" train --overwrite
  fails 5 "the run is in use by pid $owner" "$OCTAVO" resume --run run
  kill -KILL "$owner"
  wait "$owner" || true
  "$OCTAVO" --quiet resume --run run  # the lock was released with its owner
}

@test "threads and prefetching change no bit" {
  train --quiet --threads 1
  one="$(tables run)"
  train --quiet --overwrite --threads 2 --prefetch on
  [ "$(tables run)" = "$one" ]
  train --quiet --overwrite --threads 3 --prefetch off --checkpoint-minutes 1e-6 --durability process
  [ "$(tables run)" = "$one" ]
}

@test "a terminal shows a bar, rate, time left, loss and memory, and nothing with --quiet" {
  naps="$(printf 'train.batch:%d=sleep,' {2..20})"
  for columns in 60 140; do
    OCTAVO_FAILPOINT="$naps" "$BATS_TEST_DIRNAME/check_progress.py" "$columns" "epoch 1/3" "$OCTAVO" --memory 600MiB \
      train --graph "$BATS_FILE_TMPDIR/graph" --run "run$columns" "${tiny[@]/64/16}"
  done
  if "$BATS_TEST_DIRNAME/check_progress.py" 140 "epoch 1/3" "$OCTAVO" --quiet --memory 600MiB \
    train --graph "$BATS_FILE_TMPDIR/graph" --run quiet "${tiny[@]}"; then false; fi
}

# They were on one line, with an evaluation although nothing was held out.
@test "the commands that can follow are lines to be copied, and each of them works" {
  follow() { sed -n 's/^next: octavo //p' err.log >next.txt; }
  awk '{ print > (NR % 10 ? "t.tsv" : "v.tsv") }' "$BATS_FILE_TMPDIR/train.tsv"
  for held_out in "" "--valid v.tsv" "--test v.tsv"; do
    rm -rf "my graph" run "my run"
    "$OCTAVO" import t.tsv --graph "my graph" $held_out 2>err.log
    follow
    [ "$(cat next.txt)" = "train --graph 'my graph' --run run" ]
    eval "$OCTAVO $(cat next.txt) --epochs 1 --quiet"
    "$OCTAVO" train --graph "my graph" --run "my run" "${tiny[@]}" 2>err.log
    grep -Eqx "next: octavo query --run 'my run' neighbors n[0-9]+" err.log
    follow
    [ "$(grep -c evaluate next.txt || true)" = "$([ -z "$held_out" ] && echo 0 || echo 1)" ]
    [ "$(wc -l <next.txt)" -ge 1 ]
    grep -qx "serve 'my run' --open" next.txt
    # It answers until it is ended.
    "$OCTAVO" serve "my run" --port 0 >address.txt 2>/dev/null &
    for _ in {1..600}; do [ -s address.txt ] || sleep 0.1; done
    kill $!
    wait $! && code=0 || code=$?
    [ "$code" = 143 ]
    sed -i '/^serve/d' next.txt
    while read -r command; do eval "$OCTAVO $command" >/dev/null 2>&1 </dev/null || { echo "$command"; return 1; }; done <next.txt
  done
  "$OCTAVO" import t.tsv --graph other 2>err.log  # there is a run now
  grep -qx "next: octavo train --graph other --run run-2" err.log
}

@test "options that do not fit the graph are remarked on" {
  train --model dot 2>err.log
  grep -qx 'note: model dot ignores which of the 3 relations an edge has; complex, distmult, transe and rotate learn them' err.log
  cut -f1,3 "$BATS_FILE_TMPDIR/train.tsv" >pairs.tsv
  "$OCTAVO" import pairs.tsv --graph pairs 2>err.log
  grep -q '^next: octavo train --graph pairs --run run-2$' err.log
  "$OCTAVO" train --graph pairs --run plain "${tiny[@]}" --dry-run 2>err.log
  if grep -q '^note: the graph has no relations' err.log; then false; fi
  "$OCTAVO" train --preset none --graph graph --run run --overwrite --dim 8 --negatives 3600 --dry-run 2>err.log
  grep -q '^note: negatives is 3600, more than the 40 nodes; --negatives all takes each node once' err.log
  train --overwrite 2>err.log
  if grep -q '^note: ' err.log; then false; fi
  fails 2 'expected --known-negatives=false as well' \
    "$OCTAVO" train --graph graph --run run --overwrite --known-negatives --negatives all
}
