setup_file() { load reading.bash; make_run; }
setup() {
  load reading.bash
  check_report="$BATS_TEST_DIRNAME/check_report.py"
  cd "$BATS_FILE_TMPDIR" || return 1
}

@test "report: the page is complete and its map equals what numpy computes from run and edges" {
  "$OCTAVO" --quiet report --run run --output page.html
  /usr/bin/python3 "$check_report" page.html run graph train.txt
  "$OCTAVO" --quiet report --run run --output page.html --sample 5
  /usr/bin/python3 "$check_report" page.html run graph train.txt | grep -q '^5 nodes'
  for id in learning embeddings work disk configuration; do grep -q "section id=\"$id\"" page.html; done
  # No valid edges: nothing is ranked unless requested.
  [[ "$(grep -c 'section id="quality"' page.html)" == 0 ]]
}

@test "report: the same bytes for any number of threads and any memory" {
  "$OCTAVO" --quiet --threads 1 report --run run --output one.html --split test
  "$OCTAVO" --quiet --threads 3 --memory 48MiB report --run run --output - --split test >three.html
  cmp one.html three.html
}

@test "report: ranks are those of evaluate" {
  "$OCTAVO" --quiet report --run run --output page.html --split train --evaluation-sample 0
  local mrr
  mrr="$("$OCTAVO" --quiet evaluate --run run --split train --json | json '"%.4f" % o["mrr"]')"
  grep -q "<strong>$mrr</strong>" page.html
  grep -q '22 of 22 edges of the train split, each end ranked among all 14 nodes' page.html
  "$OCTAVO" --quiet report --run run --output page.html --no-evaluation --sample 0
  [[ "$(grep -cE 'id="(quality|map)"' page.html)" == 0 ]]
}

@test "report: classes colour the map" {
  printf 'city1\tbig old\ncity2\tbig\ncountry0\told\nAtlantis\told\n' >labels.txt
  "$OCTAVO" report --run run --output page.html --labels labels.txt --sample 4 2>err.log
  grep -q 'labels.txt: left out 1 line with names' err.log
  sed -n 's/.*id="map-data">\(.*\)<\/script>.*/\1/p' page.html >map.json
  # Nodes with a class come first; a node has the class that most have, and counts there.
  [[ "$(json 'sorted(zip(o["names"], [o["classes"][i] if i >= 0 else "" for i in o["class"]]))[:3]' <map.json)" == "[('city1', 'big'), ('city2', 'big'), ('country0', 'old')]" ]]
}

@test "report: partitions, validations, and a run whose training continues" {
  "$OCTAVO" --quiet generate --kind kg --nodes 6000 --edges 20000 --relations 3 --output kg.tsv
  "$OCTAVO" --quiet import kg.tsv --graph kg --split 0.9,0.05,0.05
  "$OCTAVO" --quiet train --preset none --graph kg --run divided --dim 4 --epochs 2 --negatives 8 --partitions 3 --resident 2 \
    --validate-every 1 --validation-sample 50 --memory 300MiB
  "$OCTAVO" --quiet report --run divided --output page.html --evaluation-sample 50
  grep -q 'Partitions in memory, epoch 2' page.html
  grep -q 'By the plan: 2 at a time of 3 partitions' page.html
  grep -q 'best validation MRR' page.html
  grep -q 'of 300 MiB allowed' page.html
  # What a training writes after its last commit is not shown yet.
  printf '{"event":"epo' >>divided/metrics.jsonl
  "$OCTAVO" --quiet report --run divided --output again.html --evaluation-sample 50
  cmp page.html again.html
}

@test "report: long names keep their ends in the map, and a page replaces the old one" {
  iri="http://example.org/$(printf 'x%.0s' {1..180})/country/C3"
  printf '%s\tr\tb\n%s/%s\tr\tb\n' "$iri" "$(printf 'y%.0s' {1..60000})" C4 >long.tsv
  "$OCTAVO" --quiet import long.tsv --graph long --columns head,relation,tail
  "$OCTAVO" --quiet train --preset none --graph long --run long-run --dim 4 --epochs 1 --model distmult --negatives 4
  "$OCTAVO" report --run long-run --output long.html 2>err.log
  [[ "$(grep -c 'replacing the existing' err.log)" == 0 ]]
  sed -n 's/.*id="map-data">\(.*\)<\/script>.*/\1/p' long.html >map.json
  [[ "$(json "[sorted(n[-3:] for n in o['names']), '$iri' in o['names'], max(map(len, o['names'])) < 300]" <map.json)" == "[['/C3', '/C4', 'b'], True, True]" ]]
  "$OCTAVO" report --run long-run --output long.html 2>err.log
  grep -q 'long.html: .*, replacing the existing file' err.log
  "$OCTAVO" export --run long-run --output long.html --format npy 2>err.log
  grep -q 'long.html: .*, replacing the existing file' err.log
}

@test "report: wrong usage and damage leave nothing" {
  fails 2 "--output is required" "$OCTAVO" report --run run
  fails 2 "is a file of the run or its graph" "$OCTAVO" report --run run --output run/../run/STATE
  fails 2 "the graph has no valid edges" "$OCTAVO" report --run run --output new.html --split valid
  fails 2 "--sample" "$OCTAVO" report --run run --output new.html --sample 20001
  fails 2 "excludes" "$OCTAVO" report --run run --output new.html --no-evaluation --split test
  fails 2 "nowhere" "$OCTAVO" report --run nowhere --output new.html
  fails 2 "the smallest sufficient --memory is" "$OCTAVO" report --run run --output new.html --memory 1MiB
  local least
  least="$(sed -nE 's/.*sufficient --memory is ([0-9]+)MiB/\1/p' err.log)"
  "$OCTAVO" --quiet report --run run --output page.html --memory "${least}MiB"
  fails 2 "report needs" "$OCTAVO" report --run run --output new.html --memory "$((least - 1))MiB"
  cp -r run spoilt
  sed -i '2s/"loss"/loss/' spoilt/metrics.jsonl
  fails 4 "spoilt/metrics.jsonl:2: found" "$OCTAVO" report --run spoilt --output new.html
  [[ "$(ls -a | grep -cE '^new.html$|partial')" == 0 ]]
}
