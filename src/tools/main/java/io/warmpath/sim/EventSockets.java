package io.warmpath.sim;

import io.warmpath.sim.wire.ReplayServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * One bound socket per rank on consecutive ports.
 *
 * @param base port of rank 0
 * @param sockets index = rank
 */
record EventSockets(int base, List<ZMQ.Socket> sockets) {
    private static final int ATTEMPTS = 50;

    /**
     * @param port of rank 0, or 0 to find a free run of ports
     * @throws IOException naming the ports when they cannot be used
     */
    static EventSockets bind(ZContext context, SocketType type, String host, int port, int ranks)
            throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            List<ZMQ.Socket> bound = new ArrayList<>();
            try {
                ZMQ.Socket first = open(context, type, bound);
                int base = port;
                if (port == 0) {
                    base = first.bindToRandomPort("tcp://" + host);
                } else {
                    first.bind("tcp://" + host + ":" + port);
                }
                for (int rank = 1; rank < ranks; rank++) {
                    open(context, type, bound).bind("tcp://" + host + ":" + (base + rank));
                }
                return new EventSockets(base, bound);
            } catch (ZMQException e) {
                bound.forEach(ZMQ.Socket::close);
                if (port != 0) {
                    throw new IOException(
                            "cannot bind event ports %s to %s on %s: %s; choose other ports"
                                    .formatted(port, port + ranks - 1, host, e.getMessage()),
                            e);
                }
            }
        }
        throw new IOException("no " + ranks + " consecutive free ports found on " + host);
    }

    private static ZMQ.Socket open(ZContext context, SocketType type, List<ZMQ.Socket> bound) {
        ZMQ.Socket socket = ReplayServer.open(context, type);
        bound.add(socket);
        return socket;
    }
}
