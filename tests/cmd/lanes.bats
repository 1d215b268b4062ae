#!/usr/bin/env bats
# Trainings in lanes as their users run them: plan, train, inspect, verify, resume.

load training.bash

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return 1
  awk 'BEGIN { srand(3); for (i = 0; i < 16000; ++i) printf "n%d\tr%d\tn%d\n", i % 8000, rand() * 3, rand() * 8000 }' >large.tsv
  "$OCTAVO" --quiet import large.tsv --graph graph --columns head,relation,tail
}

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph; }

common=(--preset none --graph graph --dim 8 --batch 400 --chunk 100 --negatives 8 --epochs 2)
lanes=("${common[@]}" --lanes 4)

@test "the plan of lanes has the numbers of the epochs' events" {
  "$OCTAVO" plan "${lanes[@]}" --no-probe --json >plan.json
  "$OCTAVO" plan "${lanes[@]}" --no-probe >out.log
  grep -Eq '^lanes +4$' out.log
  grep -Eq '^  rounds per epoch +7$' out.log
  "$OCTAVO" train "${lanes[@]}" --run run 2>err.log
  grep -q '4 lanes in 7 rounds an epoch' err.log
  /usr/bin/python3 - <<'PYTHON'
import json
plan = json.load(open("plan.json"))
first, second = [json.loads(line) for line in open("run/metrics.jsonl")]
assert (plan["lanes"], plan["rounds"], plan["partitions"], plan["holds_all_tables"]) == (4, 7, 1, True), plan
assert 0.5 < plan["lane_balance"] <= 1, plan
for event, epoch in ((first, plan["first_epoch"]), (second, plan["epoch"])):
    assert event["read_bytes"] == event["planned_read_bytes"] == epoch["read_bytes"], (event, epoch)
    assert event["planned_written_bytes"] == epoch["written_bytes"], (event, epoch)
    assert (event["lanes"], event["rounds"], event["edges"]) == (4, 7, first["edges"]), event
    assert event["slowest_lane_seconds"] > 0 and 0 < event["lane_balance"] <= 1, event
PYTHON
}

@test "a training killed within a round is inspected, verified and resumed to the same bytes" {
  "$OCTAVO" --quiet train "${lanes[@]}" --run unbroken --threads 1
  status=0
  OCTAVO_FAILPOINT=commit.lanes:6=kill "$OCTAVO" --quiet train "${lanes[@]}" --run run --checkpoint-minutes 0.0000001 \
    --threads 2 || status=$?
  [ "$status" -eq 137 ]
  "$OCTAVO" inspect run | grep -Eq '^round of lanes +[1-7] of 7$'
  "$OCTAVO" inspect run | grep -Eq '^lanes +4$'
  "$OCTAVO" inspect run --json | /usr/bin/python3 -c '
import json, sys
run = json.load(sys.stdin)
assert run["options"]["lanes"] == 4 and 1 <= run["round"] <= run["rounds"] == 7, run
assert len(run["lane_batches"]) == 4 and sum(run["lane_batches"]) > 0, run
'
  "$OCTAVO" verify run >out.log
  grep -q '3 relations of 4 lanes' out.log
  slot=$(ls -S run/relations.lanes*.npy | grep -v optimizer | while read -r file; do
    cp "$file" saved && printf x | dd of="$file" bs=1 seek=4200 conv=notrunc status=none
    "$OCTAVO" verify run >/dev/null 2>&1 || echo "$file"
    cp saved "$file"
  done)
  [ "$(wc -w <<<"$slot")" -eq 1 ]  # only the file of the commit
  "$OCTAVO" --quiet resume --run run
  [ "$(tables run)" = "$(tables unbroken)" ]
  [ -z "$(ls run | grep lanes)" ]
  "$OCTAVO" --quiet verify run
  "$OCTAVO" evaluate --run run --split train --json --candidates 50 >/dev/null
}

@test "lanes that make no sense are refused with what to do" {
  train() { "$OCTAVO" train "${common[@]}" --run run "$@"; }
  fails 2 "lanes is 3; expected a power of two, such as 4" train --lanes 3
  fails 2 "lanes: found 8; expected at most 4" train --lanes 8
  fails 2 "expected a whole number from 1 to 256" train --lanes 512
  fails 2 "expected row-adagrad, adagrad or sgd" train --lanes 4 --optimizer adam
  fails 2 "expected schedule sync" train --lanes 4 --schedule async
  fails 2 "expected a number of resident partitions" train --lanes 4 --partitions 2
  fails 2 "lanes: found 8; expected at most 4" "$OCTAVO" plan "${common[@]}" --lanes 8 --no-probe
  [ ! -e run ]
}
