#!/usr/bin/python3
"""Stands in for kubelet: records how it was called, answers health, misbehaves on request.

Reads /lab/kubelet.json: {"dies_after_s": N | null, "health": "ok" | "never" | "500", "version": "1.33.0"}.
"""
import http.server
import json
import os
import signal
import sys
import threading
import time

with open("/lab/kubelet.json") as file:
    wishes = json.load(file)

if "--version" in sys.argv:
    print("Kubernetes v" + wishes["version"])
    sys.exit(0)

calls = "/lab/kubelet-calls"
with open(calls, "a") as file:
    call = {"at_ms": int(time.time() * 1000), "pid": os.getpid(), "arguments": sys.argv[1:],
            "gate": os.path.exists("/run/bringup/kubelet.env")}
    file.write(json.dumps(call) + "\n")
print("stand-in for kubelet:", " ".join(sys.argv[1:]), flush=True)


def port():
    """Where health is asked for, by the configuration that kubelet would read."""
    for argument in sys.argv[1:]:
        if argument.startswith("--config="):
            with open(argument.split("=", 1)[1]) as file:
                return json.load(file).get("healthzPort", 10248)
    return 10248


class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if wishes["health"] == "never":
            time.sleep(3600)
        self.send_response(500 if wishes["health"] == "500" else 200)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
if wishes["dies_after_s"] is not None:
    threading.Timer(wishes["dies_after_s"], lambda: os._exit(1)).start()
http.server.ThreadingHTTPServer(("127.0.0.1", port()), Health).serve_forever()
