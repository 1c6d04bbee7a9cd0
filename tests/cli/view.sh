# Views are built, shown, checked against data and compared.
try() { columnstone "$@" || echo "exit status $?"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
cp "$SOURCE"/tests/data/views/sessions.tfrecord .
cat >a.cstq <<'Q'
from message shop.Session
param longest: int64 = 2
let clicks = event where clicked
output label = dense(size(clicks), default=0)
output tokens = ragged(event.query[:longest])
Q
sed -e 's/ragged(/sparse(/' a.cstq >b.cstq
echo 'output id = id' >>b.cstq
try view build a.cstq --proto-set shop.desc -o a.cstv | cut -d, -f1
try view build b.cstq --proto-set shop.desc --param longest=1 --columns id,tokens -o b.cstv | cut -d, -f1
try view show a.cstv | grep -v '^digest\|^size'
try view show b.cstv --json | grep -v '"digest"\|"size"'
try view check a.cstv | cut -d, -f1
try view check b.cstv sessions.tfrecord | cut -d, -f1
try view diff a.cstv a.cstv
try view diff a.cstv b.cstv
sed -e 's/^let.*/&\nlet some = event[1:]\nrows some/' -e 's/^let/param n: int64 = 1\nlet/' -e 's/^output.*//' a.cstq >rows.cstq
echo 'output q = query' >>rows.cstq
try view build rows.cstq --proto-set shop.desc -o rows.cstv | cut -d, -f1
sed 's/event.1:./event[2:]/' rows.cstq >rows2.cstq
try view build rows2.cstq --proto-set shop.desc -o rows2.cstv | cut -d, -f1
try view diff rows.cstv rows2.cstv
# a filter by what a server does not know
sed -e 's/event.1:./event where clicked/' rows.cstq >label.cstq
try view build label.cstq --proto-set shop.desc -o label.cstv | cut -d, -f1
try view check label.cstv | cut -d, -f1
sed -e 's/^param n.*/param training: bool = true/' -e 's/where clicked$/& or not training/' label.cstq >both.cstq
try view build both.cstq --proto-set shop.desc -o both.cstv | cut -d, -f1
try view check both.cstv sessions.tfrecord | cut -d, -f1
# one that exists stays, but with --force
try view build rows2.cstq --proto-set shop.desc -o rows.cstv
try view diff rows.cstv rows2.cstv
try view build rows2.cstq --proto-set shop.desc -o rows.cstv --force | cut -d, -f1
try view diff rows.cstv rows2.cstv
# what is wrong
try view build a.cstq -o c.cstv
try view build a.cstq --proto-set shop.desc
try view build a.cstq b.cstq --proto-set shop.desc -o c.cstv
try view build a.cstq --proto-set shop.desc --param long=3 -o c.cstv
printf 'from message shop.Session\noutput x = evnt.query\n' >wrong.cstq
try view build wrong.cstq --proto-set shop.desc -o c.cstv
try view show a.cstq
try view show missing.cstv
head -c 100 a.cstv >cut.cstv
try view check cut.cstv
try view check a.cstv a.cstq
try view diff a.cstv
[ ! -e c.cstv ]
