#!/bin/sh
# memcached with four threads, asked by eight clients at once, ended as its users end it.
socket=$(mktemp -u "${TMPDIR:-/tmp}/oracle-XXXXXX")
./memcached -u root -s "$socket" -t 4 -m 16 &
server=$!
python3 - "$socket" <<'CLIENTS'
import socket, sys, threading, time
def one(number):
    for _ in range(200):
        try:
            line = socket.socket(socket.AF_UNIX)
            line.connect(sys.argv[1])
            break
        except OSError:
            time.sleep(0.05)
    for n in range(40):
        for text in (b"set k%d 0 0 5\r\nhello\r\n" % (n % 7), b"get k%d\r\n" % (n % 5), b"incr c 1\r\n", b"set c 0 0 1\r\n1\r\n"):
            line.sendall(text)
            line.recv(4096)
    line.close()
threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
CLIENTS
kill -INT $server
wait $server
rm -f "$socket"
exit 0
