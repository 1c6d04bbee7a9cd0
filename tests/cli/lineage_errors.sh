# What is wrong with lineage is told with its reason, and nothing is half done.
cli() { columnstone "$@" 2>&1 | sed "s|'\\($PWD[^']*\\)'|\\1|g; s|$PWD|FOLDER|g; s/20[0-9][0-9]-[0-9-]* [0-9:]*/TIME/g"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
columnstone lineage init lineage.db >out
make_examples a.tfrecord 3
make_examples b.tfrecord.gz 2

echo 'no store, and no store there'
cli lineage ls
cli head lineage:sessions
cli lineage ls --lineage none.db
echo text >text.db
cli lineage ls --lineage text.db
head -c 5000 lineage.db >cut.db
cli lineage ls --lineage cut.db
cp lineage.db newer.db
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("newer.db")
db.execute("pragma user_version = 99")
db.commit()
PY
cli lineage ls --lineage newer.db
{ # of which the first pages are sound
  head -c 8192 lineage.db
  head -c 73728 /dev/zero | tr '\0' '\377'
  tail -c +81921 lineage.db
} >bad.db
cli lineage ls --lineage bad.db
cli lineage check --lineage bad.db
cli head lineage:a --lineage bad.db
cli gc bad.db

export COLUMNSTONE_LINEAGE=lineage.db
echo 'adding'
cli lineage add examples none.tfrecord --name x
cli lineage add examples 'none-*' --name x
cli lineage add examples a.tfrecord --name 'a@b'
cli lineage add examples a.tfrecord --name 17
cli lineage add examples a.tfrecord --property span
cli lineage add examples a.tfrecord --reference schema
cli lineage add examples a.tfrecord --reference schema=none@1
cli lineage add examples a.tfrecord --schema none.pbtxt
cli lineage add examples a.tfrecord --context weekly
cli lineage add examples lineage:a
cli lineage add view x.cstq
cli lineage add view a.tfrecord
cli lineage add view a.tfrecord b.tfrecord.gz
cli lineage add model a.tfrecord --from none@1
cli lineage ls
columnstone lineage add examples a.tfrecord --name a --split train >out
columnstone lineage add examples b.tfrecord.gz --name b >out
cat >q.cstq <<'Q'
from message shop.Session
output searches = dense(size(event))
Q
columnstone view build q.cstq --proto-set shop.desc -o q.cstv >out
columnstone lineage add view q.cstv --name q >out
cli lineage add schema a.tfrecord --name a

echo 'asking'
cli lineage show none
cli lineage show a@7
cli lineage show a b --json
cli lineage trace none
cli lineage ls things
cli lineage ls --since yesterday
cli lineage ls --context pipeline=none
cli lineage ls --context none
cli lineage graph --depth 3
cli lineage graph a -o picture.png
cli lineage openlineage x
cli gc --keep 1 --keep-ancestors-of modle
cli lineage lease --for 3
cli lineage lease a --for 3
cli lineage bind a q
cli lineage bind q a
cli lineage bind a b c
cli lineage
cli lineage lss

echo 'inputs'
cli head lineage:none
cli head lineage:a#eval
cli head lineage:a --view lineage:q
cli head lineage:a --view lineage:b
cli head a.tfrecord --schema lineage:q
cli convert a.tfrecord lineage:a --force
cli merge lineage:a lineage:b --force
cli head lineage:a -n 1 -c id
cli info lineage:a | tail -n 4

echo 'garbage'
cli gc lineage.db --lineage lineage.db
cli gc a b
cli gc --older-than 3
cli gc --keep 0
