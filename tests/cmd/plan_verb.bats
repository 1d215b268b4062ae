#!/usr/bin/env bats
# octavo plan as its users run it, and trainings whose tables are in partitions.

load training.bash

setup_file() {
  make_graph
  awk 'BEGIN { srand(5); for (i = 0; i < 20000; ++i) printf "n%d\tn%d\n", i % 9000, rand() * 9000 }' >large.tsv
  "$OCTAVO" --quiet import large.tsv --graph large --columns head,tail
}

setup() {
  cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph && ln -s "$BATS_FILE_TMPDIR/large" large
}

settings=(--preset none --graph large --model dot --dim 32 --negatives 8 --batch 500 --chunk 100 --epochs 2)

@test "the plan is a table with what is needed, moved and expected" {
  "$OCTAVO" plan "${settings[@]}" --partitions 8 --resident 3 --what-if >out.log 2>err.log
  cat out.log
  for row in memory partitions "  resident" "loads per epoch" "read per epoch" "written per epoch" "disk space" \
    "expected per epoch" measured; do
    grep -q "^$row" out.log || { echo "no row $row"; return 1; }
  done
  [ "$(grep -c ': exchange ' err.log)" -eq 3 ]  # how tables come into memory at each limit, and nothing else
  [ "$(grep -c . err.log)" -eq 3 ]
  [ -z "$(find . -name '.octavo*')" ]
}

@test "--json has the same numbers as the epochs' events" {
  "$OCTAVO" plan "${settings[@]}" --partitions 8 --resident 3 --no-probe --json >plan.json
  "$OCTAVO" --quiet train "${settings[@]}" --partitions 8 --resident 3 --run run
  /usr/bin/python3 - <<'PYTHON'
import json
plan = json.load(open("plan.json"))
first, second = [json.loads(line) for line in open("run/metrics.jsonl")]
assert (plan["partitions"], plan["resident"], plan["order"]) == (8, 3, "beta"), plan
for event, epoch in ((first, plan["first_epoch"]), (second, plan["epoch"])):
    assert event["partition_loads"] == event["planned_partition_loads"] == epoch["loads"], (event, epoch)
    assert event["read_bytes"] == event["planned_read_bytes"] == epoch["read_bytes"], (event, epoch)
    assert event["planned_written_bytes"] == epoch["written_bytes"], (event, epoch)
    assert event["edges"] == first["edges"]
assert "epoch_seconds" not in plan
PYTHON
}

@test "bf16 embeddings are half as large, and the plan says so" {
  for storage in float32 bf16; do
    "$OCTAVO" plan "${settings[@]}" --storage "$storage" --no-probe --json >"$storage.json"
  done
  "$OCTAVO" plan "${settings[@]}" --storage bf16 --no-probe >out.log
  grep -Eq '^embeddings of +bf16$' out.log
  "$OCTAVO" --quiet train "${settings[@]}" --storage bf16 --run run
  /usr/bin/python3 - <<'PYTHON'
import json
floats, words = [json.load(open(name + ".json")) for name in ("float32", "bf16")]
nodes = json.load(open("large/graph.json"))["nodes"]
assert (floats["storage"], words["storage"]) == ("float32", "bf16")
assert floats["disk_bytes_after"] - words["disk_bytes_after"] == nodes * 32 * 2, (floats, words)
assert floats["needed_bytes"] - words["needed_bytes"] == nodes * 32 * 2, (floats, words)
event = json.loads(open("run/metrics.jsonl").readline())
assert event["written_bytes"] == words["first_epoch"]["written_bytes"], (event, words)
PYTHON
}

@test "half of too little memory is a row without a plan, too little itself an error" {
  smallest_of() { sed -n 's/.*the smallest sufficient --memory is \([0-9]*MiB\).*/\1/p' err.log; }
  fails 2 "training needs" "$OCTAVO" plan "${settings[@]}" --memory 2MiB
  smallest="$(smallest_of)"
  "$OCTAVO" plan "${settings[@]}" --no-probe --memory "$smallest" --what-if >out.log 2>err.log
  grep -q '^partitions .* -  ' out.log
  grep -q "smallest sufficient --memory" err.log
  "$OCTAVO" --quiet train "${settings[@]}" --memory "$smallest" --run run
}

@test "a graph can be cut into more partitions, and a graph made from it has as many" {
  awk 'BEGIN { for (i = 0; i < 70000; ++i) printf "n%d\tn%d\n", i, (i * 31 + 7) % 70000 }' >ring.tsv
  "$OCTAVO" --quiet import ring.tsv --graph usual --columns head,tail
  "$OCTAVO" --quiet import ring.tsv --graph fine --columns head,tail --partitions 512
  grep -q '"partitions": 35,' usual/graph.json
  grep -q '"partitions": 69,' fine/graph.json
  cmp usual/nodes.names fine/nodes.names
  "$OCTAVO" verify fine --deep --quiet
  options=(--preset none --model dot --dim 4 --negatives 8 --batch 5000 --chunk 500 --epochs 1)
  "$OCTAVO" train --graph fine --run divided "${options[@]}" --partitions 69 --resident 3 2>err.log
  grep -q '^tables in 69 partitions, 3 of them in memory$' err.log
  grep -q 'loads \([0-9]*\) (planned \1)' err.log
  "$OCTAVO" --quiet report --run divided --output page.html --no-evaluation
  fails 2 "expected at most 35" "$OCTAVO" plan --graph usual "${options[@]}" --partitions 69
  printf 'new\tn1\n' >more.tsv
  "$OCTAVO" import more.tsv --base fine --graph grown --columns head,tail 2>err.log
  grep -q 'fine has 69 partitions; the new graph is cut into as many' err.log
  grep -q '"partitions": 69,' grown/graph.json
  fails 2 "expected a whole number from 1 to 512" "$OCTAVO" import ring.tsv --graph g --partitions 513
}

