package io.warmpath.api.extproc;

/** {@code grpc.health.v1.Health/Check}. Stateless; any thread. */
public final class HealthCheck {
    private static final int SERVING = 1;
    private static final int NOT_SERVING = 2;

    private HealthCheck() {}

    /**
     * The service that is asked about; empty: the server.
     *
     * @throws WireFormatException the bytes are no such request
     */
    public static String service(byte[] b, int from, int length) {
        ProtoReader request = new ProtoReader(b, from, length);
        String service = "";
        for (int field = request.next(); field != 0; field = request.next()) {
            if (field == 1) {
                service = request.utf8();
            }
        }
        return service;
    }

    /** The answer as one gRPC frame. */
    public static byte[] answer(boolean serving) {
        ProtoWriter out = new ProtoWriter(16);
        out.number(1, serving ? SERVING : NOT_SERVING);
        return out.frame();
    }
}
