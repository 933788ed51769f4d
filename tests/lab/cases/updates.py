"""Updates of the system, and reboots: those that happen, those that do not, and those that never end.

Flatcar does not run in the lab: Debian stands in for it, and a stand-in for its update engine is on the machine's real bus. It speaks
D-Bus by itself, with none of our code, and says what a case wants it to say.
"""

from machine import document, generic

# What the engine says once it is asked: one line for each time, the last one for all that follow.
ENGINE = '''#!/usr/bin/python3
import pathlib, socket, struct, time

SCRIPT, ASKED = pathlib.Path("/lab/engine"), pathlib.Path("/lab/engine-asked")
MANAGER, PATH = "com.coreos.update1.Manager", "/com/coreos/update1"
bus = socket.socket(socket.AF_UNIX)
bus.connect("/run/dbus/system_bus_socket")
bus.sendall(b"\\0AUTH EXTERNAL 30\\r\\n")
assert bus.recv(100).startswith(b"OK")
bus.sendall(b"BEGIN\\r\\n")
serial, now = 0, "IDLE"


def padded(data, to):
    return data + bytes(-len(data) % to)


def text(value):
    return struct.pack("<I", len(value)) + value.encode() + b"\\0"


def send(kind, fields, signature="", body=b""):
    global serial
    serial += 1
    fields = fields + ([(8, "g", signature)] if signature else [])
    header = b""
    for code, of, value in fields:
        header = padded(header, 8) + bytes([code, 1]) + of.encode() + b"\\0"
        if of == "g":
            header += bytes([len(value)]) + value.encode() + b"\\0"
        else:
            header = padded(header, 4) + (struct.pack("<I", value) if of == "u" else text(value))
    start = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), serial, len(header))
    bus.sendall(padded(start + header, 8) + body)


def call(member, signature="", body=b""):
    bus_name = "org.freedesktop.DBus"
    send(1, [(1, "o", "/org/freedesktop/DBus"), (2, "s", bus_name), (3, "s", member), (6, "s", bus_name)], signature, body)


def take(count):
    data = b""
    while len(data) < count:
        more = bus.recv(count - len(data))
        if not more:
            raise SystemExit
        data += more
    return data


def heard():
    start = take(16)
    length, own, fields = struct.unpack("<III", start[4:])
    header = take(-(-(16 + fields) // 8) * 8 - 16)[:fields]
    take(length)
    found, at = {"kind": start[1], "serial": own}, 0
    while at < fields:
        at = -(-at // 8) * 8
        code, of = header[at], chr(header[at + 2])
        at += 4
        if of == "g":
            size, at = header[at], at + 1
        else:
            at = -(-at // 4) * 4
            (size,) = struct.unpack("<I", header[at : at + 4])
            at += 4
        if of != "u":
            found[code] = header[at : at + size].decode()
            at += size + 1
    return found


def status():
    version = "9999.0.0" if now == "UPDATED_NEED_REBOOT" else "0.0.0"
    body = padded(struct.pack("<qd", 0, 0.5) + text("UPDATE_STATUS_" + now), 4) + text(version)
    return "xdssx", padded(body, 8) + struct.pack("<q", 0)


call("Hello")
call("RequestName", "su", padded(text("com.coreos.update1"), 4) + struct.pack("<I", 0))
while True:
    message = heard()
    if message["kind"] != 1:
        continue
    answer = [(5, "u", message["serial"]), (6, "s", message[7])]
    if message[3] == "GetStatus":
        send(2, answer, *status())
        continue
    send(2, answer)
    if message[3] == "AttemptUpdate":
        lines = SCRIPT.read_text().splitlines()
        times = len(ASKED.read_text()) if ASKED.exists() else 0
        ASKED.write_text("x" * (times + 1))
        for now in lines[min(times, len(lines) - 1)].split():
            time.sleep(0.1)
            send(4, [(1, "o", PATH), (2, "s", MANAGER), (3, "s", "StatusUpdate")], *status())
'''
# As Flatcar has them: whoever asks for the engine starts it.
UNIT = "[Service]\nType=dbus\nBusName=com.coreos.update1\nExecStart=/lab/engine.py\n"
ACTIVATION = "[D-BUS Service]\nName=com.coreos.update1\nExec=/bin/false\nUser=root\nSystemdService=update-engine.service\n"
POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy user="root"><allow own="com.coreos.update1"/><allow send_destination="com.coreos.update1"/></policy></busconfig>
"""
UPDATED = "CHECKING_FOR_UPDATE UPDATE_AVAILABLE DOWNLOADING VERIFYING FINALIZING UPDATED_NEED_REBOOT\n"
BROKEN = "CHECKING_FOR_UPDATE UPDATE_AVAILABLE DOWNLOADING REPORTING_ERROR_EVENT IDLE\n"
SILENT = "CHECKING_FOR_UPDATE UPDATE_AVAILABLE DOWNLOADING\n"
# Holds a reboot up for longer than any trial takes.
SLOW = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\nExecStop=/bin/sleep 300\nTimeoutStopSec=infinity\n[Install]\nWantedBy=multi-user.target\n"


def flatcar(**update):
    made = generic(update=update)
    for part in made["spec"]["nodeGroups"]:
        part |= {"os": "flatcar", "carriers": ["ignition"]}
    return made


def given(machine, contents):
    words = []
    for path, text in contents.items():
        mode = 0o755 if text.startswith("#!") else 0o644
        words += ["--file", f"{path}={machine.give(text, path.strip('/').replace('/', '-'), mode)}"]
    return words


def engine(machine, says):
    """Options that give the machine an engine that says this."""
    return given(machine, {
        "/lab/engine.py": ENGINE,
        "/lab/engine": says,
        "/etc/systemd/system/update-engine.service": UNIT,
        "/usr/share/dbus-1/system-services/com.coreos.update1.service": ACTIVATION,
        "/etc/dbus-1/system.d/com.coreos.update1.conf": POLICY,
    })  # fmt: skip


def asked(machine):
    return len(machine.text("/lab/engine-asked"))


def needs_a_reboot(lab):
    """The update is followed to its end, the machine reboots once, and only then does kubelet start."""
    machine = lab.machine("update")
    made, words = flatcar(timeout="60s"), engine(machine, UPDATED)
    first = machine.boot(made, *words).did_not()
    assert first.of("update", "finished") and first.of("reboot", "rebooting"), first.story()
    assert first.of("reboot", "rebooting")[0]["why"] == "an update of the system needs it", first.story()
    assert not machine.calls() and not first.of("gate", "opened"), first.story()
    second = machine.boot(made, *words).came_up()
    assert second.of("reboot", "rebooted") and not second.of("reboot", "rebooting"), second.story()
    assert not second.of("update", "started"), second.story()
    assert asked(machine) == 1 and len(machine.calls()) == 1, (asked(machine), machine.calls())


def error(lab):
    """The engine's error is told, it is asked again, and what it brings then counts."""
    machine = lab.machine("update fails")
    made, words = flatcar(timeout="60s"), engine(machine, BROKEN + UPDATED)
    first = machine.boot(made, *words, patience=90).did_not()
    why = "the update engine had an error (after `UPDATE_STATUS_DOWNLOADING`)"
    assert [event["why"] for event in first.of("update", "failed")] == [why], first.story()
    assert first.of("reboot", "rebooting"), first.story()
    machine.boot(made, *words).came_up()
    assert asked(machine) == 2, asked(machine)


