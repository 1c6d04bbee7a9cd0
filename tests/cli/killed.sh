# A signal that ends the program at once leaves no temporary file, nor do two of timeout's, which
# come together.
mkfifo slow
sleep 60 >slow &
sleeper=$!
for signal in PIPE USR1 TERM; do
  env --default-signal="$signal" columnstone merge slow out.tfrecord &
  pid=$!
  until ls | grep -q 'out.tfrecord.*tmp' || ! kill -0 "$pid"; do sleep 0.01; done
  kill -"$signal" "$pid"
  [ "$signal" != TERM ] || { sleep 0.3; kill -TERM "$pid" 2>/dev/null; } || true
  status=0
  wait "$pid" 2>/dev/null || status=$?
  echo "$signal $status"
done
kill "$sleeper"
wait "$sleeper" 2>/dev/null || true # gone, so that nothing opens slow to an end
for try in 1 2 3 4 5 6 7 8 9; do
  env --default-signal=TERM timeout --preserve-status "0.00$try" columnstone merge slow out.tfrecord ||
    [ $? = 143 ] || echo "status $?"
done
ls
