# What is not there, cannot be read, or has no such column.
columnstone schema tree || echo "exit status $?"
columnstone schema tree nothing.jsonl || echo "exit status $?"
printf 'price,city\n1,Bern\n' >t.csv
columnstone schema tree t.csv --columns prise || echo "exit status $?"
printf '{"a": 1}\n{"a": [1}\n' >damaged.jsonl
columnstone schema tree damaged.jsonl || echo "exit status $?"
columnstone schema trea t.csv || echo "exit status $?"
columnstone schema tree t.csv --ascii --json || echo "exit status $?"
# Nor does a pipe pass for rows without columns; one without bytes is.
columnstone schema tree - <t.csv || echo "exit status $?"
columnstone schema tree - </dev/null
