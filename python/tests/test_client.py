"""Tests of the client with a small service in this process, and with the program if it was built."""

import http.server
import json
import subprocess
import threading
from typing import ClassVar

import numpy as np
import pytest
from conftest import PROGRAM, needs_program

import eigenhedge
from eigenhedge.client import Client, ServiceError


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers each row with its index, but closes the first connection of each key."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[dict] = {}
    rows = 0

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body.get("k") == 0:
            problem = {"status": 422, "detail": "k must be at least 1, got 0", "row": 3, "column": "x"}
            return self.reply(422, json.dumps(problem).encode())
        self.reply(201, b"{}")

    def do_POST(self):
        lines = self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines()
        key = self.headers["Idempotency-Key"]
        is_new = key not in Echo.seen
        if is_new:
            first = Echo.rows
            Echo.rows += len(lines)
            Echo.seen[key] = [json.dumps({"row": first + i, "got": json.loads(line)}) for i, line in enumerate(lines)]
            self.close_connection = True
            self.connection.close()
            return
        self.reply(200, "\n".join(Echo.seen[key]).encode(), "application/x-ndjson")


@pytest.fixture
def client():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Echo.seen, Echo.rows = {}, 0
    with Client(f"http://127.0.0.1:{server.server_port}") as client:
        yield client
    server.shutdown()


def test_a_broken_connection_loses_and_doubles_nothing(client):
    rows = [{"x": i, "y": float("nan")} for i in range(10)]
    answers = list(client.create("s", k=1).learn(rows, batch=3))
    assert [answer["row"] for answer in answers] == list(range(10))
    assert answers[4]["got"] == {"x": 4, "y": None}
    assert Echo.rows == 10


def test_frames_go_in_and_come_out(client):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.5, 2.5], "y": [3, None]}, index=["a", "b"])
    found = client.stream("s").learn_frame(frame)
    assert list(found.index) == ["a", "b"] and list(found["row"]) == [0, 1]


@pytest.mark.parametrize("is_frame", [False, True])
def test_times_of_rows_that_have_times_are_refused(client, is_frame):
    rows = [{"time": 1, "x": 2.0}]
    rows = pytest.importorskip("pandas").DataFrame(rows) if is_frame else rows
    with pytest.raises(ValueError, match="column 'time' already: leave out times"):
        list(client.stream("s").learn(rows, times=["2026-03-01"]))
    assert not Echo.seen


def test_a_refusal_has_its_sentence_row_and_column(client):
    with pytest.raises(ServiceError, match="k must be at least 1") as refused:
        client.create("s", k=0)
    assert (refused.value.status, refused.value.row, refused.value.column) == (422, 3, "x")
    with pytest.raises(ValueError):
        Client("ftp://x")
    with pytest.raises(ValueError):
        list(client.stream("s").learn([[1]], batch=0))


def test_the_client_is_part_of_the_package():
    assert eigenhedge.Client is Client


@pytest.fixture
def service(tmp_path):
    command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--store", str(tmp_path / "store")]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    address = next(line.split()[-1] for line in program.stderr if "listening on http" in line)
    with Client(address) as client:
        yield client
    program.terminate()
    program.wait()


ROWS = [[float((i * j) % 7) for j in range(1, 5)] for i in range(50)]


@needs_program
def test_the_service_learns_what_the_package_learns(service):
    answers = list(service.create("s", k=2, learner="leader").learn(ROWS, batch=20))
    model = eigenhedge.Model(4, 2, learner="leader")
    for row, answer in zip(ROWS, answers, strict=True):
        assert model.step(row).expected_loss == answer["expected_loss"]
    assert service.stream("s").summary()["rows"] == 50


@needs_program
def test_names_of_the_command_line_and_times(service):
    stream = service.create("m", **{"kind": "monitor", "warm-up": 30, "group-by": "machine", "time": "time"})
    rows = [{"machine": "a", "x": row[0], "y": row[1] + 0.1 * i, "z": row[2]} for i, row in enumerate(ROWS)]
    rows[-1]["x"] = 1e4
    stamps = np.datetime64("2026-03-01T00:00", "ns") + 60 * 10**9 * np.arange(50)
    answers = list(stream.learn(rows, times=stamps))
    assert [answer["machine"] for answer in answers] == ["a"] * 50
    assert answers[3]["time"].startswith("2026-03-01T00:03")
    assert stream.incidents("a")[0]["start_time"].startswith("2026-03-01")
    with pytest.raises(ServiceError, match="did you mean"):
        service.create("n", kind="monitor", warmup=30)


