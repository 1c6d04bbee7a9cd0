cat >data.jsonl <<'S'
{"id": [1], "city": ["oslo"], "tags": ["a", "b"], "x_index": [0, 4], "x_value": [0.5, 1.5], "t": [1, 2, 3], "t_lengths": [2, 1]}
{"id": [2], "city": ["rome"], "tags": [], "x_index": [], "x_value": [], "fare": [7.25], "t": [4], "t_lengths": [1]}
{"id": [3], "city": ["oslo"], "tags": ["a"], "x_index": [7], "x_value": [2.5], "t": [], "t_lengths": []}
{"id": [4], "city": ["rome"], "tags": ["b"], "x_index": [1], "x_value": [1], "t": [], "t_lengths": []}
S
columnstone convert data.jsonl data.tfrecord --to example >/dev/null
columnstone schema infer data.tfrecord --propose -o proposed.pbtxt
cat proposed.pbtxt
columnstone schema check proposed.pbtxt data.tfrecord >/dev/null || echo "check: exit status $?"
columnstone schema infer data.tfrecord -o inferred.pbtxt
columnstone schema diff inferred.pbtxt proposed.pbtxt | grep -v '^. added' || true
columnstone schema infer data.tfrecord --propose --group train --ragged --max-domain 1 | grep -E 'ragged|key: "train"|value:' | sort | uniq -c | sed 's/^ *//'
columnstone schema infer data.tfrecord --ragged || echo "exit status $?"
columnstone schema infer data.tfrecord --propose --max-domain 0 || echo "exit status $?"
