"""An instance metadata service on its usual address, in this network namespace only: versions 1 and 2."""

import json
import multiprocessing
import socket
import threading

ADDRESS, TOKEN = "169.254.169.254", "session"
NODE = {"address": "10.77.0.10", "id": "i-0123456789abcdef0", "type": "m5.large", "zone": "eu-west-1a", "region": "eu-west-1"}
HOSTNAME = "ip-10-77-0-10.eu-west-1.compute.internal"
DOCUMENT = {
    "accountId": "111122223333", "architecture": "x86_64", "availabilityZone": NODE["zone"], "imageId": "ami-0123456789abcdef0",
    "instanceId": NODE["id"], "instanceType": NODE["type"], "pendingTime": "2026-01-01T00:00:00Z", "privateIp": NODE["address"],
    "region": NODE["region"], "version": "2017-09-30",
}
ANSWERS = {
    "PUT /latest/api/token": TOKEN,
    "GET /latest/dynamic/instance-identity/document": json.dumps(DOCUMENT),
    "GET /latest/meta-data/local-ipv4": NODE["address"],
    "GET /latest/meta-data/instance-id": NODE["id"],
    "GET /latest/meta-data/instance-type": NODE["type"],
    "GET /latest/meta-data/instance-life-cycle": "on-demand",
    "GET /latest/meta-data/mac": "02:00:00:00:00:01",
    "GET /latest/meta-data/placement/availability-zone": NODE["zone"],
    "GET /latest/meta-data/placement/region": NODE["region"],
    "GET /latest/meta-data/services/domain": "amazonaws.com",
    "GET /latest/meta-data/hostname": HOSTNAME,
    "GET /latest/meta-data/local-hostname": HOSTNAME,
}


def serve(listener, asked):
    def one(connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        received = b""
        while True:
            while b"\r\n\r\n" not in received:
                more = connection.recv(65536)
                if not more:
                    return connection.close()
                received += more
            head, received = received.split(b"\r\n\r\n", 1)
            body = ANSWERS.get(" ".join(head.decode().split()[:2]))
            with asked.get_lock():
                asked.value += 1
            status = "200 OK" if body is not None else "404 Not Found"
            body = (body or "").encode()
            connection.sendall(f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    while True:
        threading.Thread(target=one, args=[listener.accept()[0]], daemon=True).start()


def start():
    """Starts it, and gives the count of requests so far."""
    listener = socket.create_server((ADDRESS, 80), backlog=64)
    asked = multiprocessing.Value("i", 0)
    multiprocessing.Process(target=serve, args=[listener, asked], daemon=True).start()
    return asked