@needs_program
def test_rows_as_an_arrow_stream_have_the_answers_of_json_lines(service):
    pa = pytest.importorskip("pyarrow")
    columns = ["a", "b", "c", "d"]
    table = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(columns)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=17)
    service.create("arrow", k=2, learner="tracking")
    kind = "application/vnd.apache.arrow.stream"
    text = service._send("POST", "/v1/streams/arrow/rows", sink.getvalue().to_pybytes(), kind)
    found = [json.loads(line) for line in text.splitlines()]
    named = [dict(zip(columns, row, strict=True)) for row in ROWS]
    assert found == list(service.create("lines", k=2, learner="tracking").learn(named))
    assert len(found) == 50 and found[-1]["expected_loss"] > 0


@needs_program
def test_scores_by_key_are_those_of_the_key_and_learn_nothing(service):
    rows = [{"machine": "ab"[i % 2], **{f"x{j}": x for j, x in enumerate(row)}} for i, row in enumerate(ROWS)]
    stream = service.create("keys", k=2, learner="tracking", by="machine")
    list(stream.learn(rows))
    before = stream.model()
    scored = list(stream.score(rows))
    assert stream.model() == before
    for key, first in (("a", 0), ("b", 1)):
        model = eigenhedge.Model(4, 2, learner="tracking")
        for row in ROWS[first::2]:
            model.step(row)
        losses = [answer["loss"] for answer in scored[first::2]]
        # The service computes one row at a time, and Python blocks of rows. Their rounding differs.
        assert losses == pytest.approx(model.losses(ROWS[first::2]).tolist(), rel=1e-9, abs=1e-12), key


@needs_program
def test_events_of_program_service_and_package_are_equal(service, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(1200, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(1200, 5)), 6)
    X[rng.integers(500, 1200, 8), rng.integers(0, 5, 8)] += 3.0
    X[700:900:2, 3] += 2.0
    X[-1, 1] += 40.0
    frame = pandas.DataFrame(X, columns=[*"abcde"])
    frame.insert(0, "machine", ["left", "right"] * 600)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    command = [PROGRAM, "monitor", "rows.csv", "--group-by", "machine", "--warm-up", "150", "--quiet"]
    subprocess.run(
        [*command, "--events", "events.jsonl", "--events-detail", "--on-alarm", "cat >> told.jsonl"], check=True, cwd=tmp_path
    )
    texts = [(tmp_path / name).read_text() for name in ("told.jsonl", "events.jsonl")]
    told, listed = ([json.loads(line) for line in text.splitlines()] for text in texts)

    stream = service.create("monitors", kind="monitor", by="machine", warm_up=150, min_severity="minor")
    list(stream.learn(frame, batch=111))
    notices = stream.summary()["listed"]
    # The command receives every notice only if they fit into its queue.
    urgent = [notice for notice in notices if notice["kind"] in ("opened", "closed")]
    assert len(urgent) <= 64
    assert [{"id": notice["id"], **own} for notice, own in zip(urgent, told, strict=True)] == urgent
    assert {"opened", "closed"} <= {notice["kind"] for notice in told}

    fleet = eigenhedge.Fleet(eigenhedge.Monitor(warm_up=150))
    alarms = fleet.update("machine", frame)

    def plain(event):
        strength = event.get("strength", np.nan)
        causes = {}
        for i, (name, share) in enumerate([*event["causes"], ("", None), ("", None), ("", None)][:3], 1):
            causes.update({f"cause_{i}": name, f"share_{i}": share})
        of_incident = ("incident", "reported", "severity", "rows")
        same = {name: event.get(name) for name in ("start", "end", "peak", "alarms", *of_incident)}
        texts = {"grade": event.get("grade", ""), "signs": " ".join(event.get("signs", []))}
        strength = None if strength != strength else strength
        kind = event.get("kind", "incident")
        return {**same, **texts, "kind": kind, "machine": event["key"], "strength": strength, **causes}

    def place(event):
        return event["machine"], event["start"]

    # The program ends open events at the end of a table. A stream and a fleet keep them open.
    of_open = [{**event, "key": key} for key in fleet if (event := fleet[key].open_event_) is not None]
    assert len(of_open) > 0
    for kinds, found in [
        (("alarms", "stuck", "moved"), [*alarms.events, *of_open]),
        (("rise", "fall", "accepted"), alarms.changes),
        (("incident",), alarms.incidents),
    ]:
        ours = sorted((plain(event) for event in found), key=lambda event: (event["machine"], event["start"]))
        # The end of a table also ends incidents that later rows could continue.
        known = [(event["machine"], event["start"]) for event in ours]
        theirs = [event for event in listed if event["kind"] in kinds and (event["machine"], event["start"]) in known]
        theirs.sort(key=lambda event: (event["machine"], event["start"]))
        assert theirs == ours, kinds
