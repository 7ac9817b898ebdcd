"""Run the examples of the documentation: every ```console block of README.md and the pages below docs.

A block with a file name behind its language (```yaml words/flow.yaml) is that file: it is written before the next command runs.

A line `$ command` is run (bash, in a copy of the examples' folder, weft on the PATH); the lines after it are its output.
`...` as a line stands for any lines, `...` inside a line for any text. A command that must fail is followed by `[exit N]` as its
last line of output. A block without any output lines only has to succeed. Speaks TAP."""
import os, re, shutil, subprocess, sys, tempfile

source, weft = sys.argv[1], sys.argv[2]
count = failed = 0


def pattern(lines):
    out = ""
    for line in lines:
        if line.strip() == "...":
            out += r"(?:.*\n)*?"
        else:
            out += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return out


def check(name, command, expected, where):
    global count, failed
    count += 1
    status = 0
    if expected and (m := re.fullmatch(r"\[exit (\d+)\]", expected[-1].strip())):
        status, expected = int(m[1]), expected[:-1]
    run = subprocess.run(["bash", "-c", command], cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    # a run of more than five seconds, on a machine that does much else, tells how far it is: no part of the example
    said = re.sub(r"^weft: .*: \d+ of \d+ done .*\n", "", run.stdout, flags=re.M)
    good = run.returncode == status
    if good and expected:
        good = re.fullmatch(pattern(expected), said) is not None
    print(f"{'ok' if good else 'not ok'} {count} - {name}: {command[:100]}".replace("\n", " ").replace("#", "%"))
    if not good:
        failed += 1
        print(f"# got exit {run.returncode}, expected {status}")
        for line in run.stdout.splitlines()[:60]:
            print("# got   " + line)
        for line in expected[:60]:
            print("# expected   " + line)


with tempfile.TemporaryDirectory() as work:
    shutil.copytree(os.path.join(source, "examples"), os.path.join(work, "examples"))
    bin_dir = os.path.join(work, ".bin")
    os.mkdir(bin_dir)
    os.symlink(os.path.abspath(weft), os.path.join(bin_dir, "weft"))
    os.environ["PATH"] = bin_dir + ":" + os.environ["PATH"]
    pages = sorted(
        os.path.relpath(os.path.join(folder, name), source)
        for folder, _, names in os.walk(os.path.join(source, "docs"))
        for name in names
        if name.endswith(".md")
    )
    for page in ["README.md"] + pages:
        os.environ["WEFT_HISTORY"] = os.path.join(work, ".bin", page.replace("/", "-") + ".db")  # its own, and never the user's
        text = open(os.path.join(source, page), encoding="utf-8").read()
        for language, name, block in re.findall(r"^```(\w+)(?: ([^\s`]+))?\n(.*?)^```", text, re.M | re.S):
            if name:
                path = os.path.join(work, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(block)
            if language != "console":
                continue
            command, expected = None, []
            for line in block.splitlines() + ["$ "]:
                if line.startswith("$ "):
                    if command is not None:
                        check(page, command, expected, work)
                    command, expected = line[2:], []
                elif command is not None and command.endswith("\\"):
                    command = command[:-1] + line.strip()
                else:
                    expected.append(line)
print(f"1..{count}")
sys.exit(1 if failed else 0)
