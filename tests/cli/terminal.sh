# What a terminal gets: colours, and a pager for help that is longer than it. A pipe gets neither.
cat >terminal.py <<'P'
import fcntl, os, pty, shutil, struct, sys, termios

def run(words, lines=24, **variables):
    """What a terminal of 80 columns shows of a command, and its exit status."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
    pid = os.fork()
    if pid == 0:
        os.setsid()
        for number in (0, 1, 2):
            os.dup2(child, number)
        base = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE", "PAGER", "TERM")}
        os.execvpe("columnstone", ["columnstone", *words], {**base, "TERM": "xterm", **variables})
    os.close(child)
    shown = b""
    while True:
        try:
            data = os.read(parent, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(parent)
    return shown.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

paged = "sed 's/^/| /'"
def is_paged(**how):
    shown, status = run(["head", "--help"], **how)
    assert status == 0, status
    assert "--sequence-column" in shown, shown
    return shown.startswith("| columnstone head")

print("long help, pager:", is_paged(PAGER=paged))
print("a terminal with room:", is_paged(PAGER=paged, lines=500))
print("PAGER=cat:", is_paged(PAGER="cat"), "empty:", is_paged(PAGER=""))
print("a pager that is not there:", is_paged(PAGER="/nowhere/pager"))
print("a pager that cannot be run:", is_paged(PAGER="/etc/passwd"))
print("no less:", is_paged(PATH=os.path.dirname(shutil.which("columnstone"))))
shown, status = run(["head", "--help"], PAGER="head -n 1")
print("a pager that ends early:", repr(shown), status)
for name, variables in {"color": {}, "NO_COLOR": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"},
                        "NO_COLOR and CLICOLOR_FORCE": {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}}.items():
    shown, status = run(["convrt"], **variables)
    print(f"an error, {name}:", ascii(shown), status)
    shown, status = run(["cat", "--help"], lines=500, **variables)
    print("headings:", [ascii(line) for line in shown.splitlines() if "Options:" in line])
    shown, status = run(["verify", "cut.tfrecord"], **variables)
    print("a fault in red:", "[\x1b[31mtruncated\x1b[0m]" in shown, "truncated" in shown, status)
shown, status = run(["count", "cut.tfrecord"], NO_COLOR="1")
print("where to read on:", shown.splitlines()[-1], status)
shown, status = run(["help", "errors", "corrupt"])
print("the kind:", ascii(shown.splitlines()[0]), status)
width = max(len(line) for line in run(["convert", "--help"], lines=500, NO_COLOR="1")[0].splitlines())
print("as wide as the terminal:", width <= 80)
P
make_examples cut.tfrecord 2
printf 'x' >>cut.tfrecord
python3 terminal.py
echo 'a pipe'
PAGER=false columnstone cat --help | head -n 1
columnstone convrt 2>&1 | od -c | head -n 1
CLICOLOR_FORCE=1 columnstone convrt 2>&1 | od -c | head -n 2
CLICOLOR_FORCE=0 columnstone convrt 2>&1 | od -c | head -n 1
