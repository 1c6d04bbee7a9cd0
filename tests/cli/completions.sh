# What the completions of the shells find: by the program itself, and by the function of bash.
command -v bash >/dev/null || exit 0
printf 'fare,miles,company\n3.5,1.25,Blue\n' >trips.csv
columnstone convert trips.csv trips.tfrecord --lossy >done
echo '{"id": 1, "event": [{"query": "shoes", "price": [9.5]}]}' >log.jsonl
mkdir folder
cat >complete.bash <<'B'
. "$SOURCE/cli/completions/columnstone"
complete_line() {
  echo "> $*"
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  [ -z "${AT-}" ] || COMP_CWORD=$AT
  _columnstone
  printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}
complete_line columnstone s
complete_line columnstone schema ''
complete_line columnstone stats m
complete_line columnstone help view ''
complete_line columnstone convert --to-
complete_line columnstone convert --to = p
complete_line columnstone convert --to pa
complete_line columnstone convert --on-error ''
complete_line columnstone stats diff --kind s
complete_line columnstone head trips.tfrecord -c ''
complete_line columnstone head trips.tfrecord --columns fare,m
AT=3 complete_line columnstone head -c mi trips.csv
complete_line columnstone head log.jsonl --path event.
complete_line columnstone convert trips.csv --names a,b,c --columns ''
complete_line columnstone info t
complete_line columnstone lineage init --root ''
complete_line columnstone lineage ls ''
complete_line columnstone head -n ''
complete_line columnstone head missing.tfrecord -c ''
complete_line columnstone frobnicate ''
complete_line columnstone head --frobnicate -c ''
complete_line columnstone convert trips.csv --message-option en
B
bash complete.bash
echo 'the protocol'
columnstone __complete 1 head --ro
columnstone __complete 1 head --format=ex
columnstone __complete 2 head -c fare, trips.csv
columnstone __complete 9 head || echo "exit status $?"
# the other shells take the file
for shell in zsh fish; do
  case $shell in zsh) file=_columnstone ;; fish) file=columnstone.fish ;; esac
  ! command -v $shell >/dev/null || $shell -n "$SOURCE/cli/completions/$file"
done
# zsh, with what its completion system would be called with in the place of the system
if command -v zsh >/dev/null; then
  cat >complete.zsh <<'Z'
compdef() { }
_files() { print "files $*" >>shown }
_describe() { print -l "${(@P)3}" "options <${(j:> <:)@[4,-1]}>" >>shown }
source $SOURCE/cli/completions/_columnstone
words=(columnstone head trips.tfrecord -c fa) CURRENT=5; _columnstone
words=(columnstone stats diff --kind s) CURRENT=5; _columnstone
words=(columnstone info t) CURRENT=3; _columnstone
words=(columnstone lineage init --root '') CURRENT=5; _columnstone
words=(columnstone head 'a\ file.csv' -c '') CURRENT=5; _columnstone
Z
  cp trips.csv 'a file.csv'
  zsh -f complete.zsh
  printf '%s\n' fare:column 'options <-S> <>' skew: 'options <>' 'files ' 'files -/' \
    fare:column miles:column company:column 'options <-S> <>' | diff - shown
fi
if command -v fish >/dev/null; then
  HOME=$PWD fish -c "source '$SOURCE/cli/completions/columnstone.fish'; complete -C 'columnstone head trips.tfrecord -c fa'" >found
  printf 'fare\tcolumn\n' | cmp - found
fi
