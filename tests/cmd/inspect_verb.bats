#!/usr/bin/env bats
# octavo inspect as its users run it, on runs.

load training.bash

setup_file() {
  make_graph
  cd "$BATS_FILE_TMPDIR"
  "$OCTAVO" --quiet train --graph graph --run run "${tiny[@]}" --model rotate
}

setup() { cd "$BATS_FILE_TMPDIR"; }

@test "a run is shown with its counts and options" {
  "$OCTAVO" inspect run >out.log
  grep -Eq '^epochs +3 of 3$' out.log
  grep -Eq '^embeddings +40 x 8 of float32$' out.log
  grep -Eq '^relations +3 x 4$' out.log
  grep -Eq '^model +rotate$' out.log
}

@test "--json is one object" {
  "$OCTAVO" inspect run --json >out.log
  /usr/bin/python3 -c 'import json
run = json.load(open("out.log"))
assert run["kind"] == "run" and run["finished"] is True and run["epochs_done"] == 3, run
assert run["embeddings"] == [40, 8] and run["relations"] == [3, 4], run'
}

@test "a path that is neither graph nor run is rejected" {
  cd "$BATS_TEST_TMPDIR"
  mkdir empty
  fails 2 "empty" "$OCTAVO" inspect empty
  fails 2 "absent" "$OCTAVO" inspect absent
  fails 2 "" "$OCTAVO" inspect
  cp -r "$BATS_FILE_TMPDIR/run" run
  truncate -s 100 run/STATE
  fails 4 "run/STATE" "$OCTAVO" inspect run
}
