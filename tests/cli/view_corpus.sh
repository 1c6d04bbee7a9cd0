# Saved views of every version of the format: they open, say of themselves what they said, and make
# of their input what they made. tests/data/views/add adds one.
for view in "$SOURCE"/tests/data/views/v*/*.cstv; do
  name=${view%.cstv}
  columnstone view show "$view" --json | diff "$name.json" -
  columnstone convert "$SOURCE/tests/data/views/$(cat "$name.input")" - --to json --view "$view" | diff "$name.rows" -
  echo "${name##*/}"
done
