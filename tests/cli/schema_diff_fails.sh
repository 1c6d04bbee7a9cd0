echo 'feature { name: "x" type: INT }' >a.pbtxt
echo 'feature { name: "x" type: INTEGER }' >wrong.pbtxt
columnstone schema diff a.pbtxt || echo "exit status $?"
columnstone schema diff a.pbtxt a.pbtxt a.pbtxt || echo "exit status $?"
columnstone schema diff a.pbtxt wrong.pbtxt || echo "exit status $?"
columnstone schema diff missing.pbtxt a.pbtxt || echo "exit status $?"
