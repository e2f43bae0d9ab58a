"""Stands in for the worker: same protocol, no model. The model "file" it is given says how to behave.

ok            answer every request
slow          answer after the file `go` appears beside the model
dies-loading  end before it is ready (every time)
dies-once     end before it is ready the first time
refuses       report that the model cannot be loaded
hangs         never become ready
dies-working  end in the middle of the first reply
deaf          answer, and do not stop when standard input ends
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    config = json.loads(sys.stdin.buffer.readline())
    model = Path(config["model"])
    mode = model.read_text().removeprefix("GGUF").strip()
    with (model.parent / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    print("native noise", file=sys.stderr, flush=True)
    first = len((model.parent / "starts").read_text().splitlines()) == 1
    if mode == "dies-loading" or (mode == "dies-once" and first):
        os._exit(3)
    if mode == "refuses":
        say({"error": "unknown architecture"})
        return
    if mode != "hangs":
        say({"url": serve(config["api_key"], mode, model, first=first)})
    while os.read(0, 1):
        pass
    if mode == "deaf":
        threading.Event().wait()
    os._exit(0)


def say(answer: dict[str, str]) -> None:
    print(json.dumps(answer), flush=True)


def serve(key: str, mode: str, model: Path, *, first: bool) -> str:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            (model.parent / "request.json").write_text(json.dumps(body))
            if self.headers["authorization"] != f"Bearer {key}":
                self.send_error(401)
                return
            while mode == "slow" and not (model.parent / "go").exists():
                time.sleep(0.005)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.chunk({"choices": [{"delta": {"content": "hel"}}]})
            if mode == "dies-working" and first:
                os._exit(9)
            self.chunk({"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]})
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

        def chunk(self, value: object) -> None:
            self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
            self.wfile.flush()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


if __name__ == "__main__":
    main()
