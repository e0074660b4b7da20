"""TLS on both sides: clients that come without, with old or half of it, and engines that are somebody else."""
import socket
import ssl
import subprocess
import threading
import time

import wire
from certificates import Authority
from naive import Naive
from suite import Attack, Broken, expect, until

NAME = "TLS"
HOLDS = "no plain text, old version, weak suite or second handshake; engines with a wrong certificate get no request"
SMOKE = False
OLD = {"SSL 3.0": ssl.TLSVersion.SSLv3, "TLS 1.0": ssl.TLSVersion.TLSv1, "TLS 1.1": ssl.TLSVersion.TLSv1_1}
# A client's hello that claims TLS 1.2 and offers suites that encrypt nothing, or with a known weakness.
WEAK = "NULL:aNULL:EXPORT:RC4:3DES:MD5:@SECLEVEL=0"


def plain(target):
    return socket.create_connection((target.host, target.port), timeout=12)


def ends(s, seconds):
    """How long until the other side closes, or None."""
    s.settimeout(seconds)
    began = time.monotonic()
    try:
        while s.recv(65536):
            pass
    except TimeoutError:
        return None
    except OSError:
        pass
    return time.monotonic() - began


def not_tls(data):
    """Bytes that are no handshake: closed, and no engine hears of them."""
    def run(target):
        before = len(target.engine.asked())
        with plain(target) as s:
            s.sendall(data)
            took = ends(s, target.patience)
        expect(took is not None, f"left open for {target.patience} s")
        expect(len(target.engine.asked()) == before, "the engine got a request")
        return f"closed after {took:.1f} s"
    return run


def offers(context, what):
    def run(target):
        try:
            with plain(target) as s, context.wrap_socket(s, server_hostname="localhost") as tls:
                raise Broken(f"agreed on {tls.version()} {tls.cipher()}")
        except (ssl.SSLError, ConnectionError) as e:
            return f"no handshake with {what} ({type(e).__name__})"
    return run


