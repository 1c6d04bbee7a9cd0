# What it takes to read artifacts comes with them, unless the user says otherwise; the rules of choice.
export COLUMNSTONE_LINEAGE=lineage.db
cli() { columnstone "$@" 2>&1 | sed "s|'\\($PWD[^']*\\)'|\\1|g; s|$PWD|FOLDER|g"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
columnstone lineage init lineage.db >out

echo 'options of formats'
printf 'a;b\n1;2\n' >x.csv
columnstone lineage add examples x.csv --name csv --delimiter ';' >out
cli head lineage:csv
cli head lineage:csv --delimiter ,
cli head lineage:csv --format raw --container lines
cli info lineage:csv | tail -n 3

echo 'folders of splits'
mkdir -p ex/Split-train ex/Split-eval
make_examples ex/Split-train/a-0.gz 2
make_examples ex/Split-train/a-1.gz 2
make_examples ex/Split-eval/b.gz 1
touch ex/Split-eval/_SUCCESS
columnstone lineage add examples ex --name ex
cli count lineage:ex | cut -c 1-13,47-
cli head lineage:ex#train -c id
cli head lineage:ex#eval -c id
cli merge lineage:ex#train one.tfrecord
cli head - -c id <one.tfrecord
cli convert lineage:ex out.jsonl
cli stats diff lineage:ex#train lineage:ex#eval | head -n 1
cli plan lineage:ex#eval | wc -l
cli index lineage:ex || true

echo 'messages and their options'
printf '{"id": "7", "event": [{"query": "tea"}]}\n' >x.json
columnstone lineage add examples x.json --name requests --container lines --proto-set shop.desc --message shop.Session --message-option form=json >out
cli head lineage:requests -c id,event.query
cli head lineage:requests -c id,device --message-option enums=int32
cli info lineage:requests | sed -n '1,3p'
printf 'from message shop.Session\noutput n = dense(size(event))\n' >n.cstq
columnstone view build n.cstq --proto-set shop.desc -o n.cstv >out
printf 'from message shop.Session\noutput m = dense(id)\n' >m.cstq
columnstone view build m.cstq --proto-set shop.desc -o m.cstv >out
printf '{"id": 7, "event": [{"query": "tea"}]}\n' >y.jsonl
columnstone convert y.jsonl y.tfrecord --to message --proto-set shop.desc --message shop.Session >out
columnstone lineage add examples y.tfrecord --name y --proto-set shop.desc --message shop.Session >out
columnstone lineage add view n.cstv --name n >out
columnstone lineage add view m.cstv --name m >out
columnstone lineage bind y@1 n@1
columnstone lineage bind y@1 m@1
cli query n.cstq lineage:y@1 - --to json
cli head lineage:y@2 --view none -c id
cli head lineage:y@2 --view lineage:m
cli head lineage:y@2 --view m.cstv
cli head lineage:y@1 --view n.cstv
cli head y.tfrecord --view lineage:n
cli schema spec --view lineage:n | head -n 1
cli view check lineage:n lineage:y@1 | sed 's/, digest.*//'
cli view diff lineage:n lineage:m
cli head lineage:y@2 lineage:y@2

echo 'what cannot be read together'
cli head lineage:y@1 lineage:y@2
cli head lineage:y@2 lineage:y@3
cli head lineage:y@2 lineage:ex
cli head lineage:y@1 lineage:requests
cli head lineage:y@2 --view lineage:none
cli head lineage:ex --view lineage:n
cli head lineage:n

echo 'schemas and statistics'
columnstone schema infer lineage:ex -o schema.pbtxt >out
columnstone lineage add schema schema.pbtxt --name schema
columnstone lineage add examples ex --name ex --schema schema@1
columnstone lineage show ex@2 | tail -n 2
cli schema check lineage:schema lineage:ex | tail -n 1
cli schema diff lineage:schema lineage:schema | tail -n 1
cli head lineage:ex@2 -n 1 -c id
cli head lineage:csv --schema lineage:schema
columnstone stats lineage:ex -o ex.cststats >out
columnstone lineage add statistics ex.cststats --name stats --from ex@2 --by stats
cli stats diff lineage:stats lineage:stats | head -n 1
cli stats lineage:stats | head -n 1

echo 'files that are gone'
rm y.tfrecord
cli head lineage:y@2
