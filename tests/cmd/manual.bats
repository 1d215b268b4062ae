#!/usr/bin/env bats
# The manual pages: valid roff without warnings, and complete with regard to the help.

setup() { cd "$BATS_TEST_TMPDIR"; }

verbs() { "$OCTAVO" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

@test "every page is clean roff, and has every flag with its choices and default" {
  for verb in "" $(verbs); do
    "$OCTAVO" __manual $verb >page.1
    mandoc -T lint -W warning page.1
    MANWIDTH=200 man --warnings -E UTF-8 -l page.1 2>warnings.log | col -b >page.txt
    [ ! -s warnings.log ] || { cat warnings.log; return 1; }
    for flag in $("$OCTAVO" $verb --help-all | grep -oP '^  (-\w,)?\K--[a-z-]+'); do
      grep -q -- "$flag" page.txt || { echo "octavo-$verb lacks $flag"; return 1; }
    done
  done
  "$OCTAVO" __manual train | MANWIDTH=200 man -E UTF-8 -l - | col -b | tr -s ' \n' ' ' >page.txt
  grep -qF 'One of: dot, distmult, complex, transe, rotate, source-context or rescal. The default is complex.' page.txt
  grep -qF -- 'octavo train --run DIR --graph DIR' page.txt || grep -qF -- 'octavo train [OPTIONS] --run DIR --graph DIR' page.txt
}

@test "every help has examples with existing flags, and ends with an existing page" {
  for verb in "" $(verbs); do
    COLUMNS=1000 "$OCTAVO" $verb --help >help.txt
    sed -n '/^Examples:$/,/^$/s/^  //p' help.txt >examples.txt
    [ -s examples.txt ] || { echo "octavo $verb --help has no example"; return 1; }
    while read -r example; do
      named="$(grep -oP 'octavo \K[a-z]+' <<<"$example")"
      [[ "$named" == "${verb:-$named}" ]]
      for flag in $(grep -oP ' \K--[a-z-]+' <<<"${example#*octavo }"); do
        "$OCTAVO" __complete "$named" "$flag" | grep -q "^$flag	" || { echo "octavo $verb --help: $example: $flag?"; return 1; }
      done
    done <examples.txt
    [ -n "$verb" ] || continue
    page="$(tail -n 1 help.txt | sed -n "s/^More: octavo-$verb(1), //p")"
    grep -q "octavo $verb" "$BATS_TEST_DIRNAME/../../$page" || { echo "octavo $verb --help ends with: $(tail -n 1 help.txt)"; return 1; }
  done
}

@test "the changelog names every flag" {
  for verb in "" $(verbs); do
    "$OCTAVO" $verb --help-all >help.txt
    for flag in $(grep -oP '^  (-\w,)?\K--[a-z-]+' help.txt | grep -vxE -- '--(help|graph|run|output|seed|version)'); do
      grep -q -- "$flag\b" "$BATS_TEST_DIRNAME/../../CHANGELOG.md" || { echo "octavo $verb $flag"; return 1; }
    done
  done
}

@test "exit codes are the same in help, manual and reference, and the variables are those that the sources read" {
  "$OCTAVO" --help | sed -n '/^Exit codes:/,/^$/s/^  \([0-9, ]*[0-9]\)  .*/\1/p' | tr -d ' ' | tr ',' '\n' | sort >help.txt
  "$OCTAVO" __manual | sed -n '/^.SH EXIT/,/^.SH ENV/s/^\\fB\(.*\)\\fR$/\1/p' | tr -d ' ' | tr ',' '\n' | sort >manual.txt
  sed -n '/^## Exit codes/,/^## Env/s/^| \([0-9, ]*[0-9]\) | .*/\1/p' "$BATS_TEST_DIRNAME/../../docs/reference.md" |
    tr -d ' ' | tr ',' '\n' | sort >reference.txt
  [ -s help.txt ]
  cmp help.txt manual.txt
  cmp help.txt reference.txt
  cd "$BATS_TEST_DIRNAME/../.."
  "$OCTAVO" --help >"$BATS_TEST_TMPDIR/help.page"
  "$OCTAVO" __manual >"$BATS_TEST_TMPDIR/manual.page"
  # The plugin for MPI, in C, reads what a launcher has set; no user sets that.
  for name in $(grep -rhoP --include='*.cc' --include='*.h' 'getenv\("\K[A-Z0-9_]+' lib cmd); do
    grep -q "^  $name " "$BATS_TEST_TMPDIR/help.page" || { echo "the help lacks $name"; return 1; }
    grep -q "^.fB$name" "$BATS_TEST_TMPDIR/manual.page" || { echo "the manual lacks $name"; return 1; }
    grep -q "$name" docs/reference.md || { echo "docs/reference.md lacks $name"; return 1; }
  done
}
