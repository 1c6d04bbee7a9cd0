# The kinds of errors: the words of docs/errors.md, which has a heading for each, and the status.
columnstone help errors >all
cat >compare.py <<'P'
import os, re, subprocess
page = open(os.environ["SOURCE"] + "/docs/errors.md", encoding="utf-8").read()
shown = re.split(r"\n\n(?=[A-Z_]+\n)", open("all", encoding="utf-8").read())[1:]
header = open(os.environ["SOURCE"] + "/include/columnstone/status.h", encoding="utf-8").read().split("typedef enum")[0]
names = re.findall(r"^  XX\((\w+), [1-9]", header, re.MULTILINE)
assert names == [text.split("\n")[0] for text in shown], names
for name, text in zip(names, shown):
    paragraph = re.search(rf"^## {name}\n\n(.*)", page, re.MULTILINE)[1]
    plain = re.sub(r"\*\*|`|\[|\]\([^)]*\)", "", paragraph)
    *lines, place = text.rstrip("\n").split("\n")[1:]
    said = " ".join(line.strip() for line in lines)
    assert plain.startswith(said.rstrip(".")) and said.endswith("."), (name, said, plain)
    assert place == f"  docs/errors.md#{name.lower()}", place
    one = subprocess.run(["columnstone", "help", "errors", name.lower()], capture_output=True, text=True)
    assert (one.stdout.rstrip("\n"), one.returncode) == (text.rstrip("\n"), 0), one
print(len(names), "kinds")
P
python3 compare.py
columnstone help errors CORRUPT | head -n 1
columnstone help errors corrupt more || echo "status $?"
columnstone help errors corupted || echo "status $?"
# A pipe is not told where to read on, a terminal is (terminal.sh).
columnstone head nowhere.tfrecord || echo "status $?"
columnstone __complete 1 help err
