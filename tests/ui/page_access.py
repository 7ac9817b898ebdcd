"""The page's server for other machines: what is refused, TLS, signing in with a password or by the cluster's key, wrong passwords.
On loopback, and (where network namespaces may be made) on an address of its own. WEFT: the program. Speaks TAP."""
import http.client
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.parse

weft = os.path.abspath(os.environ["WEFT"])
work = tempfile.mkdtemp()
os.chdir(work)
environment = dict(os.environ, WEFT_HISTORY=os.path.join(work, "history.db"))
count = bad = 0


def ok(good, text, more=""):
    global count, bad
    count += 1
    bad += not good
    print(("" if good else "not ") + f"ok {count} - {text}")
    if not good and more:
        print("# " + str(more).replace("\n", "\n# "))


def run(*words):
    return subprocess.run([weft, *words], env=environment, capture_output=True, text=True, timeout=120)


class Server:
    def __init__(self, *words, before=()):
        self.process = subprocess.Popen([*before, weft, "ui", *words], env=environment, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.host = urllib.parse.urlsplit(self.url).netloc
        self.cookie = ""

    def ask(self, path, method="GET", body=None, **headers):
        context = ssl.create_default_context(cafile="lab.pem")
        link = http.client.HTTPSConnection(self.host, timeout=60, context=context)
        link.request(method, path, body, {"Cookie": self.cookie, **headers})
        answer = link.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    def sign_in(self, password, **headers):
        body = "password=" + urllib.parse.quote_plus(password)
        return self.ask("/sign-in", "POST", body, **{"Origin": self.url.rstrip("/"), "Content-Type": "application/x-www-form-urlencoded", **headers})

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def certificate(name, *hosts):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=lab", "-addext", "subjectAltName=" + ",".join(hosts),
                    "-keyout", "key.pem", "-out", "cert.pem"], check=True, capture_output=True)
    with open(name, "w") as f:
        f.write(open("cert.pem").read() + open("key.pem").read())


certificate("lab.pem", "IP:127.0.0.1", "IP:10.99.0.1", "DNS:lab.example")
with open("password", "w") as f:
    f.write("correct horse & staple+%41\n")
os.chmod("password", 0o600)
secret = "correct horse & staple+%41"

