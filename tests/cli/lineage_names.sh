# Names with quotes, newlines and what a terminal obeys, in all that verbs of lineage print.
bad=$(printf "a'\"\$(x)\n\033[31m\302\233b\342\200\256c")
tame=$(printf "a'\"\$(x)b\302\233\342\200\256c") # names of artifacts have no control characters
export COLUMNSTONE_LINEAGE="$bad.db"
quiet() { # everything that is printed, on both outputs
  "$@" >out 2>&1 || echo "exit status $?"
  sed "s|$PWD|FOLDER|g; s/20[0-9][0-9]-[0-9-]* [0-9:]*/TIME/g; s/\(created\|updated\)\": [0-9]*/\1\": 0/g" out
  # the bytes ESC and C2 9B, E2 80 AE
  ! od -An -v -tx1 out | tr -d ' \n' | grep -qE '1b|c29b|e280ae' || echo 'RAW'
}
quiet columnstone lineage init "$bad.db"
make_examples "$bad.tfrecord" 2
quiet columnstone lineage add examples "$bad.tfrecord" --name "it's \"quoted\" ü" --split "$bad" --property "$bad=$bad"
quiet columnstone lineage add "$bad" "$bad.tfrecord" --name "$bad"
quiet columnstone lineage add "$tame" "$bad.tfrecord" --name "$tame"
quiet columnstone lineage ls
quiet columnstone lineage ls --json
quiet columnstone lineage show "it's \"quoted\" ü"
quiet columnstone lineage show 1 --json
quiet columnstone lineage add model "$bad.tfrecord" --name m --from 1 --by "$bad" --context "$bad=$bad"
quiet columnstone lineage trace m
quiet columnstone lineage ls executions
quiet columnstone lineage ls contexts
quiet columnstone count "lineage:it's \"quoted\" ü"
quiet columnstone lineage show "none$bad"
rm "$bad.tfrecord"
quiet columnstone lineage check
quiet columnstone lineage check --json
