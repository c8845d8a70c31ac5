"""Client of ``eigenhedge serve``. It needs only the standard library, and pandas for DataFrames.

Requests of :meth:`Stream.learn` and :meth:`Stream.accept` have an ``Idempotency-Key``. A request
that is repeated after a broken connection therefore takes effect only once.
"""

from __future__ import annotations

import http.client
import itertools
import json
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Client", "ServiceError", "Stream"]

_AGAIN = (429, 503, 507)
_ROWS = 5000


class ServiceError(Exception):
    """Error response of the service: HTTP ``status``, ``detail`` in one sentence, and ``row`` and ``column``.

    These are the index (from 0) of the row in the request and the name of the column that caused the problem, or None.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.detail: str = str(problem.get("detail", "the service gave no reason"))
        self.row: int | None = problem.get("row")
        self.column: str | None = problem.get("column")
        super().__init__(f"{self.detail} (status {status})")


class Client:
    """Connection to a service.

    Parameters
    ----------
    address : str
        ``http://HOST:PORT``, or ``https://HOST:PORT`` for a proxy with TLS in front of the service.
    token : str, optional
        One of the tokens in the service's ``--token-file``. None for a service without tokens.
    retries : int, default=5
        Maximum number of times that a request is repeated after a broken connection or a status of 429, 503 or 507.
    timeout : float, default=60.0
        Maximum time to wait for a response, in seconds.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8750")
    >>> client
    Client('http://127.0.0.1:8750')
    """

    def __init__(
        self, address: str = "http://127.0.0.1:8750", token: str | None = None, retries: int = 5, timeout: float = 60.0
    ) -> None:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"address must be http://HOST:PORT, got {address!r}")
        self.address = address
        self._secure, self._host, self._prefix = parts.scheme == "https", parts.netloc, parts.path.rstrip("/")
        self._token, self._retries, self._timeout = token, retries, timeout
        self._connection: http.client.HTTPConnection | None = None
        #: True if the most recent request was repeated after a broken connection.
        self._repeated = False

    def __repr__(self) -> str:
        return f"Client({self.address!r})"

    def close(self) -> None:
        """Close the connection. The next request opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(self, name: str, kind: str = "model", **options: Any) -> Stream:
        """Create a stream, or return the existing stream with this name and these options.

        ``kind`` is ``"model"`` or ``"monitor"``. Options have underscores in place of hyphens: ``k``,
        ``learner``, ``by``, ``warm_up``, …
        """
        self._send("PUT", _path(name), json.dumps({"kind": kind, **options}).encode(), "application/json")
        return Stream(self, name)

    def stream(self, name: str) -> Stream:
        """Return the stream with this name, without checking that it exists."""
        return Stream(self, name)

    def streams(self) -> list[dict[str, Any]]:
        """Return the descriptions of all streams."""
        found: list[dict[str, Any]] = json.loads(self._send("GET", "/v1/streams"))["streams"]
        return found

    def backup(self) -> bytes:
        """Return a backup of the running store. Requires a token with the scope ``admin``."""
        return self._send("GET", "/v1/backup")

    def _send(self, method: str, path: str, body: bytes | None = None, kind: str = "", key: str = "") -> bytes:
        headers = {"Content-Type": kind} if kind else {}
        if key:
            headers["Idempotency-Key"] = key
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        # A request that changes the state and has no key must not be repeated.
        is_safe = method != "POST" or bool(key) or path.endswith("/score")
        self._repeated = False
        for attempt in range(self._retries + 1):
            try:
                status, text, wait = self._once(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                self.close()
                if attempt == self._retries or not is_safe:
                    raise
                self._repeated = True
                time.sleep(min(0.1 * 2**attempt, 5.0))
                continue
            if status < 300:
                return text
            if status not in _AGAIN or attempt == self._retries:
                raise ServiceError(status, _problem(text))
            time.sleep(max(wait, 0.1 * 2**attempt))
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes, float]:
        if self._connection is None:
            make = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._connection = make(self._host, timeout=self._timeout)
        self._connection.request(method, self._prefix + path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        return answer.status, text, float(answer.headers.get("Retry-After") or 0.0)


class Stream:
    """Stream of a service, returned by :meth:`Client.create` or :meth:`Client.stream`."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self.name = client, name

    def __repr__(self) -> str:
        return f"Stream({self.name!r}, {self._client!r})"

    def learn(self, rows: Any, batch: int = _ROWS, *, times: Iterable[Any] | None = None) -> Iterator[dict[str, Any]]:
        """Send rows to learn from, and yield the result of each row, in order.

        ``rows`` is a DataFrame, or an iterable of mappings or sequences. Each request contains at
        most ``batch`` rows. The results of a request are yielded before the next one is sent.
        ``times`` has one time per row, for rows with named columns. Times are sent as the column
        ``time``, so the stream needs the option ``time="time"``, and rows with a column ``time`` are refused.
        """
        for lines in _batches(rows, batch, times):
            yield from self._rows("rows", lines, str(uuid.uuid4()))

    def learn_frame(self, frame: Any, batch: int = _ROWS) -> Any:
        """Learn from the rows of a DataFrame, and return the results with its index, unless rows were skipped."""
        return _frame(self.learn(frame, batch), frame)

    def score(self, rows: Any, batch: int = _ROWS) -> Iterator[dict[str, Any]]:
        """Score rows without learning from them, and yield the result of each row, in order."""
        for lines in _batches(rows, batch):
            yield from self._rows("score", lines, "")

    def score_frame(self, frame: Any, batch: int = _ROWS) -> Any:
        """Score the rows of a DataFrame without learning, and return the results like :meth:`learn_frame`."""
        return _frame(self.score(frame, batch), frame)

    def _rows(self, end: str, lines: Sequence[str], key: str) -> Iterator[dict[str, Any]]:
        body = "\n".join(lines).encode()
        answers = self._client._send("POST", _path(self.name, end), body, "application/x-ndjson", key)
        for line in answers.splitlines():
            yield json.loads(line)

    def summary(self, key: str | None = None) -> dict[str, Any]:
        """Return the summary of the stream, or of one key if ``key`` is given."""
        return self._read("summary", key)

    def incidents(self, key: str | None = None) -> list[dict[str, Any]]:
        """Return the incidents of the stream or of one key: ongoing ones, then the latest."""
        found: list[dict[str, Any]] = self._read("incidents", key)["incidents"]
        return found

    def _read(self, end: str, key: str | None) -> dict[str, Any]:
        query = "" if key is None else "?" + urllib.parse.urlencode({"key": key})
        found: dict[str, Any] = json.loads(self._client._send("GET", _path(self.name, end) + query))
        return found

    def accept(self, key: str | None = None) -> None:
        """Make the most recent rows of the monitor, or of the monitor of one key, its reference."""
        body = json.dumps({} if key is None else {"key": key}).encode()
        self._client._send("POST", _path(self.name, "accept"), body, "application/json", str(uuid.uuid4()))

    def model(self) -> bytes:
        """Return the model or monitor as the bytes of a model file, for :func:`eigenhedge.load` or a file."""
        return self._client._send("GET", _path(self.name, "model"))

    def replace_model(self, data: bytes) -> None:
        """Replace the model or monitor by that of a model file with the same options, except the seed.

        If the service uses tokens, the token needs the scope ``admin``.
        """
        self._client._send("PUT", _path(self.name, "model"), data, "application/octet-stream")

    def delete(self) -> None:
        """Delete the stream and all its data. Requires a token with the scope ``admin``."""
        try:
            self._client._send("DELETE", _path(self.name))
        except ServiceError as error:
            # If the response to the first attempt was lost, the stream is already deleted.
            if error.status != 404 or not self._client._repeated:
                raise


def _path(name: str, end: str = "") -> str:
    return "/v1/streams/" + urllib.parse.quote(name, safe="") + (f"/{end}" if end else "")


def _problem(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _plain(value: Any) -> Any:
    if getattr(getattr(value, "dtype", None), "kind", "") == "M" and value == value:
        return str(value)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return None if value != value else str(value)


def _line(row: Any) -> str:
    if isinstance(row, Mapping):
        return json.dumps({str(name): _plain(value) for name, value in row.items()})
    return json.dumps([_plain(value) for value in row])


def _batches(rows: Any, batch: int, times: Iterable[Any] | None = None) -> Iterator[list[str]]:
    if batch < 1:
        raise ValueError(f"batch must be at least 1, got {batch}")
    each = iter(rows.to_dict("records") if hasattr(rows, "to_dict") and hasattr(rows, "columns") else rows)
    if times is not None:
        each = (_with_time(row, time) for row, time in zip(each, times, strict=True))
    while lines := [_line(row) for row in itertools.islice(each, batch)]:
        yield lines


def _with_time(row: Any, time: Any) -> dict[str, Any]:
    if "time" in row:
        raise ValueError("the rows have a column 'time' already: leave out times, or rename or drop the column")
    return {"time": time, **row}


def _frame(answers: Iterable[dict[str, Any]], frame: Any) -> Any:
    import pandas

    found = list(answers)
    index = frame.index if len(found) == len(frame) else None
    return pandas.DataFrame(found, index=index)
