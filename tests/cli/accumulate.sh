# Any accumulator, by its name.
printf '{"a": [1, 2], "s": {"b": [[1], [], null]}, "t": "x"}\n{"a": [], "s": {"b": null}, "t": "y"}\n' >d.jsonl
printf '{"a": null, "s": null, "t": "y"}\n' >e.jsonl
columnstone accumulate
columnstone accumulate lengths d.jsonl e.jsonl
columnstone accumulate lengths d.jsonl --json -O columns=s,t
columnstone accumulate lengths d.jsonl -O columns=t --json # nothing is found
columnstone accumulate counts d.jsonl e.jsonl -o counts.csv && cat counts.csv
columnstone accumulate inference e.jsonl d.jsonl
printf 'n,s\n1,x\n2,y\n' >one.csv
printf 'n,s\n1,x\nz,y\n' >two.csv
columnstone accumulate proposal one.csv -O max_domain=5 -O ragged=true
columnstone schema infer one.csv -o schema.pbtxt
columnstone accumulate validation two.csv -O schema=schema.pbtxt -O places=1 --json
columnstone accumulate counts d.jsonl -o counts.csv || echo "exit status $?"
columnstone accumulate count d.jsonl || echo "exit status $?"
columnstone accumulate lengths d.jsonl -O columns=none || echo "exit status $?"
columnstone accumulate lengths d.jsonl -O columns=a -O columns=s || echo "exit status $?"
columnstone accumulate lengths d.jsonl -O columns || echo "exit status $?"
columnstone accumulate -o counts.json || echo "exit status $?"
columnstone accumulate counts d.jsonl --to csv || echo "exit status $?"
columnstone accumulate lengths d.jsonl -O column=a || echo "exit status $?"
columnstone accumulate lengths || echo "exit status $?"
columnstone accumulate validation two.csv || echo "exit status $?"
columnstone accumulate proposal one.csv -O max_domain=0 || echo "exit status $?"

echo 'damaged records'
printf 'a,b\n1,2\n3\n4,5\n6\n' >cut.csv
columnstone accumulate counts cut.csv --on-error skip || echo "exit status $?"
columnstone accumulate counts cut.csv --on-error skip --max-errors 1 || echo "exit status $?"
