# Statistics: a line for each feature, slices, weights, the table as JSON and as a file.
printf '{"a": 1, "t": ["x", "y"], "s": [{"u": 1.5}, {"u": null}], "g": "p", "w": 1}\n' >rows.jsonl
printf '{"a": null, "t": [], "s": null, "g": "q", "w": 2}\n' >>rows.jsonl
printf '{"a": 5, "t": null, "s": [], "g": "p", "w": 3}\n' >>rows.jsonl
columnstone stats rows.jsonl
columnstone stats rows.jsonl --by g --columns a,t
columnstone stats rows.jsonl --weight w --columns a,t
printf '{"größe": 1, "名前": "x"}\n' >names.jsonl && columnstone stats names.jsonl
columnstone stats rows.jsonl --columns a,w,g --by g -O pairs=a:w,g:a
columnstone stats rows.jsonl --by a -O slices=1 --columns a | tail -n 1
columnstone stats rows.jsonl --columns a,t --json -O quantiles=2 -O buckets=1
columnstone stats rows.jsonl -o found.arrow && columnstone head found.arrow -n 1 | cut -c1-60
for i in $(seq 1000); do echo "{\"g\": $i}"; done >many.jsonl
for n in $(seq 50 10 900); do # until it is told, and before it is an error
  columnstone stats many.jsonl --by g --columns g -O slices=$n -O memory=1 | tail -n 3 >told
  ! grep -q scarce told || break
done
sed 's/scarce: 0.[89] of/scarce: N of/' told
columnstone stats rows.jsonl --columns b || echo $?
columnstone stats rows.jsonl --weight t || echo $?
columnstone stats rows.jsonl --by s || echo $?
columnstone stats rows.jsonl -O error=2 || echo $?
columnstone stats rows.jsonl -O quantiles || echo $?
columnstone stats || echo $?
printf '{"g": "a", "a": 7}\n{"g": "b"}\n' >more.jsonl
columnstone stats rows.jsonl --columns a,g -o one.cststats && columnstone stats more.jsonl --columns a,g -o two.cststats.gz
columnstone stats one.cststats two.cststats.gz
columnstone stats merge one.cststats two.cststats.gz -o both.cststats && columnstone stats both.cststats | head -n 1
columnstone stats merge one.cststats -o both.cststats || echo $?
columnstone stats merge one.cststats || echo $?
columnstone stats merge more.jsonl -o x.cststats || echo $?
columnstone stats one.cststats more.jsonl || echo $?
columnstone stats one.cststats --by g || echo $?
columnstone stats more.jsonl -o two.cststats --force && columnstone stats one.cststats two.cststats || echo $?
cp more.jsonl fake.cststats && columnstone stats fake.cststats || echo $?
columnstone stats rows.jsonl --html page.html && grep -c '"name":"rows.jsonl"' page.html
columnstone stats one.cststats two.cststats.gz --html page.html || echo $?
columnstone stats one.cststats two.cststats.gz --html page.html --force -o both.cststats --force && grep -c '"name":"one.cststats and 1 more"' page.html
columnstone stats rows.jsonl --by nosuch || echo $?
printf '{"two\\nlines": 1, "\\u001b[31m": "\\u001b[0m", "b": 2}\n' >odd.jsonl
columnstone stats odd.jsonl
