#!/usr/bin/python3
"""Stands in for snapd: answers as it does, keeps what it is told, and gives kubelet's snap its arguments as the snap's own hook does.

Called with the unit of the snap's service and the name of the snap. Its socket is systemd's.
"""
import http.server
import json
import pathlib
import socket
import socketserver
import subprocess
import sys
import threading

UNIT, SNAP = sys.argv[1:]
KEPT = pathlib.Path("/var/lib/lab-snapd.json")
ARGUMENTS = pathlib.Path("/var/lib/lab-snap-arguments")
ALIASES = pathlib.Path("/var/lib/lab-snapd-aliases.json")
kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
changes = {}


def aliases():
    return json.loads(ALIASES.read_text()) if ALIASES.exists() else {}


def configure(settings):
    kept.update(settings)
    for name in [name for name, value in kept.items() if value is None]:
        del kept[name]
    KEPT.write_text(json.dumps(kept))
    ARGUMENTS.write_text(" ".join(f"--{name}={value}" for name, value in sorted(kept.items())))


def control(asked):
    for switch in [word for word in ("enable", "disable") if asked.get(word)]:
        subprocess.run(["systemctl", switch, UNIT], check=True)
    subprocess.run(["systemctl", asked["action"], UNIT], check=True)


class Answers(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def address_string(self):
        return ""

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")

    def say(self, status, answer):
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text))

    def note(self, body=None):
        with open("/lab/snapd-asked", "a") as file:
            file.write(json.dumps([self.command, self.path, body]) + "\n")

    def change(self, work):
        name = str(len(changes) + 1)
        changes[name] = {"id": name, "ready": False, "status": "Doing", "tasks": []}

        def run():
            try:
                work()
                changes[name] |= {"ready": True, "status": "Done"}
            except Exception as fault:
                changes[name] |= {"ready": True, "status": "Error", "err": str(fault)}

        threading.Thread(target=run).start()
        self.say(202, {"type": "async", "status-code": 202, "result": None, "change": name})

    def do_GET(self):
        if self.path.startswith("/v2/changes/"):
            return self.say(200, {"type": "sync", "status-code": 200, "result": changes[self.path.rsplit("/", 1)[1]]})
        self.note()
        found = aliases() if self.path == "/v2/aliases" else kept
        self.say(200, {"type": "sync", "status-code": 200, "result": found})

    def do_PUT(self):
        settings = self.body()
        self.note(settings)
        self.change(lambda: configure(settings))

    def do_POST(self):
        asked = self.body()
        self.note(asked)
        if self.path == "/v2/aliases":
            # The machine has no other.
            if asked["snap"] != SNAP:
                refusal = {"message": f'snap "{asked["snap"]}" is not installed', "kind": "snap-not-found"}
                return self.say(404, {"type": "error", "status-code": 404, "result": refusal})
            return self.change(lambda: ALIASES.write_text(json.dumps(aliases() | {asked["snap"]: {asked["alias"]: {
                "command": f'{asked["snap"]}.{asked["app"]}', "status": "manual", "manual": asked["app"]}}})))
        self.change(lambda: control(asked))


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    pass


server = Server("/run/snapd.socket", Answers, bind_and_activate=False)
server.socket = socket.socket(fileno=3)
server.serve_forever()
