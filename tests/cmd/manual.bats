#!/usr/bin/env bats
# The manual pages: roff without a warning, and all that the help has.

setup() { cd "$BATS_TEST_TMPDIR"; }

verbs() { "$OCTAVO" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

@test "every page is clean roff, and has every flag with its choices and default" {
  for verb in "" $(verbs); do
    "$OCTAVO" __manual $verb >page.1
    mandoc -T lint -W warning page.1
    MANWIDTH=200 man --warnings -E UTF-8 -l page.1 2>warnings.log | col -b >page.txt
    [ ! -s warnings.log ] || { cat warnings.log; return 1; }
    for flag in $("$OCTAVO" $verb --help | grep -oP '^  (-\w,)?\K--[a-z-]+'); do
      grep -q -- "$flag" page.txt || { echo "octavo-$verb lacks $flag"; return 1; }
    done
  done
  "$OCTAVO" __manual train | MANWIDTH=200 man -E UTF-8 -l - | col -b | tr -s ' \n' ' ' >page.txt
  grep -qF 'One of: dot, distmult, complex, transe, rotate or source-context. The default is complex.' page.txt
  grep -qF -- 'octavo train --run DIR --graph DIR' page.txt || grep -qF -- 'octavo train [OPTIONS] --run DIR --graph DIR' page.txt
}

@test "exit codes are the same in help, manual and README, and variables are those that the sources read" {
  "$OCTAVO" --help | sed -n '/^Exit codes:/,/^$/s/^  \([0-9, ]*[0-9]\)  .*/\1/p' | tr -d ' ' | tr ',' '\n' | sort >help.txt
  "$OCTAVO" __manual | sed -n '/^.SH EXIT/,/^.SH ENV/s/^\\fB\(.*\)\\fR$/\1/p' | tr -d ' ' | tr ',' '\n' | sort >manual.txt
  sed -n '/^## Exit codes/,/^## Libraries/s/^| \([0-9, ]*[0-9]\) | .*/\1/p' "$BATS_TEST_DIRNAME/../../README.md" |
    tr -d ' ' | tr ',' '\n' | sort >readme.txt
  [ -s help.txt ]
  cmp help.txt manual.txt
  cmp help.txt readme.txt
  cd "$BATS_TEST_DIRNAME/../.."
  for name in $(grep -rhoP 'getenv\("\K[A-Z_]+' lib cmd); do
    "$OCTAVO" --help | grep -q "^  $name "
    "$OCTAVO" __manual | grep -q "^.fB$name"
    grep -q "$name" README.md
  done
}
