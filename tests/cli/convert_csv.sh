# CSV in, with types found from all of the data, and out again.
printf 'id,name,x,tags\n1,"Ann, B.",0.5,a|b\n2,,,c\n30000000000,"say ""hi""",-1e3,\n' >a.csv
columnstone head a.csv
columnstone convert a.csv b.jsonl >out
columnstone convert b.jsonl c.csv >out
columnstone convert c.csv - --to json | cmp - b.jsonl
cat c.csv
columnstone convert a.csv - --to json --multivalent tags
columnstone convert a.csv d.tsv >out
head -n 2 d.tsv
columnstone convert a.csv d.tfrecord --columns id,x >out
columnstone head d.tfrecord
columnstone schema infer a.csv --json >schema.json
printf 'a;b\n1;2\n' | columnstone convert - - --format csv --to csv -d ';'
printf 'a,b\n1,2,3\n' >wide.csv
columnstone head wide.csv || echo "exit status $?"
printf 'a,b\n1,2\n1,2,3\n4,5\n' >some.csv
columnstone convert some.csv - --to json --on-error skip || echo "exit status $?"
columnstone count a.csv
