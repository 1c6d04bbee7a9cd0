# A plug-in that is a program, from the examples.
mkdir plugins
cp "$SOURCE/examples/columnstone-format-psv" plugins
export COLUMNSTONE_PLUGIN_PATH="$PWD/plugins"
printf 'a|b\n1|x\n2|y\n3|z\n' >t.psv
columnstone head t.psv -n 2
columnstone head t.psv -c b -n 1
columnstone count t.psv
columnstone verify t.psv
columnstone head t.psv -c c || echo "exit status $?"
columnstone convert t.psv u.psv >>log && cmp t.psv u.psv
columnstone convert t.psv t.jsonl >>log && cat t.jsonl
cp t.psv ./-t.psv
columnstone head ./-t.psv -n 1
printf 'a|b\n1|x,y\n' >comma.psv
columnstone head comma.psv || echo "exit status $?"
columnstone head - --format psv <t.psv || echo "exit status $?"
columnstone convert t.psv - --to psv || echo "exit status $?"
COLUMNSTONE_PLUGIN_PATH=none columnstone head t.psv --format psv 2>none.log || echo "exit status $?"

# Whatever a program does wrong is an error with the file's name, and no process is left.
columnstone convert t.psv good.arrows >>log
bad() { # NAME LINE ...: a program that does this
  name=$1
  shift
  printf '#!/bin/sh\n' >plugins/columnstone-format-bad
  printf '%s\n' "$@" >>plugins/columnstone-format-bad
  chmod +x plugins/columnstone-format-bad
  echo "$name" >&2
  columnstone head t.psv --format bad >>bad.out || echo "exit status $?" >&2
}
good="cat '$PWD/good.arrows'"
bad 'says why' 'echo one >&2; echo two >&2; exit 3'
bad 'says nothing' 'exit 3'
bad 'is killed' 'kill -9 $$'
bad 'writes nothing' 'exit 0'
bad 'ends too early' "$good | head -c 300"
bad 'leaves out the end mark' "$good | head -c -8"
bad 'fails after all' "$good; echo late >&2; exit 1"
bad 'writes on' "$good; echo more"
bad 'writes something else' 'echo no Arrow at all, but long enough to be looked at'
bad 'is structured' 'echo "columnstone-code: CORRUPT" >&2' 'echo "columnstone-record: 7" >&2' \
  'echo "columnstone-path: a" >&2' 'echo "columnstone-hint: mend it" >&2' 'echo broken >&2' 'exit 1'
bad 'talks a lot' 'i=0; while [ $i -lt 20000 ]; do echo "line $i of much talk" >&2; i=$((i+1)); done' \
  'exit 1'
bad 'says what is no text' "printf '\\377\\001x\\n' >&2; exit 1"
bad 'is well, and talks' "echo a warning >&2; $good"
cat bad.out
printf '#!/nowhere/at/all\n' >plugins/columnstone-format-bad
columnstone head t.psv --format bad 2>&1 | sed "s|$PWD|.|" || true
chmod -x plugins/columnstone-format-bad
columnstone head t.psv --format bad 2>none.log || echo "exit status $?"
echo 'writers' >&2
bad_writer() {
  printf '#!/bin/sh\n%s\n' "$1" >plugins/columnstone-format-bad
  chmod +x plugins/columnstone-format-bad
  columnstone convert many.jsonl out.bad >>log || echo "exit status $?" >&2
}
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "{\"a\": \"%050d\"}\n", i }' >many.jsonl
bad_writer 'echo "no room" >&2; exit 1'
bad_writer 'exit 0'
bad_writer 'cat >/dev/null; exit 4'
bad_writer 'for f; do :; done; cat >$f; echo "kept $(wc -c <$f)" >>'"'$PWD/kept'"
[ -s out.bad ] && columnstone count out.bad --format arrows

# A pass that ends early ends the program, and what it has started.
printf '#!/bin/sh\necho $$ >"%s/pid"\n%s\nsleep 100 & wait\n' "$PWD" "$good" \
  >plugins/columnstone-format-bad
columnstone head t.psv --format bad -n 1
! kill -0 "$(cat pid)" 2>/dev/null && echo 'it has ended'
ls
