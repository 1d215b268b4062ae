#!/usr/bin/env bats
# Every preset of configs/ trains, and those of configs/walk walk.

# About 8,200 nodes: as many fine partitions as a preset needs.
setup_file() {
  cd "$BATS_FILE_TMPDIR"
  awk 'BEGIN { for (i = 0; i < 4100; ++i) printf "n%d\tr%d\tn%d\n", 2 * i, i % 3, 2 * i + 1 }' >train.tsv
  "$OCTAVO" --quiet import train.tsv --graph graph --columns head,relation,tail
}

@test "the program of the build tree accepts presets by name" {
  configs="$BATS_TEST_DIRNAME/../../configs"
  "$OCTAVO" train --print-config --config karate-dot | cmp - <("$OCTAVO" train --print-config --config "$configs/karate-dot.toml")
  if "$OCTAVO" train --print-config --config karate-dot | cmp -s - <("$OCTAVO" train --print-config); then false; fi
}

@test "each preset starts on a small graph, and names neither graph nor run" {
  cd "$BATS_TEST_TMPDIR"
  configs="$BATS_TEST_DIRNAME/../../configs"
  count=0
  for preset in "$configs"/*.toml; do
    echo "$preset"
    "$OCTAVO" --quiet train --preset none --graph "$BATS_FILE_TMPDIR/graph" --run run --overwrite --config "$preset" --epochs 1
    "$OCTAVO" inspect run | grep -Eq '^epochs +1 of 1$'
    [[ "$(basename "$preset")" =~ ^[a-z0-9-]+\.toml$ ]]
    # The comment at the top has the command and the expected figure.
    grep -q "^# .*octavo train .*--config $(basename "$preset" .toml)$" "$preset"
    grep -q '^# Expected: .*[0-9]' "$preset"
    count=$((count + 1))
  done
  [ "$count" -ge 2 ]
}

@test "each preset of walks has a training of the same graph, and sets every option" {
  for preset in "$BATS_TEST_DIRNAME"/../../configs/walk/*.toml; do
    echo "$preset"
    "$OCTAVO" walk --print-config --config "$preset" >all.toml
    grep -q "^# .*octavo walk .*--config $(basename "$preset" .toml)$" "$preset"
    grep -q "^# .*octavo walk .*--config $(basename "$preset" .toml)$" "$BATS_TEST_DIRNAME"/../../configs/*.toml
  done
}
