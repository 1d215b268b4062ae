setup_file() { load reading.bash; make_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "index: it finds what an exact search finds" {
  "$OCTAVO" --quiet index --run run --output city.index --m 4 >report
  grep -q '^index of 14 nodes, 8 dimensions each, m 4, ef-construction 200$' report
  grep -q '^recall@10 1.0000 (ef 100, 14 nodes, against an exact search)$' report
  for name in "New York" city1 country2; do
    "$OCTAVO" query --run run neighbors "$name" -k 5 --json >exact
    "$OCTAVO" query --run run neighbors "$name" -k 5 --json --index city.index >found
    /usr/bin/python3 -c '
import json
exact, found = (json.load(open(f))["neighbors"] for f in ("exact", "found"))
assert [n["node"] for n in exact] == [n["node"] for n in found]
assert all(abs(a["score"] - b["score"]) < 1e-6 for a, b in zip(exact, found))'
  done
  "$OCTAVO" query --run run neighbors city1 --index city.index --recall 5 --ef 20 >table
  grep -q '^recall@10 1.0000 (ef 20, 5 nodes, against an exact search)$' table
  [[ "$("$OCTAVO" query --run run neighbors city1 --index city.index --recall 5 --json | json 'o["recall"]["recall"], o["ef"]')" == "(1.0, 100)" ]]
}

@test "index: the same bytes for any threads" {
  "$OCTAVO" --quiet index --run run --output one --threads 1 --recall 0
  "$OCTAVO" --quiet index --run run --output two --threads 4 --memory 40MiB --json | grep -q '"recall": 1.0'
  cmp one two
  cmp one.octavo two.octavo
}

@test "index: one of another run, another commit, or a damaged one is rejected" {
  "$OCTAVO" --quiet index --run run --output mine >/dev/null
  "$OCTAVO" --quiet train --preset none --graph graph --run other --model complex --dim 8 --epochs 2 --seed 1
  fails 4 "mine: is not an index of run other; build one" "$OCTAVO" query --run other neighbors city1 --index mine
  "$OCTAVO" --quiet index --run other --output others >/dev/null
  cmp mine others # the same vectors: only the header differs
  "$OCTAVO" --quiet resume --run other --epochs 3
  fails 4 "others: is of generation" "$OCTAVO" query --run other neighbors city1 --index others
  cp mine damaged
  cp mine.octavo damaged.octavo
  printf x | dd of=damaged bs=1 seek=700 conv=notrunc status=none
  fails 4 "damaged: checksum" "$OCTAVO" query --run run neighbors city1 --index damaged
  cp mine damaged
  truncate -s -1 damaged
  fails 4 "expected $(stat -c %s mine) by its header" "$OCTAVO" query --run run neighbors city1 --index damaged
  printf x | dd of=damaged.octavo bs=1 seek=40 conv=notrunc status=none
  fails 4 "damaged.octavo: a header whose checksum does not match" "$OCTAVO" query --run run neighbors city1 --index damaged
  rm damaged.octavo
  fails 2 "damaged.octavo: no such file" "$OCTAVO" query --run run neighbors city1 --index damaged
  cp -r run broken
  printf x | dd of=broken/embeddings.npy bs=1 seek=4200 conv=notrunc status=none
  fails 4 "broken/embeddings.npy: partition 0" "$OCTAVO" index --run broken --output x
  [[ ! -e x && ! -e x.octavo ]]
}

@test "index: wrong usage" {
  fails 2 "an index must be a regular file" "$OCTAVO" index --run run --output -
  fails 2 "an index must be a regular file" "$OCTAVO" index --run run --output x.zst
  fails 2 "an index must be a regular file" "$OCTAVO" index --run run --output /dev/null
  fails 2 "is a file of the run" "$OCTAVO" index --run run --output run/embeddings.npy
  fails 2 "--m: found \"1\"; expected a whole number from 2 to 1024" "$OCTAVO" index --run run --output x --m 1
  fails 2 "index needs" "$OCTAVO" index --run run --output x --memory 4MiB
  fails 2 "an index only supports cosine" "$OCTAVO" query --run run neighbors city1 --index x --metric dot
  fails 2 "--ef requires --index" "$OCTAVO" query --run run neighbors city1 --ef 5
  [[ ! -e x && ! -e x.octavo ]]
}