plain = Server()
ok(plain.url.startswith("http://127.0.0.1:") and "token=" in plain.url, "by default: loopback, with a token")
port = int(plain.host.split(":")[1])
listening = {line.split()[1] for name in ("tcp", "tcp6") for line in open("/proc/net/" + name).read().splitlines()[1:] if line.split()[3] == "0A"}
ok([a for a in listening if a.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"], "and on no other address", listening)
plain.end()

said = run("ui", "--bind", "10.99.0.1")
ok(said.returncode == 2 and "--certificate" in said.stderr and "ssh -L" in said.stderr, "another address without TLS is refused, with what to do", said.stderr)
said = run("ui", "--bind", "10.99.0.1", "--certificate", "lab.pem")
ok(said.returncode == 2 and "--password" in said.stderr, "and without a password")
said = run("ui", "--bind", "10.99.0.1", "--password", "password")
ok(said.returncode == 2 and "--certificate" in said.stderr, "a password without TLS is refused")
said = run("ui", "--bind", "0.0.0.0", "--certificate", "lab.pem", "--password", "password")
ok(said.returncode == 2 and "--host" in said.stderr, "every address needs a name")
said = run("ui", "--bind", "frob", "--certificate", "lab.pem", "--password", "password")
ok(said.returncode == 2 and "address" in said.stderr, "what is no address is told")
said = run("ui", "--certificate", "password", "--password", "password")
ok(said.returncode == 2 and "PEM" in said.stderr, "what is no certificate is told", said.stderr)
os.chmod("password", 0o644)
said = run("ui", "--certificate", "lab.pem", "--password", "password")
ok(said.returncode == 2 and "chmod" in said.stderr, "a password that others can read is none")
os.chmod("password", 0o600)
with open("short", "w") as f:
    f.write("abc\n")
os.chmod("short", 0o600)
ok(run("ui", "--certificate", "lab.pem", "--password", "short").returncode == 2, "nor is a short one")
# the server itself refuses, too, whoever starts it
own = subprocess.run([os.path.join(os.path.dirname(weft), "weft-ui"), work, "0", "read-write", weft, "bind=10.99.0.1"], env=environment, capture_output=True, text=True, timeout=60)
ok(own.returncode == 2 and "only with certificate and password" in own.stderr, "weft-ui alone does not, either")


def signed(server, right, where):
    ok(server.url.startswith("https://") and "token" not in server.url, f"{where}: TLS, and no token in the address", server.url)
    try:
        link = http.client.HTTPConnection(server.host, timeout=10)
        link.request("GET", "/")
        answered = link.getresponse().status
    except (OSError, http.client.HTTPException):
        answered = 0
    ok(answered in (0, 400), f"{where}: nothing is told without TLS", answered)
    status, headers, text = server.ask("/")
    ok(status == 401 and "<form" in text and "<script" not in text, f"{where}: a stranger may sign in")
    ok("form-action 'self'" in headers["Content-Security-Policy"] and "script-src" not in headers["Content-Security-Policy"], f"{where}: and nothing else")
    ok(server.ask("/api/about")[0] == 401 and server.ask("/page.js")[0] == 401, f"{where}: but gets nothing")
    ok(server.sign_in(right, Origin="https://evil.example")[0] == 403, f"{where}: no other site signs in")
    ok(server.sign_in(right, Host="evil.example")[0] == 421, f"{where}: nor by another name")
    ok(server.sign_in("")[0] == 401, f"{where}: nothing is no password")
    ok(server.sign_in(right)[0] == 429, f"{where}: and after a wrong one, everybody waits")
    status = 429
    while status == 429:
        status, headers, _ = server.sign_in(right)
    cookie = headers["Set-Cookie"] or ""
    ok(status == 303 and headers["Location"] == "/", f"{where}: the password opens it", status)
    ok(all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Secure")) and right not in cookie, f"{where}: by a cookie that no script and no plain connection sees", cookie)
    server.cookie = cookie.split(";")[0]
    ok(server.ask("/api/about")[0] == 200 and "<div id" in server.ask("/")[2], f"{where}: which is the page")
    ok(server.ask("/api/run/1/say", "POST", "{}", Origin="http://" + server.host)[0] == 403, f"{where}: http is another origin")
    ok(server.ask("/api/start", "POST", '{"flow": "no"}', Origin="https://" + server.host)[0] == 404, f"{where}: https is its own")
    words = open(f"/proc/{server.process.pid}/cmdline").read() + open(f"/proc/{server.process.pid}/environ").read()
    ok(right not in words, f"{where}: the secret is in no word and no variable of the process")
    ok(server.end() == 0, f"{where}: it ends in order")


signed(Server("--certificate", "lab.pem", "--password", "password"), secret, "password")
ok(run("key", "cluster.key").returncode == 0, "a cluster's key")
made = run("key", "--page", "cluster.key").stdout.strip()
ok(len(made) == 64 and made not in open("cluster.key").read(), "gives a password that is not the key")
signed(Server("--certificate", "lab.pem", "--key", "cluster.key"), made, "key")

# an address of its own, in a network of its own
network = "ip link set lo up && ip addr add 10.99.0.1/32 dev lo && "
inside = """import http.client, ssl, subprocess, sys
p = subprocess.Popen([sys.argv[1], "ui", "--bind", "10.99.0.1", "--certificate", "lab.pem", "--password", "password"], stdout=subprocess.PIPE, text=True)
url = p.stdout.readline().strip()
link = http.client.HTTPSConnection(url.split("/")[2], timeout=60, context=ssl.create_default_context(cafile="lab.pem"))
link.request("GET", "/")
status = link.getresponse().status
p.terminate()
print(url, status, p.wait(60))
"""
with open("inside.py", "w") as f:
    f.write(inside)
if subprocess.run(["unshare", "-rn", "sh", "-c", network + "true"], capture_output=True).returncode == 0:
    seen = subprocess.run(["unshare", "-rn", "sh", "-c", f"{network} exec {sys.executable} inside.py {weft}"], env=environment, capture_output=True, text=True, timeout=120)
    ok(seen.stdout.startswith("https://10.99.0.1:") and seen.stdout.split()[1:] == ["401", "0"], "on an address of its own", seen.stdout + seen.stderr)
else:
    print("# network namespaces are not to be had here: an address beyond loopback is not listened on")
print(f"1..{count}")
subprocess.run(["rm", "-rf", work])
sys.exit(bad > 0)
