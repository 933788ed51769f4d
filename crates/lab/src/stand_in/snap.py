#!/usr/bin/python3
"""Stands in for snap: asks snapd for what it is told, waits until that is done, and fails as the change does."""
import http.client
import json
import socket
import sys
import time


class Snapd(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect("/run/snapd.socket")


def ask(method, path, body=None):
    snapd = Snapd("localhost")
    snapd.request(method, path, body and json.dumps(body))
    answer = json.load(snapd.getresponse())
    if answer["type"] == "error":
        sys.exit("error: " + answer["result"]["message"])
    return answer


def change(method, path, body):
    name = ask(method, path, body)["change"]
    while not (found := ask("GET", f"/v2/changes/{name}")["result"])["ready"]:
        time.sleep(0.05)
    if found["status"] != "Done":
        sys.exit(f"error: cannot perform the following tasks: {found['err']}")


def value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


match sys.argv[1:]:
    case ["alias", program, alias] if "." in program:
        snap, app = program.split(".", 1)
        change("POST", "/v2/aliases", {"action": "alias", "snap": snap, "app": app, "alias": alias})
    case ["set", snap, *settings] if settings and all("=" in setting for setting in settings):
        pairs = (setting.split("=", 1) for setting in settings)
        change("PUT", f"/v2/snaps/{snap}/conf", {name: value(text) for name, text in pairs})
    case ["start" | "stop" as action, *words]:
        flag = {"start": "enable", "stop": "disable"}[action]
        names = [word for word in words if word != f"--{flag}"]
        if not names or any(name.startswith("-") for name in names):
            sys.exit(f"error: the stand-in for snap knows nothing of: {words}")
        asked = {"action": action, "names": names}
        change("POST", "/v2/apps", asked | ({flag: True} if len(names) < len(words) else {}))
    case words:
        sys.exit(f"error: the stand-in for snap knows nothing of: {words}")