def s_client(target, version, command, times, pause):
    """What openssl's client says while it is told a command again and again: `R` another handshake, `k` new keys."""
    client = subprocess.Popen(["openssl", "s_client", "-connect", f"{target.host}:{target.port}", version], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    try:
        time.sleep(0.3)
        for _ in range(times):
            client.stdin.write(command + "\n")
            client.stdin.flush()
            time.sleep(pause)
    except OSError:
        pass  # it has been cut off
    client.terminate()
    return client.communicate(timeout=10)[0]


def renegotiates(target):
    handshakes = s_client(target, "-tls1_2", "", 0, 0).count("depth=0")
    expect(handshakes > 0, "no handshake at all")
    again = s_client(target, "-tls1_2", "R", 3, 0.3)
    expect(again.count("depth=0") == handshakes, f"{again.count('depth=0') // handshakes} handshakes on one connection")
    return "the first handshake only"


def changes_keys(target):
    s_client(target, "-tls1_3", "k", 100, 0.01)
    took = target.chat()
    expect(took < 2, f"others wait {took:.1f} s")
    return f"others are answered within {took:.2f} s"


def slow_handshakes(count, hello, pieces):
    """Connections that stop in the middle of their hello, or drip it: closed within the runtime's 10 s, others are served."""
    def run(target):
        sockets = []
        try:
            for _ in range(count):
                s = plain(target)
                s.sendall(hello[:pieces])
                sockets.append(s)
            took = target.chat()
            expect(took < 2, f"others wait {took:.1f} s")
            end = time.monotonic() + target.handshake
            for i, s in enumerate(sockets):
                expect(ends(s, max(0.1, end - time.monotonic())) is not None, f"connection {i} is open after {target.handshake} s")
            return f"all {count} closed, others answered within {took:.2f} s"
        finally:
            for s in sockets:
                s.close()
    return run


def many_handshakes(count):
    """Handshakes as fast as one can, each left at once."""
    def run(target):
        done = []

        def shake():
            for _ in range(count // 4):
                try:
                    wire.connect(target).close()
                    done.append(1)
                except OSError:
                    pass
        threads = [threading.Thread(target=shake) for _ in range(4)]
        for t in threads:
            t.start()
        worst = 0.0
        while any(t.is_alive() for t in threads):
            worst = max(worst, target.chat())
        expect(worst < 3, f"others wait {worst:.1f} s")
        return f"{len(done)} handshakes, others answered within {worst:.2f} s"
    return run


def hello_of(authority):
    """A client's hello, as Python writes one."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        authority.client().wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def clients(authority):
    hello = hello_of(authority)
    yield Attack("a plain request on the TLS port", "closed, no engine hears of it", not_tls(wire.chat("plain")))
    yield Attack("HTTP/2 without TLS on the TLS port", "closed", not_tls(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"))
    yield Attack("bytes that are no record", "closed", not_tls(b"\xff" * 4096))
    yield Attack("a record of 65,535 bytes", "closed", not_tls(b"\x16\x03\x01\xff\xff" + b"\x01" * 65535))
    yield Attack("a hello that lies about its length", "closed", not_tls(hello[:6] + b"\x00\x00\x05" + hello[9:]))
    yield Attack("a hello with flipped bytes", "closed", not_tls(hello[:40] + bytes(b ^ 0x55 for b in hello[40:])))
    yield Attack("an alert", "closed", not_tls(b"\x15\x03\x03\x00\x02\x02\x28"))
    yield Attack("an SSL 2 hello", "closed", not_tls(b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + b"\x01\x00\x80" * 7 + b"c" * 16))
    for name, version in OLD.items():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_ciphers("ALL:@SECLEVEL=0")
        try:
            context.minimum_version, context.maximum_version = version, version
        except ValueError:
            continue  # this Python cannot even ask for it
        yield Attack(f"{name}", "no handshake", offers(context, name))
    weak = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    weak.check_hostname, weak.verify_mode, weak.maximum_version = False, ssl.CERT_NONE, ssl.TLSVersion.TLSv1_2
    weak.set_ciphers(WEAK)
    yield Attack("suites without encryption or weak ones", "no handshake", offers(weak, "weak suites"))
    yield Attack("another handshake on the same connection (TLS 1.2)", "refused", renegotiates)
    yield Attack("100 changes of keys (TLS 1.3)", "others are served", changes_keys)
    yield Attack("300 connections that never say hello", "closed within 15 s", slow_handshakes(300, hello, 0))
    yield Attack("300 connections that stop within their hello", "closed within 15 s", slow_handshakes(300, hello, 20))
    yield Attack("1,000 handshakes at once", "others are served", many_handshakes(1000))


def engines(stage, suite, authority):
    """Engines whose certificates are not theirs, behind gateways that trust the authority."""
    other = Authority(stage.folder, "other")
    cases = (("expired", authority.server("expired", "IP:127.0.0.1", -1), False), ("for another name", authority.server("elsewhere", "DNS:elsewhere.example"), False),
             ("for another address", authority.server("address", "IP:192.0.2.1"), False), ("without any name", authority.server("nobody", "email:a@b.example"), False),
             ("of another authority", other.server("foreign", "IP:127.0.0.1"), False), ("right", authority.server("right", "IP:127.0.0.1"), True))
    made = [(name, stage.engine(tls=context), good) for name, context, good in cases]
    gateway = stage.gateway("tls-engines", [e.url for _, e, _ in made], environment={"WARMPATH_UPSTREAM_TLS_CA_FILE": str(authority.file)}, engine=made[-1][1])
    for name, engine, good in made:
        def run(target, engine=engine, good=good):
            for i in range(30):
                answer = wire.one(target, wire.chat(f"to whom {i}"))
                expect(answer is not None and answer.status == 200, f"{answer}")
            expect(bool(engine.calls) == good, f"{len(engine.calls)} requests reached it")
            return f"{len(engine.calls)} requests reached it"
        suite.attacks(gateway, [Attack(f"an engine whose certificate is {name}", "is used" if good else "gets no request, not even a health check", run)])
    # Control: with checks off the same engines are reached, so that the count above means something.
    lax = stage.gateway("tls-lax", [made[0][1].url], environment={"WARMPATH_UPSTREAM_TLS_VERIFY": "false"}, engine=made[0][1])

    def reached(target):
        until(lambda: bool(made[0][1].calls), 5, "nothing reached it")
        raise Broken(f"{len(made[0][1].calls)} requests reached it")
    suite.controls(lax, [Attack("an expired engine, checks off", "", reached)])


def play(stage, suite):
    authority = Authority(stage.folder)
    cert, key = authority.certificate("gateway", "IP:127.0.0.1,DNS:localhost")
    serve = ("--tls-cert-path", str(cert), "--tls-key-path", str(key))
    gateway = stage.gateway("tls", stage.engine(), *serve, tls=authority.client())
    gateway.handshake = 15
    suite.attacks(gateway, clients(authority))
    # Clients without a certificate, where one is asked for.
    shown = authority.client()
    shown.load_cert_chain(*authority.certificate("client", "DNS:client"))
    mutual = stage.gateway("mutual-tls", stage.engine(), *serve, environment={"WARMPATH_HTTP_TLS_CLIENT_CA_FILE": str(authority.file)}, tls=shown)
    foreign = authority.client()
    foreign.load_cert_chain(*Authority(stage.folder, "foreign").certificate("intruder", "DNS:client"))

    def unanswered(context):
        def run(target):
            try:
                with plain(target) as s, context.wrap_socket(s, server_hostname="localhost") as tls:
                    tls.sendall(wire.request("GET", "/live"))
                    got = tls.recv(100)
                    expect(not got, f"answered: {got[:60]}")
            except (ssl.SSLError, ConnectionError):
                pass
            return "no answer"
        return run
    checks = [Attack("a client without a certificate", "no answer", unanswered(authority.client())),
              Attack("a client with another authority's certificate", "no answer", unanswered(foreign))]
    suite.attacks(mutual, checks)
    suite.controls(gateway, checks[:1])
    naive = Naive()
    naive.handshake, naive.chat = 1, lambda: 0.0
    suite.controls(naive, [Attack("a plain request", "", not_tls(wire.chat("plain"))), Attack("connections that never say hello", "", slow_handshakes(3, b"", 0))])
    naive.close()
    engines(stage, suite, authority)
