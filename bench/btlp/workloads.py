"""What the real programs are timed with. Each work(folder) prepares once and returns a function that runs it once."""
import pathlib
import random
import socket
import subprocess
import threading
import time

LIMIT = 300  # seconds for one run


def text(path, megabytes):
    """Words in random order, the same on every machine: compresses about as a book does."""
    if path.exists() and path.stat().st_size >= megabytes << 20:
        return path
    generator = random.Random(7)
    words = ["".join(generator.choices("etaoinshrdlucmfwyp", k=generator.randint(2, 9))) for _ in range(5000)]
    part = path.with_name(path.name + ".part")
    with open(part, "w", encoding="ascii") as sink:
        while sink.tell() < megabytes << 20:
            sink.write(" ".join(generator.choices(words, k=4000)) + "\n")
    part.rename(path)
    return path


def compresses(binary, arguments, data, environment=None):
    def once():
        subprocess.run([binary, *arguments, data], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                       timeout=LIMIT, env=environment)
    return once


def wait_for(server, port):
    """Until the server answers; on a busy machine one with many threads takes its time."""
    until = time.monotonic() + LIMIT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError as problem:
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"memcached does not answer: {problem}") from problem
            time.sleep(0.02)


def serves(binary, threads, environment=None, requests=120, batch=1000):
    """memcached: four clients that ask for keys in batches, so that the server has the work; the server's start is not timed."""
    def client(port, failures):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as line:
                line.sendall(b"set key 0 0 100 noreply\r\n" + b"x" * 100 + b"\r\n")
                wanted = len(b"VALUE key 0 100\r\n" + b"x" * 100 + b"\r\nEND\r\n") * batch
                for _ in range(requests):
                    line.sendall(b"get key\r\n" * batch)
                    left = wanted
                    while left > 0:
                        got = len(line.recv(min(left, 1 << 16)))
                        if got == 0:
                            raise OSError("the server has hung up")
                        left -= got
        except OSError as problem:
            failures.append(problem)

    def once():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen([binary, "-p", str(port), "-U", "0", "-l", "127.0.0.1", "-t", str(threads), "-u", "root"],
                                  env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(server, port)
            failures = []
            clients = [threading.Thread(target=client, args=(port, failures)) for _ in range(4)]
            begin = time.monotonic()
            for each in clients:
                each.start()
            for each in clients:
                each.join()
            seconds = time.monotonic() - begin
        finally:
            server.kill()
            server.wait()
        if failures:
            raise RuntimeError(f"memcached: {failures[0]}")
        return seconds
    return once


def work(program, binary, folder, threads=4, megabytes=8, environment=None):
    """A function that runs the program's work once: its own seconds, or None where the whole run counts."""
    if program.name == "memcached":
        return serves(binary, threads, environment)
    data = text(pathlib.Path(folder) / f"text-{megabytes}", megabytes)
    arguments = {
        "pbzip2": ["-c", "-k", "-q", f"-p{threads}"],
        "lbzip2": ["-c", "-k", f"-n{threads}"],
        "zstd": ["-q", "-c", "-9", f"-T{threads}", "-B262144"],
        "xz": ["-q", "-c", "-k", "-1", f"-T{threads}", "--block-size=262144"],
        "pixz": ["-1", "-t", "-f", "0.25", "-p", str(threads), "-o", "/dev/null", "-i"],
    }[program.name]
    return compresses(binary, arguments, data, environment)
