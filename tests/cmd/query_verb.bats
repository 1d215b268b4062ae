setup_file() { load reading.bash; make_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "query neighbors: table and JSON name the same nodes in falling order" {
  "$OCTAVO" query --run run neighbors "New York" -k 3 >table
  grep -q 'neighbors of "New York"' table
  "$OCTAVO" query neighbors "New York" -k 3 --run run --json >answer
  [[ "$(json 'o["node"], o["metric"], len(o["neighbors"])' <answer)" == "('New York', 'cosine', 3)" ]]
  json '"\n".join(n["node"] for n in o["neighbors"])' <answer | while read -r name; do grep -qF "$name" table; done
  [[ "$(json 'sorted((n["score"] for n in o["neighbors"]), reverse=True) == [n["score"] for n in o["neighbors"]]' <answer)" == True ]]
  [[ "$("$OCTAVO" query --run run neighbors city1 --json -k 100 | json 'len(o["neighbors"])')" == 13 ]]
}

@test "query predict: hides or marks the known, on both sides" {
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --json >hidden
  [[ "$(json '"country1" in [p["node"] for p in o["predictions"]], len(o["predictions"])' <hidden)" == "(False, 13)" ]]
  "$OCTAVO" query --run run predict city1 in '?' -k 14 --known mark --json >marked
  [[ "$(json '[p["node"] for p in o["predictions"] if p["known"]]' <marked)" == "['country1']" ]]
  "$OCTAVO" query --run run predict '?' in country2 -k 14 --known mark >table
  [[ "$(grep -c ' known$' table)" == 3 ]]
  # A test edge is known too.
  [[ "$("$OCTAVO" query --run run predict city1 near '?' -k 14 --json | json '"city7" in [p["node"] for p in o["predictions"]]')" == False ]]
}

@test "query: unknown names are errors with near spellings" {
  fails 2 'no node "New Yrok"; did you mean "New York"?' "$OCTAVO" query --run run neighbors "New Yrok"
  fails 2 'no node "nothing like it"' "$OCTAVO" query --run run neighbors "nothing like it"
  fails 2 'no node "esc\x1B[31m"' "$OCTAVO" query --run run neighbors $'esc\e[31m'
  # A name in brackets was once taken for a list.
  fails 2 'no node "[x,y]"' "$OCTAVO" query --run run predict '[x,y]' in '?'
  fails 2 'no relation "nera"; did you mean "near"?' "$OCTAVO" query --run run predict city1 nera '?'
}

@test "query: wrong usage" {
  fails 2 "expected ? for exactly one of them" "$OCTAVO" query --run run predict city1 in country1
  fails 2 "expected ? for exactly one of them" "$OCTAVO" query --run run predict '?' in '?'
  fails 2 "the graph has 2 relations" "$OCTAVO" query --run run predict city1 '?'
  fails 2 "expected a whole number from 1" "$OCTAVO" query --run run neighbors city1 -k 0
  fails 2 "the smallest --memory that would do is" "$OCTAVO" query --run run neighbors city1 --memory 1MiB
  fails 2 "NAME" "$OCTAVO" query --run run neighbors
  fails 2 "subcommand" "$OCTAVO" query --run run
}
