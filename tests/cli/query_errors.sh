# What is said of a wrong query: file, line and column, what was found, and the nearest names.
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
try() {
  printf "$1" >q.cstq
  columnstone query q.cstq --explain --proto-set shop.desc >out || echo "exit status $?"
}
echo 'the text'
try 'from message shop.Session\nlte a = 3\n'
try 'from message shop.Session\nlet a = event.query +\n\noutput b = a\n'
try 'from message shop.Session\noutput b = 1 < id < 3\n'
try 'from message shop.Session\noutput b = "open\n'
try 'from mesage shop.Session\n'

echo 'names'
try 'from message shop.Sesion\n'
try 'from message shop.Session\noutput a = evnt.query\n'
try 'from message shop.Session\nlet clicks = event where\n  clicked and prce > 0\n'
try 'from message shop.Session\nkeep id, event.result.skuu\n'
try 'from message shop.Session\nrows event\noutput a = user\n'
try 'from message shop.Session\noutput a = log1(event.price)\n'
try 'from message shop.Session\noutput a = sort(event, bi=price).query\n'
try 'from message shop.Session\noutput a = dense(id, defualt=0)\n'
try 'from message shop.Session\nparam n: itn64 = 1\n'
try 'from message shop.Session\nparam n: int64 = 1\noutput a = event[:m]\n'

echo 'places and types'
try 'from message shop.Session\nlet id = 3\n'
try 'from message shop.Session\noutput a = id.query\n'
try 'from message shop.Session\noutput a = event where price\n'
try 'from message shop.Session\noutput a = sum(id)\n'
try 'from message shop.Session\noutput a = ragged(id)\n'