@test "impossible numbers of partitions are rejected" {
  fails 2 "partitions: found 10; expected at most 9" "$OCTAVO" plan "${settings[@]}" --partitions 10
  fails 2 "resident: found 1; expected at least 2" "$OCTAVO" train "${settings[@]}" --partitions 4 --resident 1 --run run
  fails 2 '--order: found "hilbert"; expected one of beta, inside-out, random' \
    "$OCTAVO" plan "${settings[@]}" --order hilbert
  fails 2 '--partitions: found "0"; expected a whole number from 1 to 65536, or auto' \
    "$OCTAVO" plan "${settings[@]}" --partitions 0
  [ ! -e run ]
}

@test "a training in partitions says so, and resumes to the same bytes" {
  part=(--partitions 6 --resident 2 --order random)
  "$OCTAVO" train "${settings[@]}" "${part[@]}" --run whole 2>err.log
  grep -q '^tables in 6 partitions, 2 of them in memory$' err.log
  grep -q 'loads [0-9]* (planned [0-9]*), read' err.log
  without_epochs=("${settings[@]::${#settings[@]}-2}")
  "$OCTAVO" train "${without_epochs[@]}" "${part[@]}" --run run --epochs 1 --quiet
  "$OCTAVO" resume --run run --epochs 2 --quiet
  [ "$(tables run)" = "$(tables whole)" ]
}

@test "another budget on resume warns that the bits differ" {
  fails 2 "training needs" "$OCTAVO" train "${settings[@]}" --partitions 9 --resident 2 --run run --memory 1MiB
  tight="$(sed -n 's/.*the smallest sufficient --memory is \([0-9]*MiB\).*/\1/p' err.log)"
  "$OCTAVO" train "${settings[@]}" --run run --memory "$tight" --quiet
  "$OCTAVO" resume --run run --epochs 3 --quiet --memory "$tight" 2>err.log
  [ ! -s err.log ]
  "$OCTAVO" resume --run run --epochs 4 --memory 2GiB 2>err.log
  text='all tables are in memory, to fit --memory 2.0 GiB (so far tables in [0-9]* partitions, [0-9]* of them in memory, which takes [0-9.]* MiB)'
  grep -q "^warning: from epoch 4 on: $text; from then on the bits differ from those that the previous division would give$" err.log
}

# The default budget once treated a group whose limit was reached by cached files as one without memory.
@test "page cache counts as available memory" {
  [[ "$(stat -f -c %T .)" != tmpfs ]] || skip "files in memory are no page cache that can go"
  status=0
  "$BATS_TEST_DIRNAME/../support/memory_cgroup" --limit 400MiB --report report.json -- bash -c '
    dd if=/dev/zero of=file bs=1M count=320 conv=fsync status=none &&
    "$OCTAVO" plan --preset none --graph large --model dot --dim 8 --no-probe --json >plan.json' || status=$?
  if [[ "$status" == 77 && "${CI:-}" != true && "${CI:-}" != 1 ]]; then skip "no memory control group can be made"; fi
  [ "$status" -eq 0 ]
  /usr/bin/python3 -c 'import json; memory = json.load(open("plan.json"))["memory_bytes"] >> 20; print(memory)
assert 200 < memory <= 280, memory'
}

# An interrupted plan once left the tables of its probe beside the run.
@test "a plan that is killed leaves nothing" {
  "$OCTAVO" plan "${settings[@]}" >out.log &
  pid=$!
  wait_for 60 measures "$pid"
  kill -KILL "$pid"
  wait "$pid" || true
  [ -z "$(find . -name '.octavo*')" ]
}

@test "a signal during the measurement ends the plan, without the lines that were to come" {
  for flags in "${settings[*]}" "--graph large --time 10m"; do
    # shellcheck disable=SC2086
    "$OCTAVO" plan $flags >out.log 2>err.log 3>&- &
    pid=$!
    wait_for 60 measures "$pid"
    terminate "$pid" 'the plan was not made'
    [ ! -s out.log ]
    [ -z "$(find . -name '.octavo*')" ]
  done
}

@test "a machine that cannot be measured is a warning, and the plan is still printed" {
  "$OCTAVO" plan "${settings[@]}" --run /proc/run --json >plan.json 2>err.log
  grep -q '^warning: the machine could not be measured, so no times are estimated: /proc/' err.log
  grep -q '"partitions": ' plan.json
  if grep -q seconds plan.json; then false; fi
}
