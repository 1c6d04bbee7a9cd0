# What changed between two statistics: of data, of saved ones, of slices; thresholds and errors.
rows() { # FIRST LAST CASH-MODULUS
  seq "$1" "$2" | awk -v m="$3" '{ print "{\"fare\": " $1 ", \"pay\": \"" ($1 % m ? "Cash" : "Mobile") "\", \"day\": " $1 % 2 ($1 % 4 ? ", \"tip\": 1" : "") "}" }'
}
rows 1 100 1000 >a.jsonl
rows 21 140 8 >b.jsonl
columnstone stats diff a.jsonl b.jsonl
columnstone stats diff a.jsonl a.jsonl
columnstone stats a.jsonl --by day -o a.cststats && columnstone stats b.jsonl --by day -o b.cststats
columnstone stats diff a.cststats b.cststats --threshold linf=0.1,psi=100,rows=0.1 || echo "exit status $?"
columnstone stats diff a.cststats b.cststats --threshold linf=0.1,slices=true | grep -c '!'
cat >schema.pbtxt <<'END'
feature { name: "pay" type: BYTES unique_constraints { max: 1 }
  drift_comparator { infinity_norm { threshold: 0.05 } }
  skew_comparator { jensen_shannon_divergence { threshold: 0.01 } } }
feature { name: "fare" type: INT }
feature { name: "day" type: INT }
feature { name: "tip" type: INT presence { min_fraction: 0.9 } }
dataset_constraints { max_examples_count: 1000 }
END
columnstone stats diff a.cststats b.cststats --schema schema.pbtxt || echo "exit status $?"
columnstone stats diff a.cststats b.cststats --schema schema.pbtxt --kind skew | grep '!'
columnstone schema check schema.pbtxt b.jsonl --places 1 --no-tensors --previous a.cststats --serving b.cststats || echo "exit status $?"
columnstone stats diff a.jsonl b.jsonl --columns pay --json | head -c 400 && echo
columnstone stats diff a.jsonl b.jsonl -o drift.arrow && columnstone head drift.arrow -n 1 --columns path,state
columnstone stats diff a.jsonl || echo $?
columnstone stats diff a.jsonl b.jsonl a.jsonl || echo $?
columnstone stats diff a.jsonl b.jsonl --threshold psi || echo $?
columnstone stats diff a.jsonl b.jsonl --threshold psy=1 || echo $?
columnstone stats diff a.jsonl b.jsonl --kind drfit || echo $?
columnstone stats diff a.jsonl missing.jsonl || echo $?
columnstone stats diff a.jsonl b.jsonl --html both.html || echo $?
grep -c '"name":"b.jsonl"\|"drift":{"columns":\["slice","path"' both.html
columnstone stats diff a.jsonl b.jsonl --html both.html || echo $?
