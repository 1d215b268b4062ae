setup_file() { load reading.bash; make_run; }
setup() { load reading.bash; cd "$BATS_FILE_TMPDIR" || return 1; }

# octavo map with few epochs, so that each test is quick.
map() { "$OCTAVO" --quiet map --epochs 40 "$@"; }

@test "map: the principal plane is what numpy computes from the run" {
  "$OCTAVO" --quiet map run --kind pca --output plane.npy
  /usr/bin/python3 -c '
import numpy
points, rows = numpy.load("plane.npy"), numpy.load("run/embeddings.npy").astype(float)
assert points.shape == (14, 2) and points.dtype == numpy.float32, (points.shape, points.dtype)
assert open("plane.npy", "rb").read(8) == b"\x93NUMPY\x01\x00"
axes = numpy.linalg.svd(rows - rows.mean(0), full_matrices=False)[2][:2]
axes *= numpy.sign(axes[[0, 1], abs(axes).argmax(1)])[:, None]
assert numpy.allclose(points, (rows - rows.mean(0)) @ axes.T, atol=1e-5)'
}

@test "map: RUN and --run, the same bytes for any threads, another seed another map" {
  map run --output one.npy --threads 1
  map --run run --output two.npy --threads 3 --memory 64MiB --kind neighbors --neighbors 15 --seed 1
  cmp one.npy two.npy
  cmp one.npy.octavo two.npy.octavo
  map run --output other.npy --seed 2
  if cmp -s one.npy other.npy; then false; fi
  if cmp -s one.npy.octavo other.npy.octavo; then false; fi
  /usr/bin/python3 -c '
import numpy
points = numpy.load("one.npy")
assert points.shape == (14, 2) and numpy.isfinite(points).all()
assert abs(points.mean(0)).max() < 1e-4 and len({tuple(p) for p in points}) == 14'
  [[ -z "$(find . -name '.*octavo*' -o -name '.*partial*')" ]]
}

@test "map: --epochs 40 is fewer than the default, and the log says what was written" {
  "$OCTAVO" map run --output whole.npy 2>err.log
  grep -q '^whole.npy: 14 nodes, 4.1 KiB$' err.log
  "$OCTAVO" map run --output whole.npy 2>err.log
  grep -q '^whole.npy: 14 nodes, 4.1 KiB, replacing the existing file$' err.log
  map run --output short.npy
  if cmp -s whole.npy short.npy; then false; fi
  map run --output wide.npy --neighbors 3
  if cmp -s wide.npy short.npy; then false; fi
}

@test "map: wrong usage and damage leave nothing" {
  fails 2 "--output is required" "$OCTAVO" map run
  fails 2 "RUN is required" "$OCTAVO" map --output x.npy
  fails 2 "excludes" "$OCTAVO" map run --run run --output x.npy
  fails 2 "nowhere" "$OCTAVO" map nowhere --output x.npy
  fails 2 "a map must be a regular file" "$OCTAVO" map run --output -
  fails 2 "a map must be a regular file" "$OCTAVO" map run --output x.gz
  fails 2 "a map must be a regular file" "$OCTAVO" map run --output /dev/null
  fails 2 "is a file of the run" "$OCTAVO" map run --output run/embeddings.npy
  fails 2 "--kind" "$OCTAVO" map run --output x.npy --kind umap
  fails 2 '--neighbors: found "0"; expected a whole number from 1 to 256' "$OCTAVO" map run --output x.npy --neighbors 0
  fails 2 '--epochs: found "-1"' "$OCTAVO" map run --output x.npy --epochs -1
  fails 2 '--epochs: found --kind pca, which moves no node' "$OCTAVO" map run --output x.npy --kind pca --epochs 5
  fails 2 "map needs" "$OCTAVO" map run --output x.npy --memory 4MiB
  cp -r run broken
  printf x | dd of=broken/embeddings.npy bs=1 seek=4200 conv=notrunc status=none
  fails 4 "broken/embeddings.npy: partition 0" "$OCTAVO" map broken --output x.npy
  fails 4 "broken/embeddings.npy: partition 0" "$OCTAVO" map broken --output x.npy --kind pca
  [[ ! -e x.npy && ! -e x.npy.octavo && -z "$(find . -name '.*octavo*' -o -name '.*partial*')" ]]
}

@test "map: an interrupt leaves the old map and no other file" {
  "$OCTAVO" --quiet generate --kind kg --nodes 6000 --edges 20000 --relations 3 --output kg.tsv
  "$OCTAVO" --quiet import kg.tsv --graph kg
  "$OCTAVO" --quiet train --preset none --graph kg --run many --dim 4 --epochs 1 --negatives 8
  mkdir -p place
  "$OCTAVO" --quiet map many --epochs 1 --output place/m.npy
  cp -r place before
  local signal pid status
  for signal in INT TERM; do
    # A shell makes its background jobs ignore SIGINT.
    env --default-signal="$signal" "$OCTAVO" map many --epochs 100000 --output place/m.npy 2>err.log &
    pid=$! status=0
    sleep 1
    kill -"$signal" "$pid"
    wait "$pid" || status=$?
    [[ "$status" == "$(case "$signal" in INT) echo 130 ;; *) echo 143 ;; esac)" ]]
    grep -q 'interrupted; place/m.npy was not made' err.log
    diff -r place before
  done
}

@test "map: report draws it, and refuses one of another run or commit" {
  map run --output mine.npy
  "$OCTAVO" --quiet report --run run --output page.html --map mine.npy --no-evaluation
  grep -q 'near their nearest neighbours by cosine' page.html
  sed -n 's/.*id="map-data">\(.*\)<\/script>.*/\1/p' page.html >map.json
  /usr/bin/python3 -c '
import json, numpy
page, points = json.load(open("map.json")), numpy.load("mine.npy")
row = {name: i for i, name in enumerate(open("graph/nodes.names").read().splitlines())}
drawn = numpy.array([page["x"], page["y"]]).T
points = points[[row[name] for name in page["names"]]]
assert numpy.allclose(drawn, points / abs(points).max(), atol=1e-4)'
  "$OCTAVO" --quiet map run --kind pca --output plane.npy
  "$OCTAVO" --quiet report --run run --output page.html --map plane.npy --no-evaluation
  grep -q 'in the plane of the two principal components, which have [1-9]' page.html
  "$OCTAVO" --quiet train --preset none --graph graph --run next --model complex --dim 8 --epochs 2 --seed 1
  fails 4 "mine.npy: is not a map of run next; make one" "$OCTAVO" report --run next --map mine.npy --output x.html
  map next --output next.npy
  "$OCTAVO" --quiet resume --run next --epochs 3
  fails 4 "next.npy: is of generation" "$OCTAVO" report --run next --map next.npy --output x.html
  printf x | dd of=mine.npy bs=1 seek=4100 conv=notrunc status=none
  fails 4 "mine.npy: checksum" "$OCTAVO" report --run run --map mine.npy --output x.html
  fails 2 "none.npy: no such file" "$OCTAVO" report --run run --map none.npy --output x.html
  [[ ! -e x.html ]]
}
