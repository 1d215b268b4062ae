#!/usr/bin/env bats
# octavo bench as its users run it. Tests that it measures, not the values.

load reading.bash

setup() {
  cd "$(mktemp -d "$BATS_TEST_TMPDIR/XXXXXX")"
}

# The tables are checked together with the charts, machine and locks below.
@test "each bench prints JSON on request" {
  for bench in "kernels --seconds 0.01 --dim 8 --negatives 8 --chunk 8" "prefetch --seconds 0.01" orders; do
    "$OCTAVO" bench $bench --json | /usr/bin/python3 -m json.tool >/dev/null
  done
}

@test "the peaks of both precisions are in the JSON of kernels" {
  "$OCTAVO" bench kernels --seconds 0.01 --dim 8 --negatives 8 --chunk 8 --threads 2 --json >kernels.json
  /usr/bin/python3 -c '
import json
peaks = json.load(open("kernels.json"))["peaks"]
assert [peak["threads"] for peak in peaks] == [1, 2] and all(peak["float32_gflops"] > 0 < peak["bf16_gflops"] for peak in peaks)'
}

@test "the machine's figures have the names that scripts use, and nothing is left over" {
  "$OCTAVO" bench machine --seconds 0.01 --json >machine.json
  /usr/bin/python3 -c '
import json
report = json.load(open("machine.json"))
for name in ("gemm_peak_gflops", "processor_share", "memory_bandwidth_gbps", "disk_read_gbps", "disk_write_gbps"):
    assert report[name] > 0, name'
  [ "$(ls -A)" = machine.json ]
}

# chart BENCH... -- TEXT...: the bench draws a chart that contains these texts, and prints its table.
chart() {
  local command=()
  while [ "$1" != -- ]; do command+=("$1"); shift; done
  shift
  "$OCTAVO" bench "${command[@]}" --svg chart.svg >table.txt
  [ "$(wc -l <table.txt)" -ge 5 ]
  "$BATS_TEST_DIRNAME/check_chart.py" chart.svg "octavo $("$OCTAVO" --version | sed -n '1s/octavo //p') on " "$@"
}

@test "each bench draws a chart" {
  chart machine --seconds 0.01 --threads 2 -- GFLOP/s GB/s "256 x 512 x 200" "portable, 2 threads" "Peak of matrix products"
  chart kernels --seconds 0.01 --threads 2 --dim 8 --negatives 8 --chunk 8 -- "% of the peak" edges/s rotate "2 threads" \
    "dimension 8"
  chart prefetch --seconds 0.01 -- "time to fetch an item / time to compute on it" seconds "two buffers" ideal
  chart locks --seconds 0.01 --threads 2 -- updates/s "none, disjoint rows" "4096 stripes" "one for all" "Zipf"
  chart orders -- "loads per epoch" partitions beta inside-out "lower bound"
}

@test "a chart that cannot be written is reported before anything is measured" {
  fails 2 "--svg nowhere/chart.svg" "$OCTAVO" bench orders --svg nowhere/chart.svg
  mkdir folder
  fails 2 "--svg folder" "$OCTAVO" bench orders --svg folder
  "$OCTAVO" bench orders --svg "folder/a chart.svg" --json >orders.json
  [ "$(ls -A folder)" = "a chart.svg" ]
}

@test "locks reports their share of a training" {
  "$OCTAVO" bench locks --seconds 0.02 --threads 1 | grep -Eq '^in a training .* 6 rows an edge, .* ns each, .* %.* 3 % '
  "$OCTAVO" bench locks --seconds 0.01 --json >locks.json
  [ "$(json '0 <= o["share"]["of_training"] < 1 and len(o["rates"])' <locks.json)" -ge 12 ]
}

@test "scaling accepts the flags of a training" {
  printf 'a\tr\tb\nb\tr\tc\nc\tr\ta\n' >edges.tsv
  "$OCTAVO" import edges.tsv --graph graph --columns head,relation,tail --quiet
  "$OCTAVO" bench scaling --graph graph --dim 8 --negatives 4 --threads 1 --seconds 0.1 --svg chart.svg >table.txt
  "$BATS_TEST_DIRNAME/check_chart.py" chart.svg edges/s threads times "sync, chunks of 256" ideal "complex, dimension 8" \
    "3 training edges"
  for schedule in sync async; do grep -q "^$schedule " table.txt; done
  grep -Eq '^bound by (compute|memory); .* float32 products$' table.txt
  "$OCTAVO" bench scaling --graph graph --dim 8 --negatives 4 --threads 1 --seconds 0.1 --precision bf16 >table.txt
  grep -q '^1 thread: matrix products reach .* with bf16 operands (' table.txt
  grep -q ' of bf16 products$' table.txt
  fails 2 "dim" "$OCTAVO" bench scaling --graph graph --dim 0
  fails 2 "subcommand" "$OCTAVO" bench
}
