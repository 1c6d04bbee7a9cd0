# Plug-ins are found beside the file that runs, not beside what its caller calls it.
mkdir -p foreign/columnstone/plugins away/plugins/psv away/bin
for folder in foreign/columnstone/plugins away/plugins/psv; do
  cp "$SOURCE/examples/columnstone-format-psv" "$folder"
done
printf 'a|b\n1|x\n' >t.psv
: >foreign/program
python3 - "$(command -v columnstone)" <<'PROGRAM' || echo "exit status $?"
import os, sys
os.execv(sys.argv[1], [os.path.abspath("foreign/program"), "head", "t.psv", "--format", "psv"])
PROGRAM

# The folder of a build is one of a build only.
cp "$(command -v columnstone)" away/bin/columnstone
away/bin/columnstone head t.psv --format psv || echo "exit status $?"
rm foreign/program
cp "$(command -v columnstone)" foreign/program
foreign/program head t.psv

# With raised privileges, not even there (where tests may raise them).
cp "$(command -v id)" own-id
if [ "$(id -u)" = 0 ] && chown 65534 own-id foreign/program && chmod u+s own-id && [ "$(./own-id -u)" = 65534 ]; then
  chmod 4755 foreign/program
  chmod 755 .
fi
if [ -u foreign/program ]; then
  # The search for leaks cannot look into a program with privileges of its own.
  ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" foreign/program head t.psv --format psv 2>&1 || echo "exit status $?"
else
  cat <<'SAME'
columnstone: 'psv' is no format that can be read (formats: example, sequence_example, message, raw, csv, json, arrow, or a plug-in's)
exit status 2
SAME
fi
