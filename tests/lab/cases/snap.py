"""Ubuntu's kubelet, which is a snap: set and started through snapd's socket once the gate is open.

No snap runs in the lab: snapd is a stand-in that answers as snapd does, keeps what it is told, and writes the arguments of
kubelet as the snap's own hook does; the snap's unit starts the lab's stand-in for kubelet with them.
"""

import json

from machine import document

UNIT = "snap.kubelet-eks.daemon.service"

SNAPD = '''#!/usr/bin/python3
import http.server, json, os, pathlib, socketserver, subprocess, threading

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


def control(action):
    subprocess.run(["systemctl", action, "UNIT"], check=True)


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
        self.wfile.write(b"%x\\r\\n%s\\r\\n0\\r\\n\\r\\n" % (len(text), text))

    def note(self, body=None):
        with open("/lab/snapd-asked", "a") as file:
            file.write(json.dumps([self.command, self.path, body]) + "\\n")

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
            # This image has no `kubectl-eks`.
            if asked["snap"] != "kubelet-eks":
                refusal = {"message": f'snap "{asked["snap"]}" is not installed', "kind": "snap-not-found"}
                return self.say(404, {"type": "error", "status-code": 404, "result": refusal})
            return self.change(lambda: ALIASES.write_text(json.dumps(aliases() | {asked["snap"]: {asked["alias"]: {
                "command": f'{asked["snap"]}.{asked["app"]}', "status": "manual", "manual": asked["app"]}}})))
        self.change(lambda: control(asked["action"]))


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    pass


server = Server("/run/snapd.socket", Answers)
server.serve_forever()
'''.replace("UNIT", UNIT)

DAEMON = '#!/bin/sh\nexec /usr/bin/kubelet $(cat /var/lib/lab-snap-arguments)\n'


def ubuntu():
    # On Ubuntu it is there when the machine starts; here it comes with the operator's units, before the gate.
    snapd = "[Unit]\nDescription=snapd (stand-in)\n\n[Service]\nExecStart=/lab/snapd\n\n[Install]\nWantedBy=multi-user.target\n"
    made = document(
        os={"family": "ubuntu", "version": "22.04"},
        units=[{"name": "snapd.service", "content": snapd, "enabled": True}],
    )
    made["spec"]["flavour"] = "eksctl"
    return made


def asked(machine):
    return [json.loads(line) for line in machine.text("/lab/snapd-asked").splitlines()]


def image(machine):
    """snapd and the snap, as Ubuntu's image has them."""
    unit = f"[Unit]\nDescription=kubelet (snap, stand-in)\n\n[Service]\nExecStart=/lab/daemon\nRestart=on-failure\n"
    given = {
        "/lab/snapd": machine.give(SNAPD, "snapd", 0o755),
        "/lab/daemon": machine.give(DAEMON, "daemon", 0o755),
        f"/etc/systemd/system/{UNIT}": machine.give(unit, "unit", 0o644),
    }
    return [word for path, file in given.items() for word in ("--file", f"{path}={file}")]


def killed(lab):
    """The agent is killed before, at and after the gate: the snap is set as ever, and started once in each boot."""
    undisturbed = lab.machine("snap, undisturbed")
    undisturbed.boot(ubuntu(), *image(undisturbed)).came_up()
    machine = lab.machine("snap, killed")
    steps = ("eksctl-kubelet", "gate", "kubelet")
    kills = [word for step in steps for word in ("--kill", step)]
    trial = machine.boot(ubuntu(), "--reboot", *image(machine), *kills, patience=90).came_up()
    assert len(trial.of("lab", "killed")) == len(steps), trial.story()
    for boot in (1, 2):
        assert len(trial.of("kubelet.service", "started", boot)) == 1, trial.story()
    first, second = machine.calls()
    assert first["arguments"] == second["arguments"] == undisturbed.calls()[0]["arguments"], machine.calls()


def set_and_started(lab):
    machine = lab.machine("snap")
    trial = machine.boot(ubuntu(), "--reboot", *image(machine)).came_up()
    calls = machine.calls()
    assert len(calls) == 2, calls
    for call in calls:
        assert "--config=/etc/eksctl/kubelet.yaml" in call["arguments"], call
        assert any(word.startswith("--node-ip=1") for word in call["arguments"]), call
    conf, start = "/v2/snaps/kubelet-eks/conf", ["POST", "/v2/apps", {"action": "start", "names": ["kubelet-eks"]}]
    names = ["GET", "/v2/aliases", None]
    kubectl, kubelet = [
        ["POST", "/v2/aliases", {"action": "alias", "alias": name, "app": name, "snap": f"{name}-eks"}] for name in ("kubectl", "kubelet")
    ]
    first, second = asked(machine)[:6], asked(machine)[6:]
    assert first[:3] == [names, kubectl, kubelet], first
    assert [request[:2] for request in first[3:]] == [["GET", conf], ["PUT", conf], ["POST", "/v2/apps"]], first
    assert first[5] == start and first[4][2]["kubeconfig"] == "/etc/eksctl/kubeconfig.yaml", first
    # Named and set already when the machine starts again, it is started all the same, once; what was not there is asked for again.
    assert second == [names, kubectl, ["GET", conf, None], start], second
    for boot in (1, 2):
        trial.check(len(trial.of("kubelet.service", "started", boot)) == 1, f"kubelet was not started once in boot {boot}")
    # All of eksctl's files, and the whole table without its rows in the user-data.
    rows = machine.text("/etc/eksctl/max_pods.map").splitlines()
    assert len(rows) > 1000 and "m5.large 29" in rows, len(rows)
    entry = machine.path("/var/lib/cloud/scripts/eksctl/bootstrap.ubuntu.sh")
    assert str(entry.readlink()) == "/opt/bringup/bin/bringup-node", entry
    assert not machine.path(f"/etc/systemd/system/multi-user.target.wants/{UNIT}").exists()


def cases():
    yield "kubelet is set and started through snapd, twice", set_and_started
    yield "kubelet is a snap: killed three times, and a second boot", killed
