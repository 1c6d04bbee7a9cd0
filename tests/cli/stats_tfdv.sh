# Statistics as TFDV's proto, written and read, by its name and by its bytes.
printf '{"a": 1, "t": ["x", "y"], "s": [{"u": 1.5}, {"u": null}], "g": "p", "w": 1}\n' >rows.jsonl
printf '{"a": null, "t": [], "s": null, "g": "q", "w": 2}\n' >>rows.jsonl
printf '{"a": 5, "t": null, "s": [], "g": "p", "w": 3}\n' >>rows.jsonl
columnstone stats rows.jsonl --by g -o stats.pb && columnstone stats stats.pb -o again.pb && cmp stats.pb again.pb
columnstone stats rows.jsonl --columns a,t -o stats.bin --to tfdv && columnstone stats stats.bin
columnstone stats rows.jsonl --columns a --to tfdv -o - | cmp -n 1 - stats.pb
columnstone stats diff stats.pb rows.jsonl | head -n 1
columnstone stats stats.pb -o tfdv.cststats || echo $?
columnstone stats stats.pb again.pb || echo $?
columnstone stats stats.pb --by g || echo $?
columnstone stats merge stats.pb -o merged.cststats || echo $?
head -c 40 stats.pb >cut.pb && columnstone stats cut.pb || echo $?
cat stats.pb >two.pb; columnstone stats rows.jsonl --by t --columns a -o - --to tfdv >>two.pb; columnstone stats two.pb | grep ': . rows'
