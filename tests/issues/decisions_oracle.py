#!/usr/bin/env python3
"""Random graphs with conditions, optional inputs and failures that may happen, against an oracle: this file, which works the decisions out
by itself. usage: decisions_oracle.py WEFT ROUNDS SEED [options of weft run ...]; prints a line for each round that differs, exits 1 then."""
import hashlib, json, os, random, shutil, subprocess, sys, tempfile

weft, rounds, seed, more = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]


def make(rng):
    """Tasks in order: inputs (number of the maker, optional), condition, fails, may_fail, temporary."""
    tasks = []
    for i in range(rng.randint(5, 12)):
        makers = rng.sample(range(i), min(i, rng.choice([0, 1, 1, 2, 3])))
        inputs = [(m, rng.random() < 0.5) for m in makers]
        when = None
        if rng.random() < 0.5:
            kind = rng.choice(["parameter", "contains", "size", "exists"]) if inputs else "parameter"
            k = rng.randrange(len(inputs)) if inputs else 0
            if kind in ("contains", "size") and inputs[k][1] and rng.random() < 0.8:
                kind = "guarded " + kind
            when = (kind, k, rng.choice("0123456789abcdef"), rng.choice("01"))
        fails = rng.random() < 0.15
        tasks.append((inputs, when, fails, fails or rng.random() < 0.1, rng.random() < 0.3))
    return tasks


def condition(when):
    kind, k, digit, value = when
    f = "{in[%d]}" % k
    return {"parameter": "{p} = %s" % value, "contains": f"{f} contains '{digit}'", "size": f"size({f}) > 8 and not {f} contains '{digit}'",
            "exists": f"exists {f}", "guarded contains": f"exists {f} and {f} contains '{digit}'",
            "guarded size": f"exists {f} and (size({f}) > 8 and not {f} contains '{digit}')"}[kind]


def write(tasks, path):
    with open(path, "w") as f:
        f.write("weft: 1\nname: random\nparameters: { p: 0 }\ntasks:\n")
        for i, (inputs, when, fails, may_fail, temporary) in enumerate(tasks):
            entries = ", ".join("{name: o%d, optional: true}" % m if o else "o%d" % m for m, o in inputs)
            end = "; exit 3" if fails else ""
            f.write(f"  t{i}:\n    run: '(echo t{i}; cat /dev/null {{in}}) | md5sum | cut -c1-8 > {{out}}{end}'\n")
            f.write(f"    in: [{entries}]\n    out: o{i}\n    temporary: {str(temporary).lower()}\n")
            if when:
                f.write('    when: "%s"\n' % condition(when))
            if may_fail:
                f.write("    may_fail: true\n")


def expect(tasks, p):
    """state by task: done, skipped, failed; contents of what is done."""
    state, content = [], {}
    for i, (inputs, when, fails, _, _) in enumerate(tasks):
        if any(m not in content and not optional for m, optional in inputs):
            state.append("skipped")
            continue
        if when:
            kind, k, digit, value = when
            text = content.get(inputs[k][0]) if inputs else None
            if text is None and kind in ("contains", "size"):
                state.append("failed")  # it asks about a file that is not there
                continue
            holds = {"parameter": lambda: p == value, "contains": lambda: digit in text, "exists": lambda: text is not None,
                     "size": lambda: len(text) > 8 and digit not in text,
                     "guarded contains": lambda: text is not None and digit in text,
                     "guarded size": lambda: text is not None and len(text) > 8 and digit not in text}[kind]()
            if not holds:
                state.append("skipped")
                continue
        if fails:
            state.append("failed")
            continue
        body = f"t{i}\n" + "".join(content[m] for m, _ in inputs if m in content)
        content[i] = hashlib.md5(body.encode()).hexdigest()[:8] + "\n"
        state.append("done")
    return state, content


def run(folder, p):
    r = subprocess.run([weft, "run", "flow.yaml", "-p", "p=" + p, "--json", "-k", "--retry-delay", "0.01"] + more, cwd=folder, capture_output=True, text=True, timeout=120)
    state, last = {}, {}
    for line in r.stdout.splitlines():
        e = json.loads(line)
        if e["event"] == "task":
            state[e["task"]] = "done" if e["outcome"] == "done" else "failed"
        elif e["event"] in ("reused", "skipped"):
            state[e["task"]] = "done" if e["event"] == "reused" else "skipped"
        elif e["event"] == "done":
            last = e
    return r.returncode, state, last, r.stderr


def compare(tasks, folder, p, what):
    state, content = expect(tasks, p)
    for i, (inputs, when, fails, may_fail, temporary) in enumerate(tasks):
        if state[i] == "failed" and not may_fail:
            return "again"  # a failure that stops: not what is asked here
    status, got, last, err = run(folder, p)
    wrong = []
    if status != 0:
        wrong.append(f"exit {status}")
    if got:  # nothing to do has no events
        wrong += [f"t{i}: {got.get(f't{i}')} instead of {s}" for i, s in enumerate(state) if got.get(f"t{i}") != s]
    counts = (last.get("untaken"), last.get("excused"), last.get("ran", 0) + last.get("reused", 0))
    if counts != (state.count("skipped"), state.count("failed"), state.count("done")):
        wrong.append(f"counts {counts} of {state}")
    for i, text in content.items():
        try:
            have = open(os.path.join(folder, f"o{i}")).read()
        except OSError:
            have = None
        between = any(i == m for t in tasks for m, _ in t[0])  # may stay on agents, or be removed
        if have != text and not (between and (have is None and more or tasks[i][4])):
            wrong.append(f"o{i} holds {have!r} instead of {text!r}")
    if wrong:
        print(f"{what}: " + "; ".join(wrong) + "\n" + err)
    return not wrong


good, number, tried = True, 0, 0
while number < rounds:
    rng = random.Random(seed * 100000 + tried)
    tried += 1
    tasks = make(rng)
    folder = tempfile.mkdtemp(prefix="decisions-")
    write(tasks, os.path.join(folder, "flow.yaml"))
    first = compare(tasks, folder, "0", f"round {tried}, first")
    if first != "again":
        number += 1
        good &= first
        for p, what in (("1", "another value"), ("1", "again"), ("0", "back")):
            next_ = compare(tasks, folder, p, f"round {tried}, {what}")
            good &= next_ is True or next_ == "again"
    if first is False or not good:
        print(open(os.path.join(folder, "flow.yaml")).read())
        shutil.rmtree(folder)
        break
    shutil.rmtree(folder)
sys.exit(0 if good else 1)
