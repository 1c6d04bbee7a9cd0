# Pictures, OpenLineage, and ML Metadata there and back.
export COLUMNSTONE_LINEAGE=lineage.db
cli() { columnstone "$@" 2>&1 | sed "s|$PWD|FOLDER|g"; }
columnstone lineage init lineage.db >out
make_examples a.tfrecord 2
columnstone lineage add examples a.tfrecord --name a --split train --span 3 --context pipeline=weekly >out
echo weights >model
columnstone lineage add model model --name m --from a --by train >out

echo 'pictures'
cli lineage graph
cli lineage graph m --up --depth 1 -o m.dot | sed 's/[0-9.]* k*B/SIZE/'
grep -c artifact m.dot
cli lineage graph -o m.svg | sed 's/[0-9.]* k*B/SIZE/'
head -c 4 m.svg
echo
cli lineage graph -o m.html | sed 's/[0-9.]* k*B/SIZE/'
head -n 1 m.html
cli lineage graph -o m.html
cli lineage graph -o m.html --force | sed 's/[0-9.]* k*B/SIZE/'
cli lineage graph none

echo 'OpenLineage'
cli lineage openlineage | grep -o '"eventType":"[A-Z]*"'
cli lineage openlineage 1 --namespace shop -o events.jsonl | sed 's/[0-9.]* k*B/SIZE/'
grep -c '"namespace":"shop"' events.jsonl
cli lineage openlineage -o events.jsonl
cli lineage openlineage 99

echo 'ML Metadata'
cli lineage export-mlmd mlmd.sqlite
cli lineage export-mlmd mlmd.sqlite
cli lineage export-mlmd mlmd.sqlite --force --json
cli lineage import-mlmd none.sqlite
cli lineage import-mlmd a.tfrecord
columnstone lineage init again.db >out
cli lineage import-mlmd mlmd.sqlite --lineage again.db
cli lineage import-mlmd mlmd.sqlite --lineage again.db
cli lineage ls --lineage again.db | cut -d ' ' -f 1
cli lineage trace m --up --lineage again.db
cli head lineage:a --lineage again.db -n 1 -c id
