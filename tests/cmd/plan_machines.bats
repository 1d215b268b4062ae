#!/usr/bin/env bats
# octavo plan --machines: what several machines send each other, and whether more of them help.

load training.bash

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return 1
  awk 'BEGIN { srand(3); for (i = 0; i < 16000; ++i) printf "n%d\tr%d\tn%d\n", i % 8000, rand() * 3, rand() * 8000 }' >large.tsv
  "$OCTAVO" --quiet import large.tsv --graph graph --columns head,relation,tail
}

setup() { cd "$BATS_TEST_TMPDIR" && ln -s "$BATS_FILE_TMPDIR/graph" graph; }

plan() {
  "$OCTAVO" plan --preset none --graph graph --dim 8 --batch 400 --chunk 100 --negatives 8 --epochs 2 --lanes 4 "$@"
}

@test "machines have rows, and each rank its own" {
  plan --machines 2 --network 2.5GB/s --what-if >out.log
  cat out.log
  for row in "machines  .* 2  .* 1  .* 4" "  lanes of one, at most  .* 2  .* 4  .* 1" "  memory of one  .* MiB" "sent per epoch .* KiB .* 0 B" \
    "  partitions" "  relations" "received by one, at most" "sent in 2 epochs" "gathered at the end" "exchange per epoch" \
    "  hidden" "expected per epoch" "efficiency  " "   0       2 " "   1       2 " "network: 2.3 GiB/s in each direction"; do
    grep -Eq "^$row" out.log || { echo "no row $row"; return 1; }
  done
  plan --machines 4 --no-probe >out.log
  grep -Eq '^sent per epoch .* MiB$' out.log
  if grep -Eq '^(efficiency|exchange per epoch)' out.log; then false; fi
  grep -q '^network: 119 MiB/s' out.log
  plan --machines 4 --what-if --no-probe >out.log
  grep -Eq '^sent per epoch .* -$' out.log  # 8 machines have too few lanes
}

@test "--json has every rank's bytes, and what is sent is received" {
  plan --machines 3 --network 1Gbit/s --what-if --json >plan.json
  /usr/bin/python3 - <<'PYTHON'
import json
plan = json.load(open("plan.json"))["machines"]
assert (plan["machines"], plan["network_bytes_per_second"]) == (3, 125e6), plan
assert [rank["lanes"] for rank in plan["epoch"]["ranks"]] == [1, 1, 2], plan
for epoch in (plan["first_epoch"], plan["epoch"]):
    assert epoch["sent_bytes"] == epoch["received_bytes"] == sum(rank["sent_bytes"] for rank in epoch["ranks"]), epoch
    assert epoch["sent_bytes"] == epoch["partitions_sent_bytes"] + epoch["relations_sent_bytes"], epoch
total = plan["training"]["sent_bytes"]
assert total == plan["first_epoch"]["sent_bytes"] + plan["epoch"]["sent_bytes"], plan
assert plan["hidden_seconds"] <= plan["exchange_seconds"], plan
assert plan["epoch_seconds"] <= plan["epoch_seconds_nothing_hidden"] * 1.0001, plan
assert abs(plan["efficiency"] - plan["compute_seconds"] / plan["epoch_seconds"]) < 1e-9, plan
for rank in plan["epoch"]["ranks"]:
    assert abs(rank["training_seconds"] + rank["waiting_seconds"] - plan["epoch_seconds"]) < 1e-9, plan
half, double = plan["what_if"]
assert (half["machines"], half["epoch"]["sent_bytes"]) == (1, 0), half
assert "expected at most 4" in double["error"], double
assert plan["most_useful_machines"] in (1, 2, 4), plan
PYTHON
}

@test "machines that make no sense are refused" {
  fails 2 "machines: found 5; expected at most 4, the number of lanes (--lanes)" plan --machines 5
  fails 2 "--network requires --machines" plan --network 1GB/s
  for rate in 1GB 0B/s -1GB/s 1Gb/s x/s nanMB/s 1e30Gbit/s; do
    fails 2 "--network: found \"$rate\"; expected bytes or bits a second such as 2.5GB/s, 100MiB/s or 10Gbit/s" \
      plan --machines 2 --network "$rate"
  done
  fails 2 "expected a whole number from 1 to 256" plan --machines 0
}
