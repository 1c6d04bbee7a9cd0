printf 'feature {\n  name: "x"\n  type: INTEGER\n}\n' >wrong.pbtxt
columnstone schema spec wrong.pbtxt || echo "exit status $?"
echo 'feature { name: "x" type: INT } feature { name: "x" type: INT }' >twice.pbtxt
columnstone schema spec twice.pbtxt || echo "exit status $?"
