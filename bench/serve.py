"""Measure rows per second of processor time, and latencies, of `eigenhedge serve`.

`cargo xtask bench serve` runs `python bench/serve.py --program PROGRAM [--quick]`. The comparison
with Flask and River is skipped if they are not installed.
"""

import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

ROWS, WIDTH, K = 10_000, 16, 3


def rows(count, seed=0):
    source = random.Random(seed)
    lines = []
    for _ in range(count):
        factors = [source.gauss(0, 1) for _ in range(K)]
        cells = {f"x{i}": round(factors[i % K] * (1 + i / WIDTH) + 0.1 * source.gauss(0, 1), 6) for i in range(WIDTH)}
        lines.append(json.dumps(cells))
    return lines


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Service:
    def __init__(self, command, folder):
        self.process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        line = next(line for line in self.process.stderr if "listening on http://" in line)
        self.address = line.split("http://")[1].strip().rstrip("/")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def connection(self):
        return http.client.HTTPConnection(self.address, timeout=60)

    def seconds(self):
        return processor_seconds(self.process.pid)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=10)


def ask(connection, method, path, body=None, kind="application/x-ndjson"):
    connection.request(method, path, body, {"Content-Type": kind} if body is not None else {})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
    return text


def make(connection, name):
    options = json.dumps({"kind": "model", "k": K, "learner": "tracking"})
    ask(connection, "PUT", f"/v1/streams/{name}", options, "application/json")


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def many_rows(service, streams, total):
    """Send many rows per request. Return rows per second of processor and of elapsed time."""
    connection = service.connection()
    names = [f"many-{streams}-{i}" for i in range(streams)]
    for name in names:
        make(connection, name)
    each = max(total // streams, 10)
    lines = rows(min(each, ROWS))
    bodies = ["\n".join(lines)] * max(1, each // len(lines))
    ask(connection, "POST", f"/v1/streams/{names[0]}/rows", bodies[0])
    start, wall = service.seconds(), time.monotonic()
    for body in bodies:
        for name in names:
            ask(connection, "POST", f"/v1/streams/{name}/rows", body)
    count = len(bodies) * len(lines) * streams
    used, passed = service.seconds() - start, time.monotonic() - wall
    return {"rows": count, "rows_per_cpu_second": round(count / used), "rows_per_second": round(count / passed)}


def single_rows(service, streams, rate, seconds):
    """Send one row per request at a fixed rate. Latencies count from when a request is due."""
    connection = service.connection()
    names = [f"single-{streams}-{i}" for i in range(streams)]
    for name in names:
        make(connection, name)
    lines, workers = rows(997, 1), 16
    latencies, lock = [], threading.Lock()
    begin = time.monotonic() + 0.2

    def work(worker):
        mine, own = service.connection(), []
        for i in range(worker, int(rate * seconds), workers):
            due = begin + i / rate
            time.sleep(max(0.0, due - time.monotonic()))
            ask(mine, "POST", f"/v1/streams/{names[i % streams]}/rows", lines[i % len(lines)])
            own.append(time.monotonic() - due)
        with lock:
            latencies.extend(own)

    start = service.seconds()
    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    used = service.seconds() - start
    return {
        "requests": len(latencies),
        "asked_per_second": rate,
        "reached_per_second": round(len(latencies) / (time.monotonic() - begin)),
        "p50_ms": round(1e3 * percentile(latencies, 0.50), 2),
        "p99_ms": round(1e3 * percentile(latencies, 0.99), 2),
        "cpu_us_per_request": round(1e6 * used / len(latencies)),
    }


RIVER = """
import json, sys
from flask import Flask, Response, request
from river import anomaly, covariance, preprocessing
app = Flask(__name__)
scaler, trees, kind = preprocessing.MinMaxScaler(), anomaly.HalfSpaceTrees(seed=1), sys.argv[2]
if kind == "pca":
    import numpy, sqlite3
    moments, means = covariance.EmpiricalCovariance(), preprocessing.StandardScaler(with_std=False)
    store = sqlite3.connect("rows.db", check_same_thread=False)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("PRAGMA synchronous=FULL")
    store.execute("CREATE TABLE rows (line TEXT)")
    names, plane = None, None
def pca_step(row):
    # The loss of the plane of the rows before, then the plane of all rows so far.
    global names, plane
    means.learn_one(row)
    moments.update(row)
    if names is None:
        names = list(row)
        return {"expected_loss": 0.0}
    centered = means.transform_one(row)
    x = numpy.array([centered[name] for name in names])
    coordinates = numpy.zeros(KEPT) if plane is None else x @ plane
    loss = float(x @ x - coordinates @ coordinates)
    matrix = numpy.array([[moments[a, b].get() for b in names] for a in names])
    plane = numpy.linalg.eigh(matrix)[1][:, -KEPT:]
    return {"expected_loss": loss, **{f"z{i}": z for i, z in enumerate(coordinates.tolist())}}
KEPT = 3
@app.post("/rows")
def learn():
    answers, lines = [], request.get_data(as_text=True).splitlines()
    if kind == "pca":
        store.executemany("INSERT INTO rows VALUES (?)", [(line,) for line in lines])
        store.commit()
    for line in lines:
        row = json.loads(line)
        if kind == "pca":
            answers.append(json.dumps(pca_step(row)))
            continue
        scaler.learn_one(row)
        scaled = scaler.transform_one(row)
        if kind == "scaler":
            answers.append(json.dumps(scaled))
            continue
        answers.append(json.dumps({"score": trees.score_one(scaled)}))
        trees.learn_one(scaled)
    return Response("\\n".join(answers), mimetype="application/x-ndjson")
print("listening on http://127.0.0.1:%s/" % sys.argv[1], file=sys.stderr, flush=True)
app.run(port=int(sys.argv[1]), threaded=True)
"""


def flask_and_river(folder, kind, port):
    """Return rows per second of processor time of a service with Flask and River.

    River has no PCA. The kind "pca" does the work of a stream of the service with River's parts: it
    stores the rows in SQLite, computes their loss for the plane of the earlier rows, and updates
    River's covariance matrix and its leading directions. The kinds "scaler" and "trees" only scale
    rows or score them with half-space trees, and keep nothing on disk.
    """
    try:
        import flask  # noqa: F401
        import river  # noqa: F401
    except ImportError as error:
        return {"skipped": str(error)}
    path = os.path.join(folder, "river_service.py")
    with open(path, "w") as file:
        file.write(RIVER)
    service = Service([sys.executable, path, str(port), kind], folder)
    time.sleep(1)
    connection, body, start = service.connection(), "\n".join(rows(2000)), service.seconds()
    for _ in range(3):
        ask(connection, "POST", "/rows", body)
    used = service.seconds() - start
    service.process.kill()
    return {"rows_per_cpu_second": round(3 * 2000 / used)}


def program_alone(program, folder, count):
    """Return rows per second of processor time of `eigenhedge run` over a file of the same rows."""
    with open(os.path.join(folder, "rows.jsonl"), "w") as file:
        file.write("\n".join(rows(count)) + "\n")
    command = [program, "run", "rows.jsonl", "-k", str(K), "--learner", "tracking", "--out", "answers.jsonl", "--quiet"]
    before = os.times()
    subprocess.run(command, check=True, cwd=folder)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return {"rows_per_cpu_second": round(count / used)}


def main():
    program, quick = os.path.abspath(sys.argv[2]), "--quick" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        service = Service([program, "serve", "--listen", "127.0.0.1:0", "--store", "store"], folder)
        report = {
            f"ndjson, {streams} streams": many_rows(service, streams, 20_000 if quick else 200_000) for streams in (1, 64, 1000)
        }
        for streams in (1, 64, 1000):
            report[f"single rows, {streams} streams"] = single_rows(service, streams, 1000, 2 if quick else 10)
        service.stop()
        report["eigenhedge run over a file"] = program_alone(program, folder, 20_000 if quick else 200_000)
        report["flask + river, the same work"] = flask_and_river(folder, "pca", 8792)
        report["flask + river, scaler alone"] = flask_and_river(folder, "scaler", 8790)
        report["flask + river, half-space trees"] = flask_and_river(folder, "trees", 8791)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
