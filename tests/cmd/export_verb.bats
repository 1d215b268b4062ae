setup_file() { load reading.bash; make_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

@test "export: npy and names are the run's and the graph's own" {
  "$OCTAVO" --quiet export --run run --output out.npy --names out.names
  cmp out.npy run/embeddings.npy
  cmp out.names graph/nodes.names
  [[ ! -e out.npy.partial ]]
}

@test "export: standard output, and relations" {
  "$OCTAVO" --quiet export --run run --output - --format tsv >all.tsv
  [[ "$(wc -l <all.tsv)" == 14 ]]
  cut -f1 all.tsv | cmp - graph/nodes.names
  "$OCTAVO" --quiet export --run run --output - --format word2vec --table relations >relations.txt
  [[ "$(head -1 relations.txt)" == "2 8" ]]
  [[ "$(cut -d' ' -f1 relations.txt | tail -2 | xargs)" == "in near" ]]
}

@test "export: word2vec replaces blanks and says how many" {
  "$OCTAVO" --quiet export --run run --output out.w2v --format word2vec 2>warning
  grep -q '^New_York ' out.w2v
  grep -q 'warning: 1 of 14 names' warning
}

@test "export: wrong usage leaves every file as it was" {
  cp -r run before
  fails 2 "is a file of the run or its graph" "$OCTAVO" export --run run --output run/embeddings.npy
  fails 2 "is a file of the run or its graph" "$OCTAVO" export --run run --output x.npy --names run/../graph/nodes.names
  fails 2 "the smallest --memory that would do is" "$OCTAVO" export --run run --output x --memory 1MiB
  [[ ! -e x ]]
  fails 2 "hdf5" "$OCTAVO" export --run run --output x --format hdf5
  fails 2 "no folder absent" "$OCTAVO" export --run run --output absent/x.npy
  fails 2 "is a folder" "$OCTAVO" export --run run --output graph
  fails 2 "--output goes there too" "$OCTAVO" export --run run --output x --names x
  diff -r run before
}

@test "export: a full disk leaves no file" {
  OCTAVO_FAILPOINT=file.write=enospc fails 1 "No space left" "$OCTAVO" --quiet export --run run --output full.npy
  [[ ! -e full.npy && ! -e full.npy.partial ]]
}

@test "export: a reader that left is an error with a message" {
  { sleep 0.3; fails 1 "the reader closed the pipe" "$OCTAVO" --quiet export --run run --output /dev/fd/9 9>&1; echo $? >code; } | true
  for _ in 1 2 3 4 5 6 7 8 9 10; do [[ -s code ]] && break; sleep 0.3; done
  [[ "$(cat code)" == 0 ]]
}
