#!/usr/bin/env python3
"""The page's server, asked as a browser, a stranger and another site would. WEFT: the program. Speaks TAP."""
import http.client
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import xml.etree.ElementTree

weft = os.path.abspath(os.environ["WEFT"])
# every address that changes something, as the server's own tables have them; run 1 stands for any
sources = "".join(open(f"src/ui/{name}").read() for name in sorted(os.listdir("src/ui")) if name.endswith(".c"))
every_change = [path.replace("#", "1") for path in re.findall(r'\{true, "~?(/api/[^"]+)"', sources)]
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
environment = dict(os.environ, WEFT_HISTORY=os.path.join(work.name, "history.db"))
count = 0
bad = 0


def ok(good, text):
    global count, bad
    count += 1
    bad += not good
    print(f"{'ok' if good else 'not ok'} {count} - {text}", flush=True)


def run(*words):
    return subprocess.run([weft, *words], env=environment, capture_output=True, text=True)


class Server:
    def __init__(self, *words):
        # a port of our own: other tests run beside this one
        self.process = subprocess.Popen([weft, "ui", *words], env=environment, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().strip()
        self.address, self.token = line.split("/?token=")
        self.host = self.address.removeprefix("http://")
        self.cookie = ""

    def ask(self, path, method="GET", body=None, **headers):
        """Status, headers, text. Headers of None are left out."""
        sent = {"Host": self.host, "Cookie": self.cookie} | {k.replace("_", "-"): v for k, v in headers.items()}
        link = http.client.HTTPConnection(self.host, timeout=30)
        link.putrequest(method, path, skip_host=True)
        for name, value in sent.items():
            if value:
                link.putheader(name, value)
        data = body.encode() if body is not None else b""
        if method == "POST":
            link.putheader("Content-Length", str(len(data)))
        link.endheaders(data if method == "POST" else None)
        answer = link.getresponse()
        text = answer.read().decode()
        link.close()
        return answer.status, answer.headers, text

    def enter(self):
        status, headers, _ = self.ask("/?token=" + self.token)
        self.cookie = headers["Set-Cookie"].split(";")[0] if status == 303 else ""
        return status, headers

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


with open("flow.yaml", "w") as f:
    f.write('weft: 1\ntasks:\n  a: {run: "echo f1=0.9 > {out}", out: a.txt}\n'
            '  "<script>alert(1)</script>": {run: "cat {in} > {out}", in: a.txt, out: b.txt}\n')
run("run", "flow.yaml", "-q")
server = Server()
status, headers, _ = server.ask("/api/runs")
ok(status == 401, "who has no token is a stranger")
status, headers, text = server.ask("/")
ok(status == 401 and server.ask("/page.js")[0] == 401, "also for the page itself")
ok(headers["Content-Type"].startswith("text/plain") and "open the address that `weft ui` has printed" in text and "{" not in text, "and people read why")
ok(server.ask("/?token=" + "0" * 64)[0] == 401, "a wrong token opens nothing")
status, headers = server.enter()
said = headers["Set-Cookie"]
ok(status == 303 and headers["Location"] == "/", "the token is exchanged for a cookie, and leaves the address")
ok("HttpOnly" in said and "SameSite=Strict" in said and server.token not in said, "which scripts and other sites cannot have")

status, headers, text = server.ask("/")
ok(status == 200 and "/page.js" in text, "the page")
policy = headers["Content-Security-Policy"]
ok("default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy, "its policy is strict")
ok(headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer", "and its other headers")
ok(server.ask("/page.js")[0] == 200 and server.ask("/page.css")[0] == 200, "its script and its style")
ok("http://" not in text.replace(server.address, "") and "https://" not in text, "nothing comes from elsewhere")

runs = json.loads(server.ask("/api/runs")[2])["runs"]
ok([r["run"] for r in runs] == [1] and runs[0]["outcome"] == "done", "the runs on record")
ok(json.loads(server.ask("/api/runs?where=f1%20%3E%200.95")[2])["runs"] == [], "found by what results state")
status, _, text = server.ask("/api/runs?where=frob(")
ok(status in (400, 500) and "where" in json.loads(text)["error"], "a wrong question is told")
status, headers, text = server.ask("/api/run/1/page")
ok(status == 200 and "<script" not in text and "&lt;script" in text, "a hostile name is no script in a report")
ok("sandbox" in headers["Content-Security-Policy"] and "script-src" not in headers["Content-Security-Policy"], "which has no rights")
ok(json.loads(server.ask("/api/run/1")[2])["tasks"] == 2, "a run's figures")
ok(server.ask("/api/run/7")[0] == 404 and server.ask("/api/frob")[0] == 404, "what is not there is not found")
for path in ("/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/api/run/1/page/../../../../etc/passwd", "/history.db", "/flow.yaml"):
    ok(server.ask(path)[0] == 404, f"{path} is no address")

os.mkdir("sub")
with open("sub/sweep.yaml", "w") as f:
    f.write('weft: 1\ntasks:\n  a: {run: "echo score {n} > {out}", out: s.txt}\nparameters: {n: 1}\n')
with open("sub/exp.yaml", "w") as f:
    f.write("weft: 1\nexperiment: e\nworkflow: sweep.yaml\nsubstitute:\n  n: {parameter: n, by: [1, 2]}\n")
with open("two.yaml", "w") as f:
    f.write("weft: 1\nnodes:\n  - {name: n1, cores: 2}\n  - {name: n2, cores: 2}\n")
with open("work.yaml", "w") as f:
    f.write('weft: 1\nassert: |\n  assert relationship requirement ((select task-assigned-proc-id from task where task-name = "a") =\n'
            '    (select proc-id from proc where proc-name = "n2"))\ntasks:\n  a: {work: 2, memory: 10, out: o}\n  b: {work: 3, memory: 20, in: o}\n')
os.symlink("/etc/passwd", "sub/leak.yaml")
sorts = {f["path"]: f["sort"] for f in json.loads(server.ask("/api/files")[2])}
ok(sorts.get("sub/exp.yaml") == "experiment" and sorts.get("two.yaml") == "platform" and sorts.get("flow.yaml") == "workflow", "files of the folder")
for path in ("../history.db", "/etc/passwd", "sub/leak.yaml", "sub", "nothing.yaml"):
    ok(server.ask("/api/file?path=" + path)[0] == 404, f"{path} is not served")
status, headers, text = server.ask("/api/file?path=b.txt")
ok(status == 200 and "f1=0.9" in text and headers["Content-Type"] == "application/octet-stream" and "sandbox" in headers["Content-Security-Policy"], "a file is bytes")
with open("part.yaml", "w") as part:
    part.write("weft: 1\ntasks:\n  mid: {run: 'cp a.txt m.txt', in: a.txt, out: m.txt}\n")
with open("whole.yaml", "w") as whole:
    whole.write("weft: 1\ninclude: {part: part.yaml}\ntasks:\n"
                "  first: {run: 'echo 1 > a.txt', out: a.txt}\n  last: {run: 'cp m.txt z.txt', in: m.txt, out: z.txt}\n")
view = json.loads(server.ask("/api/workbench/flow?file=whole.yaml")[2])
at = {box["name"]: box["x"] for box in view["tasks"]}
ok(at["first"] < at["part"] < at["last"], "an included workflow stands behind what it reads and before what reads it")
ok(len(json.loads(server.ask("/api/plan/planners")[2])) > 20, "planners")
plan = json.loads(server.ask("/api/plan?flow=work.yaml&on=two.yaml&with=heft&simulate=1")[2])
ok(plan["placements"]["name"] == ["a", "b"] and plan["placements"]["finish"] == [2, 5], "a plan")
ok(plan["simulated"]["placements"]["finish"] == [2, 5] and plan["simulated"]["figures"]["makespan"] == 5, "in virtual time")
ok(max(plan["memory"][0]["bytes"]) == 20, "with memory: tasks after each other are not added up")
ok([c["held"] for c in plan["constraints"]] == [False], "and what breaks its constraints")
plan = json.loads(server.ask("/api/plan?flow=work.yaml&on=two.yaml&with=constraints")[2])
ok([c["held"] for c in plan["constraints"]] == [True], "or keeps them")
status, _, text = server.ask("/api/plan?flow=work.yaml&with=frob")
ok(status == 400 and "frob" in json.loads(text)["error"], "a planner that nobody knows is told")
ok(server.ask("/api/plan?flow=../work.yaml")[0] == 404 and server.ask("/api/plan?flow=work.yaml&on=/etc/passwd")[0] == 404, "only files of the folder are planned")
ok(json.loads(server.ask("/api/plan/compare?flow=work.yaml&on=two.yaml")[2])[0]["makespan"] == 5, "planners side by side")
# many at once, some of whom go away before their answer: the others are answered, and so is everybody else
lost = [http.client.HTTPConnection(server.host, timeout=30) for _ in range(4)]
for one in lost:
    one.request("GET", "/api/plan/compare?flow=work.yaml&on=two.yaml", headers={"Cookie": server.cookie})
ok(server.ask("/api/about")[0] == 200, "the server answers while plans are made")
for one in lost[:2]:
    one.close()
ok([json.loads(one.getresponse().read())[0]["makespan"] for one in lost[2:]] == [5, 5], "and each of them gets its own")
# what would run is found by reading a large input that was touched: for as long as that takes everybody else is answered
with open("large.bin", "wb") as f:
    f.truncate(1 << 28)
with open("heavy.yaml", "w") as f:
    f.write('weft: 1\ntasks:\n  heavy: {run: "true > {out}", in: large.bin, out: heavy.txt}\n')
run("run", "heavy.yaml", "-q")
os.utime("large.bin", (1, 1))
for path in ("/api/workbench/lights?file=heavy.yaml", "/api/dry?flow=heavy.yaml"):
    reading = http.client.HTTPConnection(server.host, timeout=120)
    reading.request("GET", path, headers={"Cookie": server.cookie})
    answered = server.ask("/api/about")[0] == 200 and server.ask("/api/runs")[0] == 200
    ok(answered and not select.select([reading.sock], [], [], 0)[0], f"the server answers others before {path}, which reads 256 MiB")
    said = json.loads(reading.getresponse().read())
    ok(said["tasks"] == 1 and said.get("run", said.get("to_run")) == 0, "which is told then: the content is the same, and nothing would run")
os.remove("large.bin")
e = json.loads(server.ask("/api/experiment?file=sub/exp.yaml")[2])
ok([r["there"] for r in e["rows"]] == [0, 0] and e["tasks_remaining"] == 2, "an experiment that was not run")
ok(server.ask("/api/experiment/run", "POST", '{"file": "sub/exp.yaml"}', Origin=server.address)[0] == 200, "is started")
for _ in range(600):
    e = json.loads(server.ask("/api/experiment?file=sub/exp.yaml&values=s.txt")[2])
    if [r["there"] for r in e["rows"]] == [1, 1]:
        break
    time.sleep(0.1)
ok([r.get("values") for r in e["rows"]] == [{"score": "1"}, {"score": "2"}], "and gives a value a combination")
status, _, text = server.ask("/api/experiment/open", "POST", '{"file": "sub/exp.yaml", "row": 1}', Origin=server.address)
ok(status == 200 and json.loads(text)["flow"] == "sub/sweep-2.yaml" and "echo score 2" in open("sub/sweep-2.yaml").read(), "a row is a workflow")
ok(server.ask("/api/experiment/open", "POST", '{"file": "sub/exp.yaml", "row": 7}', Origin=server.address)[0] == 400, "one that is not there is told")

runs = lambda query: [r["run"] for r in json.loads(server.ask("/api/runs?" + query)[2])["runs"]]
files = json.loads(server.ask("/api/run/1/files")[2])
digest = next(f["digest"] for f in files["files"] if f["path"] == "b.txt")
ok(len(digest) == 64 and runs("where=" + urllib.parse.quote(f"SELECT DISTINCT id >> 32 FROM files WHERE hex(digest) LIKE '{digest[:16].upper()}%'")) == [1], "runs by the digest of a file")
ok(1 in runs("words=alert") and runs("words=frobnicate") == [], "by words")
ok(runs("since=4000000000") == [] and 1 in runs("since=1"), "by time")
lineage = json.loads(server.ask("/api/lineage?path=" + os.path.realpath("b.txt"))[2])
ok([t["task"] for t in lineage["tasks"]] == ["a", "<script>alert(1)</script>"], "where a file comes from")
status, headers, text = server.ask("/api/lineage?picture=1&path=" + os.path.realpath("b.txt"))
ok(status == 200 and headers["Content-Type"] == "image/svg+xml" and "<script" not in text and "sandbox" in headers["Content-Security-Policy"], "as a picture")
# pictures of the command line have the same names, and are opened by browsers as well
for number, words in enumerate((("show", "flow.yaml", "--svg"), ("show", "flow.yaml", "--by", "kind", "--svg"), ("plan", "flow.yaml", "--on", "2", "--gantt"), ("sim", "flow.yaml", "--on", "2", "--gantt"), ("history", "--lineage", "b.txt", "--svg"))):
    drawn = run(*words, f"picture{number}.svg", "-q") if words[0] != "history" else run(*words, f"picture{number}.svg")
    try:
        parts = list(xml.etree.ElementTree.parse(f"picture{number}.svg").iter())
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        parts = []
        print(f"# {error} {drawn.stderr}")
    texts = "".join(part.text or "" for part in parts)
    active = [part for part in parts if part.tag.endswith("}script") or part.tag.endswith("}foreignObject") or any(key.startswith("on") or (key.endswith("href") and not value.startswith("#")) for key, value in part.attrib.items())]
    ok(len(parts) > 5 and "<script>alert(1)</script>" in texts and not active, f"a hostile name is text in the picture of weft {' '.join(words)}")
ok(server.ask("/api/lineage?path=/nothing")[0] == 404, "of a file that no run knows nothing is told")
ok("task" in server.ask("/api/run/1/export?format=csv")[2].splitlines()[0], "a run as CSV")
ok("execution" in json.loads(server.ask("/api/run/1/export?format=wfformat")[2])["workflow"], "as WfFormat with its execution")
ok("@graph" in json.loads(server.ask("/api/run/1/export?format=crate")[2]), "as the description of an RO-Crate")
ok(server.ask("/api/run/1/export?format=frob")[0] == 400 and server.ask("/api/run/99/export?format=csv")[0] in (400, 404, 500), "and otherwise not")
status, _, text = server.ask("/api/run/1/open", "POST", "{}", Origin=server.address)
ok(status == 200 and "echo f1=0.9" in open(json.loads(text)["flow"]).read(), "the graph of a run is a file again")

ok(server.ask("/api/runs", Host="evil.example")[0] == 421, "a name that was bent to this machine is refused")
ok(server.ask("/api/runs", Origin="http://evil.example")[0] == 403, "another site's question is refused")
say = json.dumps({"sort": "note", "text": "<b>good</b>"})
ok(server.ask("/api/run/1/say", "POST", say)[0] == 403, "a change must say that it is the page's own")
ok(server.ask("/api/run/1/say", "POST", say, Origin="http://evil.example")[0] == 403, "another site changes nothing")
ok("good" not in run("history", "1").stdout, "and nothing was changed")
ok(len(every_change) >= 11 and all(server.ask(path, "POST", "{}", **who)[0] == 403 for path in every_change for who in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site", "Origin": server.address})), "nor by any other address")
ok(all(server.ask(path, "POST", "{}", Cookie="", Origin=server.address)[0] == 401 for path in every_change), "nor a stranger")
ok(server.ask("/api/run/1/say", "POST", say, Origin=server.address)[0] == 200, "the page does")
ok("<b>good</b>" in run("history", "1", "--json").stdout, "a note on a run")
ok(any(f["value"] == "<b>good</b>" for f in json.loads(server.ask("/api/run/1/facts")[2])), "which the page shows")
ok(server.ask("/api/run/1/say", "POST", "{", Origin=server.address)[0] == 400, "half a request is told")
ok(server.ask("/api/run/1/say", "POST", "x" * (2 << 20), Origin=server.address)[0] == 413, "a request without end, too")
ok(server.ask("/api/runs", "POST", "", Origin=server.address)[0] == 405, "an address is asked in its own way")
ok(server.ask("/api/runs", "DELETE")[0] == 405, "other methods are not answered")


def until(look, seconds=60):
    """What look() gives, once it is true."""
    end = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def live(number):
    return json.loads(server.ask(f"/api/run/{number}/live")[2])


# ---- the Run view ----
one = live(1)
ok(one["outcome"] == "done" and one["done"] == 2 and one["tasks"] == 2 and one["now"] == [], "a run that is over")
ok(sorted(f["name"] for f in one["families"]) == ["<script>alert(1)</script>", "a"], "by family")
gantt = json.loads(server.ask("/api/run/1/gantt?from=0&to=100&columns=500")[2])
ok(len(gantt["boxes"]) == 2 and len(gantt["load"]) == 240, "its Gantt and its load")
graph = json.loads(server.ask("/api/run/1/graph")[2])
ok(len(graph["boxes"]) == 2 and len(graph["lines"]) == 1 and graph["boxes"][0]["states"][2] == 1, "its graph, with states")
tasks = json.loads(server.ask("/api/run/1/tasks?words=script&state=done")[2])
ok(tasks["found"] == 1 and tasks["tasks"][0]["reason"] is not None, "tasks by name and state, and why they ran")
ok(json.loads(server.ask("/api/run/1/task?task=0")[2])["command"] == "echo f1=0.9 > a.txt", "one task's command")
ok(server.ask("/api/run/1/task?task=99")[0] == 404 and server.ask("/api/run/99/live")[0] == 404, "not of others")
ok(server.ask("/api/run/1/task?task=nan")[0] == 404 and server.ask("/api/run/1/gantt?from=inf&to=-1&columns=1e99")[0] == 200, "nor by wrong numbers")

with open("slow.yaml", "w") as f:
    f.write('weft: 1\ntasks:\n  s: {run: "echo begun; for i in $(seq 600); do [ -f gate ] && break; sleep 0.1; done; echo x > {out}", out: s.txt, sandbox: false}\n  t: {run: "cat {in} > {out}", in: s.txt, out: t.txt}\n')
os.makedirs("sub", exist_ok=True)
os.symlink("/etc/hostname", "out.yaml")
flows = [f["path"] for f in json.loads(server.ask("/api/files")[2]) if f["sort"] == "workflow"]
ok("flow.yaml" in flows and "slow.yaml" in flows and "out.yaml" not in flows, "workflows of the folder")
dry = json.loads(server.ask("/api/dry?flow=slow.yaml")[2])
ok(dry["to_run"] == 2 and dry["needs"][0]["reason"] == "new", "what would run, and why")
for name in ("../x.yaml", "/etc/passwd", "out.yaml", "sub", "--help", "", "nothing.yaml"):
    ok(server.ask("/api/dry?flow=" + name)[0] == 404, f"'{name}' is no file of the folder")
    ok(server.ask("/api/start", "POST", json.dumps({"flow": name}), Origin=server.address)[0] == 404, "and is not run")
ok(server.ask("/api/start", "POST", json.dumps({"flow": "slow.yaml"}))[0] == 403, "only the page itself starts something")
ok(all(server.ask("/api/start", "POST", json.dumps({"attach": what}), Origin=server.address)[0] == 400 for what in ("--help", "1; ls", -1, 0, 1e300, None, [])), "a run is followed by its number alone")
before = json.loads(server.ask("/api/runs?limit=1")[2])["runs"][0]["run"]
mine = before + 1
status, _, text = server.ask("/api/start", "POST", json.dumps({"flow": "slow.yaml", "jobs": "1"}), Origin=server.address)
ok(status == 200, "the page starts a run")
ok(until(lambda: server.ask(f"/api/run/{mine}/live")[0] == 200 and live(mine)["running"] == 1), "which is seen while it goes on")
two = live(mine)
ok(two["outcome"] == "running" and two["now"][0]["name"] == "s" and two["waiting"] == 1, "with what runs and what waits")
ok(until(lambda: json.loads(server.ask(f"/api/run/{mine}/log?task=0")[2])["text"] == "begun\n"), "and what a task has written so far")
ok(json.loads(server.ask(f"/api/run/{mine}/task?task=1")[2])["waits"] == ["s"], "and for what another waits")
ok(json.loads(server.ask(f"/api/run/{mine}/next")[2]) == {"next": [], "ready": 0}, "nothing is next that waits for others")
second = Server()
second.enter()
ok(json.loads(second.ask(f"/api/run/{mine}/live")[2])["running"] == 1, "another server sees the same")
second.end()
ok(server.ask(f"/api/run/{mine}/stop", "POST", "{}")[0] == 403, "only the page stops a run")
ok(server.ask(f"/api/run/{mine}/stop", "POST", "{}", Origin=server.address)[0] == 200, "it is stopped: nothing new starts")
with open("gate", "w") as f:
    f.write("x\n")
ok(until(lambda: live(mine)["outcome"] == "cancelled"), "and what ran may end")
ok(live(mine)["done"] == 1 and live(mine)["skipped"] == 1, "one is done, one was not taken")
ok(until(lambda: json.loads(server.ask("/api/started")[2])[0]["over"]), "the process is waited for")
ok(server.ask(f"/api/run/{mine}/stop", "POST", "{}", Origin=server.address)[0] == 400, "what is over cannot be stopped")
with open("one.yaml", "w") as f:
    f.write(f'weft: 1\ntasks:\n  long: {{run: "sleep 600; echo > {{out}}", out: long.txt}}\n  below: {{run: "cat {{in}} > {{out}}", in: long.txt, out: below.txt}}\n  rest: {{run: "until [ -e {os.getcwd()}/gate1 ]; do sleep 0.1; done; echo > {{out}}", out: rest.txt}}\n')
server.ask("/api/start", "POST", json.dumps({"flow": "one.yaml", "jobs": "2"}), Origin=server.address)
mine += 1
ok(until(lambda: server.ask(f"/api/run/{mine}/live")[0] == 200 and live(mine)["running"] == 2), "two tasks run, one waits")
number = next(t["task"] for t in live(mine)["now"] if t["name"] == "long")
cancel = json.dumps({"task": number})
ok(server.ask(f"/api/run/{mine}/cancel", "POST", cancel)[0] == 403, "only the page cancels a task")
ok(server.ask(f"/api/run/{mine}/cancel", "POST", "{}", Origin=server.address)[0] == 400, "and says which")
ok(server.ask(f"/api/run/{mine}/cancel", "POST", json.dumps({"task": 99}), Origin=server.address)[0] == 400, "one that there is")
ok(server.ask(f"/api/run/{mine}/cancel", "POST", cancel, Origin=server.address)[0] == 200, "it is cancelled")
ok(until(lambda: live(mine)["skipped"] == 2 and live(mine)["running"] == 1), "with what depends on it, and the rest goes on")
# counts come at once, what became of single tasks from the record, half a second later
ok(until(lambda: server.ask(f"/api/run/{mine}/cancel", "POST", cancel, Origin=server.address)[0] == 400), "once")
with open("gate1", "w") as f:
    f.write("x\n")
ok(until(lambda: live(mine)["outcome"] == "cancelled") and live(mine)["done"] == 1, "to its end")

with open("secret.yaml", "w") as f:
    f.write(f'weft: 1\ntasks:\n  push: {{run: "echo with $TOKEN; touch {os.getcwd()}/told; until [ -e {os.getcwd()}/gate-secret ]; do sleep 0.1; done; echo > {{out}}", out: pushed.txt, secret: TOKEN, sandbox: false}}\n')
pushing = subprocess.Popen([weft, "run", "secret.yaml", "-q"], env={**environment, "TOKEN": "opensesame"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
mine += 1
ok(until(lambda: os.path.exists("told") and server.ask(f"/api/run/{mine}/live")[0] == 200 and live(mine)["running"] == 1), "a task that is given a secret, and has written it")
hidden = json.loads(server.ask(f"/api/run/{mine}/log?task=0")[2])
ok(hidden["text"] is None and hidden["masked"], "is not read while it runs")
with open("gate-secret", "w") as f:
    f.write("x\n")
pushing.wait()
shown = json.loads(server.ask(f"/api/run/{mine}/log?task=0")[2])
ok(shown["text"].startswith("with ") and "opensesame" not in shown["text"] and "masked" not in shown, f"but when it has ended, with the secret masked: {shown}")

with open("crowd.yaml", "w") as f:
    f.write('weft: 1\nlists: { i: { from: 1, to: 60000 } }\ntasks:\n  gate: { run: "until [ -e ' + os.getcwd() + '/gate3 ]; do sleep 0.1; done; echo > {out}", out: gate.txt }\n  crowd: { each: i, call: "libc.so.6:sched_yield", after: gate }\n')
server.ask("/api/start", "POST", json.dumps({"flow": "crowd.yaml"}), Origin=server.address)
mine += 1
ok(until(lambda: server.ask(f"/api/run/{mine}/live")[0] == 200 and live(mine)["running"] == 1), "a run of 60,001 tasks")
crowd = live(mine)
ok(crowd["later"] is not None and crowd["later"] > 0 and crowd["now"] == [], "single tasks of it are told later")
ok([(f["name"], f["tasks"], f["running"]) for f in crowd["families"]] == [("gate", 1, 1), ("crowd", 60000, 0)], f"but counts by kind at once: {crowd['families']}")
ok(until(lambda: server.ask(f"/api/run/{mine}/live?all=1")[0] == 200), "names are on record soon")
whole = json.loads(server.ask(f"/api/run/{mine}/live?all=1")[2])
ok(whole["later"] is None and [t["name"] for t in whole["now"]] == ["gate"] and [f["colour"] for f in whole["families"]] == [f["colour"] for f in crowd["families"]], "all of it is told to who insists, in the same colours")
with open("gate3", "w") as f:
    f.write("x\n")
ok(until(lambda: live(mine)["outcome"] == "done") and live(mine)["done"] == 60001 and live(mine)["later"] is None, "and to everybody when it is over")
with open("pair.yaml", "w") as f:
    f.write("weft: 1\ntasks:\n" + "".join(f'  {name}: {{run: "until [ -e {os.getcwd()}/gate2 ]; do sleep 0.1; done; echo > {{out}}", out: {name}.txt}}\n' for name in "pq"))
server.ask("/api/start", "POST", json.dumps({"flow": "pair.yaml", "jobs": "1"}), Origin=server.address)
mine += 1
ok(until(lambda: server.ask(f"/api/run/{mine}/live")[0] == 200 and live(mine)["running"] == 1), "of two tasks on one core one runs")
coming = json.loads(server.ask(f"/api/run/{mine}/next")[2])
ok(coming["ready"] == 1 and [t["name"] for t in coming["next"]] == ["q" if live(mine)["now"][0]["name"] == "p" else "p"], "and the other is next")
with open("gate2", "w") as f:
    f.write("x\n")
ok(until(lambda: live(mine)["outcome"] == "done"), "then both are done")
server.ask("/api/start", "POST", json.dumps({"flow": "slow.yaml", "on": "nowhere:3"}), Origin=server.address)
ok(until(lambda: json.loads(server.ask("/api/started")[2])[0]["over"]), "a run that cannot begin")
told = json.loads(server.ask("/api/started")[2])[0]
ok(told["status"] == 2 and "nowhere" in told["said"], "says why")

# ---- what is asked for is done, or refused ----
for wrong in ({"on": "--force"}, {"jobs": 2}, {"jobs": "-1"}, {"params": "a=1"}, {"targets": [1]}):
    status, _, text = server.ask("/api/start", "POST", json.dumps({"flow": "flow.yaml"} | wrong), Origin=server.address)
    ok(status == 400 and f'"{next(iter(wrong))}"' in json.loads(text)["error"], f"{wrong} is refused, and not left out")
with open("watched.yaml", "w") as f:
    f.write('weft: 1\nlists: { i: { from: 1, to: 3000 } }\ntasks:\n  crowd: { each: i, call: "libc.so.6:sched_yield" }\n  gate: { run: "until [ -e ' + os.getcwd() + '/gate4 ]; do sleep 0.1; done; echo > {out}", out: gate4.txt, after: crowd }\n')
before = max(r["run"] for r in json.loads(server.ask("/api/runs")[2])["runs"])
server.ask("/api/start", "POST", json.dumps({"flow": "watched.yaml"}), Origin=server.address)
mine = before + 1
ok(until(lambda: server.ask(f"/api/run/{mine}/live")[0] == 200 and live(mine)["waiting"] == 0 and live(mine)["running"] == 1), "a run of 3,001 tasks of which the last one waits")
ok(until(lambda: server.ask(f"/api/run/{mine}/gantt?columns=4000&most=100000")[0] == 200 and live(mine)["later"]), "what its Gantt costs is counted: who asks again and again waits")
with open("gate4", "w") as f:
    f.write("x\n")
ok(until(lambda: live(mine)["outcome"] == "done"), "it ends")
with open("large.yml", "w") as f:
    f.write("weft: 1\nlists:\n  i: [" + ",\n    ".join(f"sample_{i:06}" for i in range(2000)) + "]\ntasks:\n  a: { run: 'true > {out}', out: la.txt }\n")
ok({f["path"]: f["sort"] for f in json.loads(server.ask("/api/files")[2])}.get("large.yml") == "workflow", "a workflow whose tasks come behind long lists is one")
ok("large.yml" in json.loads(server.ask("/api/workbench/flows")[2]), "in the Workbench as well, whichever of both suffixes it has")
seen = json.loads(server.ask("/api/workbench/flow?file=large.yml")[2])
save = lambda text, name="large.yml", digest=seen["digest"]: server.ask("/api/workbench/save", "POST", json.dumps({"file": name, "text": text, "digest": digest}), Origin=server.address)[0]
ok(save("weft: 1\0tasks: {}\n") == 400 and "sample_001999" in open("large.yml").read(), "a text with a zero in it is not saved up to there")
ok(save(seen["text"] + "# more\n") == 200 and open("large.yml").read().endswith("# more\n"), "what it is changed to is saved")
os.mkfifo("pipe.yaml")
ok(server.ask("/api/workbench/flow?file=pipe.yaml")[0] == 400 and save("weft: 1\n", "pipe.yaml", "") == 409, "a pipe is no workflow, and nobody waits for its other end")
for again in range(1, 100):
    name = f"run-1-{again}.yaml" if again > 1 else "run-1.yaml"
    if not os.path.exists(name):
        with open(name, "w") as f:
            f.write("mine\n")
status, _, text = server.ask("/api/run/1/open", "POST", "{}", Origin=server.address)
ok(status == 500 and "taken" in json.loads(text)["error"] and open("run-1-99.yaml").read() == "mine\n", "where every name is taken nothing is written over")
ok(runs(f"digest={digest}") != [] and set(runs(f"digest={digest}")) >= set(runs(f"digest={digest}&words=frobnicate")) and runs(f"digest={digest}&words=frobnicate") == [], "a digest and words: both hold")
ok(server.ask("/api/runs?digest=" + os.path.realpath("b.txt"))[0] == 400, "a digest is no path")
ok(files["found"] == len(files["files"]), "files are counted")

link = http.client.HTTPConnection(server.host, timeout=30)
link.request("GET", "/api/events", headers={"Cookie": server.cookie})
events = link.getresponse()
run("run", "flow.yaml", "--force", "-q")
seen = []
while "event: runs" not in seen and len(seen) < 100:
    seen.append(events.readline().decode().strip())
ok("event: runs" in seen, "a run that appears is told to pages that listen")
run("run", "flow.yaml", "--force", "-q")
while seen.count("event: runs") < 2 and len(seen) < 200:
    seen.append(events.readline().decode().strip())
number = next(line for line in seen if line.startswith("id: "))[4:]
again = http.client.HTTPConnection(server.host, timeout=30)
again.request("GET", "/api/events", headers={"Cookie": server.cookie, "Last-Event-ID": number})
missed = again.getresponse()
line = ""
while not line.startswith("id: "):
    line = missed.readline().decode().strip()
ok(line == f"id: {int(number) + 1}", "who was away gets what it missed")
ok(server.end() == 0, "it ends in order while pages listen")

watched = Server("--read-only")
watched.enter()
ok(watched.ask("/api/run/1/say", "POST", say, Origin=watched.address)[0] == 403, "--read-only: nothing is changed")
ok(watched.ask("/api/start", "POST", json.dumps({"flow": "flow.yaml"}), Origin=watched.address)[0] == 403, "nor started")
ok(watched.ask("/api/run/1/cancel", "POST", json.dumps({"task": 0}), Origin=watched.address)[0] == 403, "nor cancelled")
ok(all(watched.ask(path, "POST", "{}", Origin=watched.address)[0] == 403 for path in every_change), "by no address that changes something")
ok(json.loads(watched.ask("/api/about")[2])["read_only"], "and the page knows")
with open("bad.yaml", "w") as f:
    f.write("weft: 1\ntasks:\n" + "".join(f'  t{i}: {{run: "frobnicate {i} > {{out}}", out: x{i}}}\n' for i in range(9)))
run("run", "bad.yaml", "-k", "-q")
last = json.loads(watched.ask("/api/runs?workflow=bad")[2])["runs"][0]["run"]
report = watched.ask(f"/api/run/{last}/page")[2]
ok(report.count('class="cause"') == 1 and "<details><summary>all 9 failed tasks" in report, "equal failures are one row, which opens")
taken = run("ui", "--port", watched.host.split(":")[1])
ok(taken.returncode == 2 and "--port" in taken.stderr, "a port that is taken is told, with what to do")
watched.end()
ok(run("ui", "nowhere").returncode == 2, "a folder that is not there")
print(f"1..{count}")
sys.exit(bad > 0)
