# Names of files do not reach the terminal raw.
name=$(printf 'a\nb\033[31m\302\233\377ü.tfrecord')
make_examples "$name" 2
columnstone count "$name"
columnstone count --json "$name"
columnstone convert "$name" "$name.jsonl" >out
sed 's/, [0-9.]* s$//' out
printf x >>"$name"
columnstone verify "$name" || echo "exit status $?"
columnstone count "$name" || echo "exit status $?"
