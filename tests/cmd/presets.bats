#!/usr/bin/env bats
# Every preset of configs/ trains.

load training.bash

setup_file() { make_graph; }

@test "each preset starts on a tiny graph, and names neither graph nor run" {
  cd "$BATS_TEST_TMPDIR"
  configs="$BATS_TEST_DIRNAME/../../configs"
  count=0
  for preset in "$configs"/*.toml; do
    echo "$preset"
    "$OCTAVO" --quiet train --graph "$BATS_FILE_TMPDIR/graph" --run run --overwrite --config "$preset" --epochs 1
    "$OCTAVO" inspect run | grep -Eq '^epochs +1 of 1$'
    [[ "$(basename "$preset")" =~ ^[a-z0-9-]+\.toml$ ]]
    # The comment on top has the command and the expected figure.
    grep -q "^# .*octavo train .*--config configs/$(basename "$preset")" "$preset"
    grep -q '^# Expected: .*[0-9]' "$preset"
    count=$((count + 1))
  done
  [ "$count" -ge 2 ]
}