def always_an_error(lab):
    """After three errors it waits for the operator, with the engine's words, and kubelet stays where it is."""
    machine = lab.machine("update always fails")
    made, words = flatcar(timeout="60s"), engine(machine, BROKEN)
    trial = machine.boot(made, *words, "--until", "update=paused", patience=150, deadline=300).did_not()
    assert trial.status["standing"] == "paused", trial.status
    assert "the update engine had an error" in trial.status["why"] and "update-engine.service" in trial.status["fix"], trial.status
    assert asked(machine) == 3 and not machine.calls(), (asked(machine), trial.story())


def silence(lab):
    """An engine that falls silent meets the deadline, and is no success."""
    machine = lab.machine("update hangs")
    made, words = flatcar(timeout="5s"), engine(machine, SILENT)
    trial = machine.boot(made, *words, "--until", "update=timed-out").did_not()
    (late,) = trial.of("update", "timed-out")
    assert late["why"] == "it took longer than 5 s", trial.story()
    # Asked when the time is over, it says how far it got.
    assert "UPDATE_STATUS_DOWNLOADING" in trial.status["tail"], trial.status
    assert not machine.calls(), trial.story()


def no_engine(lab):
    """Where there is none, it is told what to do, and the agent goes on once there is one."""
    machine = lab.machine("no update engine")
    made = flatcar(timeout="60s")
    trial = machine.boot(made, "--until", "update=paused").did_not()
    assert trial.status["why"] == "there is no update engine on this machine's bus", trial.status
    # Which is there from now on, and has nothing to bring.
    machine.boot(made, *engine(machine, "CHECKING_FOR_UPDATE IDLE\n")).came_up()
    assert asked(machine) == 1, asked(machine)


