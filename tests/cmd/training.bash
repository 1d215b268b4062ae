# A small graph and ways to train it, for the tests of the verbs that train. Sourced by bats files; $OCTAVO is the
# program.

# Makes $BATS_FILE_TMPDIR/graph: 40 nodes, 3 relations, a few hundred edges.
make_graph() {
  cd "$BATS_FILE_TMPDIR" || return 1
  awk 'BEGIN { srand(3); for (i = 0; i < 400; ++i) printf "n%d\tr%d\tn%d\n", i % 40, rand() * 3, rand() * 40 }' \
    >train.tsv
  "$OCTAVO" --quiet import train.tsv --graph graph --columns head,relation,tail
}

# Flags for a training that takes only a moment.
tiny=(--preset none --dim 8 --batch 64 --chunk 16 --negatives 8 --epochs 3)

# fails CODE TEXT COMMAND...: the command exits with CODE and prints TEXT on standard error, nothing on standard output.
fails() {
  local code="$1" text="$2" status=0
  shift 2
  "$@" >out.log 2>err.log || status=$?
  if [[ "$status" != "$code" ]] || ! grep -qF -- "$text" err.log || [[ -s out.log ]]; then
    echo "exit $status, expected $code and \"$text\":"
    cat err.log out.log
    return 1
  fi
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.02
  done
}

tables() { (cd "$1" && sha256sum embeddings.npy optimizer.npy relations.npy relations.optimizer.npy); }

# The process trains batches to measure the machine; this file belongs to that (lib/train/machine_probe.cc).
measures() { ls -l "/proc/$1/fd" 2>ls.log | grep -q 'gradients.map (deleted)'; }

# terminate PID FATE: SIGTERM ends it with the code of that signal, and its err.log has the warning that names the fate
# of what it made. (A shell makes its background jobs ignore SIGINT.)
terminate() {
  local status=0
  kill -TERM "$1"
  wait "$1" || status=$?
  [ "$status" -eq 143 ]
  grep -qx "warning: interrupted; $2" err.log
}
