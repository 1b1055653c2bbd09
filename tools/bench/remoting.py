"""RocketMQ's frames and a broker under measurement, for the programs of this folder that need no speed."""

import json
import os
import socket
import struct
import time


def frame(code, opaque, fields, body=b"", flag=0):
    header = json.dumps({"code": code, "extFields": fields, "flag": flag, "language": "JAVA", "opaque": opaque,
                         "serializeTypeCurrentRPC": "JSON", "version": 479}, separators=(",", ":")).encode()
    return struct.pack(">II", 4 + len(header) + len(body), len(header)) + header + body


def pull(opaque, group, topic, queue, offset=0, suspend=True, expression="*", kind="TAG", wait_ms=900_000):
    """As a Java client's, with its subscription."""
    return frame(11, opaque, {
        "bname": "broker-a", "commitOffset": "0", "consumerGroup": group, "expressionType": kind, "maxMsgBytes": "2147483647",
        "maxMsgNums": "32", "queueId": str(queue), "queueOffset": str(offset), "subVersion": "1795971850154", "subscription": expression,
        "suspendTimeoutMillis": str(wait_ms), "sysFlag": "6" if suspend else "4", "topic": topic})


def send(opaque, topic, queue, body, properties=""):
    return frame(10, opaque, {
        "producerGroup": "p", "topic": topic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4", "queueId": str(queue), "sysFlag": "0",
        "bornTimestamp": str(int(time.time() * 1000)), "flag": "0", "properties": properties, "reconsumeTimes": "0", "unitMode": "false"}, body)


def take_answer(data):
    """The next whole answer of a bytearray as (header, body), removed from it; None while there is none."""
    if len(data) < 4 or len(data) < 4 + struct.unpack_from(">I", data)[0]:
        return None
    size = struct.unpack_from(">I", data)[0]
    header = struct.unpack_from(">I", data, 4)[0] & 0xFFFFFF
    answer = json.loads(data[8:8 + header]), bytes(data[8 + header:4 + size])
    del data[:4 + size]
    return answer


class Broker:
    def __init__(self, port, pid):
        self.port, self.pid = port, pid

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def anon(self):
        with open("/proc/%d/status" % self.pid) as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) * 1024

    def cpu(self):
        with open("/proc/%d/stat" % self.pid) as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_of_threads(self):
        """As cpu(), but of the threads that live, and exact where cpu() counts ticks."""
        total = 0
        for task in os.listdir("/proc/%d/task" % self.pid):
            with open("/proc/%d/task/%s/schedstat" % (self.pid, task)) as stat:
                total += int(stat.read().split()[0])
        return total / 1e9

    def settle(self):
        """Until two looks in a row are equal."""
        last = -1.0
        while self.cpu() != last:
            last = self.cpu()
            time.sleep(0.5)

    def ask(self, sock, request):
        sock.sendall(request)
        data = bytearray()
        while (answer := take_answer(data)) is None:
            data += sock.recv(1 << 16)
        if answer[0]["code"] != 0:
            raise SystemExit("answered %s" % answer[0])
        return answer

    def create(self, sock, topic, queues):
        self.ask(sock, frame(17, 1, {"topic": topic, "defaultTopic": "TBW102", "readQueueNums": str(queues), "writeQueueNums": str(queues),
                                     "perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}))
