# Names of files do not reach the terminal raw.
name=$(printf 'a\nb\033[31m\302\233\377ü.tfrecord')
make_examples "$name" 2
columnstone count "$name"
columnstone count --json "$name"
columnstone convert "$name" "$name.jsonl"
printf x >>"$name"
columnstone verify "$name" || echo "exit status $?"
columnstone count "$name" || echo "exit status $?"

# Nor does anything else that is not the program's own: ESC, U+009B (CSI) and U+202E (which turns the
# text round), in the names of columns, in values, in schemas and in names of files.
bad=$(printf 'a\033[31m\302\233b\342\200\256c\342\200\250d')
tame=$(printf %s "$bad" | tr -d '\033') # JSON has no ESC as it is
printf '{"%s": "v%s", "n": {"%s": [1]}}\n' "$tame" "$tame" "$tame" >"x$bad.jsonl"
printf '%s,b\n1,%s\n' "$bad" "$bad" >"x$bad.csv"
quiet() { # everything that is printed, on both outputs
  "$@" >out 2>&1 || echo "exit status $?"
  cat out
  # the bytes ESC and C2 9B, E2 80 AE, E2 80 A8
  ! od -An -v -tx1 out | tr -d ' \n' | grep -qE '1b|c29b|e280ae|e280a8' || echo 'RAW'
}
quiet columnstone head "x$bad.jsonl"
quiet columnstone info "x$bad.jsonl"
quiet columnstone info --json "x$bad.jsonl"
quiet columnstone schema tree "x$bad.jsonl"
quiet columnstone schema tree --json "x$bad.jsonl"
quiet columnstone schema infer "x$bad.csv"
quiet columnstone head "x$bad.csv"
cat >x.pbtxt <<'SCHEMA'
feature { name: "a\033[31m\302\233b\342\200\256c" type: INT presence { min_fraction: 1 } shape { dim { size: 1 } } }
feature { name: "p" type: BYTES }
SCHEMA
quiet columnstone schema spec x.pbtxt
quiet columnstone schema spec --json x.pbtxt
quiet columnstone schema spec --python x.pbtxt
quiet columnstone schema diff x.pbtxt /dev/null
quiet columnstone head "none$bad"
quiet columnstone head "$bad" --format "$bad"
quiet columnstone head "x$bad.jsonl" --columns "$bad"
printf 'from table [{a: int64}]\noutput n = dense(a)\n' >q.cstq
quiet columnstone view build q.cstq -o "$bad.cstv"
quiet columnstone view check "$bad.cstv"
