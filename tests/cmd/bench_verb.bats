#!/usr/bin/env bats
# octavo bench, as its users run it. That it measures, not what.

load reading.bash

setup() {
  cd "$(mktemp -d "$BATS_TEST_TMPDIR/XXXXXX")"
}

@test "each bench prints a table, and JSON on request" {
  for bench in "machine --seconds 0.01" "kernels --seconds 0.01 --dim 8 --negatives 8 --chunk 8" "prefetch --seconds 0.01" \
    "locks --seconds 0.01" orders; do
    "$OCTAVO" bench $bench >table.txt
    [ "$(wc -l <table.txt)" -ge 5 ]
    "$OCTAVO" bench $bench --json | /usr/bin/python3 -m json.tool >/dev/null
  done
}

@test "the machine's figures have the names that scripts use, and nothing is left" {
  "$OCTAVO" bench machine --seconds 0.01 --json >machine.json
  /usr/bin/python3 -c '
import json
report = json.load(open("machine.json"))
for name in ("gemm_peak_gflops", "memory_bandwidth_gbps", "disk_read_gbps", "disk_write_gbps"):
    assert report[name] > 0, name'
  [ "$(ls -A)" = machine.json ]
}

@test "scaling takes the flags of a training" {
  printf 'a\tr\tb\nb\tr\tc\nc\tr\ta\n' >edges.tsv
  "$OCTAVO" import edges.tsv --graph graph --columns head,relation,tail --quiet
  "$OCTAVO" bench scaling --graph graph --dim 8 --negatives 4 --threads 1 >table.txt
  grep -q '^sync ' table.txt
  grep -Eq '^bound by (compute|memory)$' table.txt
  fails 2 "dim" "$OCTAVO" bench scaling --graph graph --dim 0
  fails 2 "subcommand" "$OCTAVO" bench
}
