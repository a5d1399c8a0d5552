"""Forwards frames between two interfaces, each a delay later and no faster than a rate: netem where the kernel has none.

usage: slow_link.py INTERFACE INTERFACE DELAY_MS MBYTES_PER_S
"""
import collections, heapq, select, socket, sys, time

names, delay, rate = sys.argv[1:3], float(sys.argv[3]) / 1e3, float(sys.argv[4]) * 1e6
ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) for _ in names]
for end, name in zip(ends, names):
    end.setsockopt(socket.SOL_SOCKET, 33, 1 << 27)  # SO_RCVBUFFORCE
    end.setsockopt(socket.SOL_SOCKET, 32, 1 << 27)
    end.bind((name, 0))
waiting = [collections.deque(), collections.deque()]
free = [0.0, 0.0]  # when each direction has sent what it was given
while True:
    now = time.monotonic()
    for way in (0, 1):
        while waiting[way] and waiting[way][0][0] <= now:
            ends[1 - way].send(waiting[way].popleft()[1])
    due = [queue[0][0] for queue in waiting if queue]
    timeout = max(0, min(due) - time.monotonic()) if due else None
    for end in select.select(ends, [], [], timeout)[0]:
        way = ends.index(end)
        frame, (_, _, kind, *_) = end.recvfrom(1 << 16)
        if kind == 4:
            continue  # what was sent from here
        now = time.monotonic()
        free[way] = max(free[way], now) + len(frame) / rate
        waiting[way].append((free[way] + delay, frame))