def each_time(lab):
    """What asks for a reboot each time gets three; then it is told who asks, and the machine stays on."""
    machine = lab.machine("reboots that never end")
    # No container has this on its kernel's command line, whatever the boot loader is told.
    made = generic(kernelArguments=["lab.never=1"])
    words = given(machine, {"/usr/sbin/update-grub": "#!/bin/sh\necho $(($(cat /lab/grub) + 1)) >/lab/grub\n", "/lab/grub": "0\n"})
    for number in range(3):
        trial = machine.boot(made, *(words if number == 0 else [])).did_not()
        (event,) = trial.of("agent", "rebooting")
        assert event["why"] == "the kernel takes `lab.never=1` only then", trial.story()
    step = event["step"]
    trial = machine.boot(made, "--until", f"{step}=paused").did_not()
    assert not trial.of("agent", "rebooting"), trial.story()
    why = "the machine was rebooted 3 times for this plan and is to reboot again: the kernel takes `lab.never=1` only then"
    assert trial.status["why"] == why and "see what asks for a reboot each time" in trial.status["fix"], trial.status
    assert machine.text("/lab/grub") == "4\n" and not machine.calls(), machine.text("/lab/grub")


def never(lab):
    """A reboot that does not happen is told: the boot is the same afterwards."""
    machine = lab.machine("a reboot that never happens")
    words = given(machine, {"/etc/systemd/system/reboot.target": "[Unit]\nDescription=Not this one\n"})
    trial = machine.boot(generic(reboot={"policy": "always"}), *words, "--until", "reboot=paused", patience=90).did_not()
    whys = [event["why"] for event in trial.of("reboot", "failed")]
    assert "the machine was to reboot and never did" in whys, trial.story()
    assert trial.status["standing"] == "paused" and not machine.calls(), trial.status


def cut(lab):
    """The power goes after the reboot is recorded and before it happens: that was the reboot."""
    machine = lab.machine("cut before the reboot")
    words = given(machine, {
        "/etc/systemd/system/slow.service": SLOW,
        "/etc/systemd/system/sysinit.target.d/lab.conf": "[Unit]\nWants=slow.service\n",
    })  # fmt: skip
    made = document(reboot={"policy": "always"})
    first = machine.boot(made, *words, "--until", "reboot=rebooting").did_not()
    assert first.of("reboot", "rebooting") and not machine.calls(), first.story()
    second = machine.boot(made).came_up()
    assert second.of("reboot", "rebooted") and not second.of("reboot", "rebooting"), second.story()
    assert len(machine.calls()) == 1 and machine.runs() == 1, (machine.calls(), machine.runs())


def cases():
    yield "an update by the engine needs a reboot, and gets one", needs_a_reboot
    yield "an error of the update engine is told, and it is asked again", error
    yield "an update engine that only has errors is waited for", always_an_error
    yield "an update engine that falls silent meets the deadline", silence
    yield "no update engine: the agent waits for one", no_engine
    yield "a reboot that is asked for each time comes to an end", each_time
    yield "a reboot that never happens is told", never
    yield "the power goes between the mark and the reboot", cut
