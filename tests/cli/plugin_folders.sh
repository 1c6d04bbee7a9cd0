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
# A sanitizer neither sees its options nor can look for leaks in a program with privileges.
if [ -u foreign/program ] && ! grep -q __asan_init foreign/program; then
  foreign/program head t.psv --format psv 2>&1 || echo "exit status $?"
else
  cat <<'SAME'
columnstone: unknown format 'psv' (did you mean 'csv'?)
exit status 2
SAME
fi
