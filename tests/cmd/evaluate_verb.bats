setup_file() { load reading.bash; make_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "evaluate: JSON has the keys that scripts rely on" {
  "$OCTAVO" --quiet evaluate --run run --json >report.json
  [[ "$(json 'sorted(o)[:0] + [o["split"], o["filtered"], o["triples"], o["candidates"]]' <report.json)" == "['test', True, 2, 14]" ]]
  for key in mrr hits@1 hits@3 hits@10 mean_rank; do
    [[ "$(json "isinstance(o['$key'], (int, float)) and o['raw']['$key'] is not None and o['head']['$key'] is not None and o['tail']['raw']['$key'] is not None" <report.json)" == True ]]
  done
  [[ "$(json '0 < o["mrr"] <= 1 and o["mean_rank"] >= 1 and o["seconds"] >= 0' <report.json)" == True ]]
  [[ "$(json '"relations" in o' <report.json)" == False ]]
}

@test "evaluate: the same numbers for any number of threads and any memory" {
  "$OCTAVO" --quiet --threads 1 evaluate --run run --json | json '{**o, "seconds": 0}' >one
  "$OCTAVO" --quiet evaluate --run run --json --threads 2 --memory 32MiB | json '{**o, "seconds": 0}' >two
  cmp one two
}

@test "evaluate: table, per relation, and candidates" {
  "$OCTAVO" --quiet evaluate --run run --split train --per-relation >table
  grep -q 'among all 14 nodes' table
  grep -qE '^in +11 ' table
  grep -qE '^near +11 ' table
  "$OCTAVO" --quiet evaluate --run run --split train --per-relation --json | json '[r["triples"] for r in o["relations"]]' >counts
  [[ "$(cat counts)" == "[11, 11]" ]]
  "$OCTAVO" --quiet evaluate --run run --candidates 5 >table
  grep -q '5 random nodes of 14: not comparable' table
  [[ "$("$OCTAVO" --quiet evaluate --run run --split train --sample 7 --json | json 'o["triples"]')" == 7 ]]
}

@test "evaluate: wrong usage" {
  fails 2 "the graph has no valid edges" "$OCTAVO" evaluate --run run --split valid
  fails 2 "foo" "$OCTAVO" evaluate --run run --split foo
  fails 2 "expected a whole number" "$OCTAVO" evaluate --run run --candidates -1
  fails 2 "nowhere" "$OCTAVO" evaluate --run nowhere
  fails 2 "--run is required" "$OCTAVO" evaluate
  fails 2 "and --memory allows 1.0 MiB; the smallest --memory that would do is" \
    "$OCTAVO" evaluate --run run --memory 1MiB
  # The smallest that it names does, and one MiB less does not.
  local least
  least="$(sed -E 's/.*would do is ([0-9]+)MiB/\1/' err.log)"
  "$OCTAVO" --quiet evaluate --run run --memory "${least}MiB" >/dev/null
  fails 2 "evaluate needs" "$OCTAVO" evaluate --run run --memory "$((least - 1))MiB"
}

@test "evaluate: NaN in the embeddings is named" {
  cp -r run spoilt
  printf '\xff\xff\xff\xff' | dd of=spoilt/embeddings.npy bs=1 seek=$((4096 + 3 * 8 * 4 + 4)) conv=notrunc 2>/dev/null
  fails 1 "row 3 (node \"$(sed -n 4p graph/nodes.names)\") holds -nan in column 1" "$OCTAVO" evaluate --run spoilt
  # Whoever reads the partition whole finds that no training wrote it.
  fails 4 "spoilt/embeddings.npy: partition 0" "$OCTAVO" query --run spoilt neighbors city1
}
