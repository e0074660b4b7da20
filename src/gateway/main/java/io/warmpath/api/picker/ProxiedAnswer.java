package io.warmpath.api.picker;

import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.net.EndToEndHeaders;
import io.warmpath.net.HeaderList;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a proxy's client. An engine's goes past us from the proxy to the client, so that
 * nothing of it is written here; what is answered without an engine is gathered, and handed to the
 * proxy as a whole. On the request's event loop.
 */
final class ProxiedAnswer implements Answer {
    /** The proxy's side. */
    interface Proxy {
        /** The proxy has been told where to send the request. */
        boolean isSent();

        /** The client gets this; nothing is sent to an engine. */
        void answer(int status, HeaderList headers, byte[] body);

        void refuse(GatewayError error);

        /** For the client, beside those of the engine or of the answer. */
        void putHeader(String name, String value);
    }

    private final Proxy proxy;
    private final ByteArrayOutputStream own = new ByteArrayOutputStream(0);
    private final HeaderList headers = new HeaderList();
    private int status;

    ProxiedAnswer(Proxy proxy) {
        this.proxy = proxy;
    }

    @Override
    public void head(int code, MultiMap engine, @Nullable MultiMap added, boolean keepLength) {
        status = code;
        if (!proxy.isSent()) {
            EndToEndHeaders.copyResponse(engine, headers, false);
        }
        if (added != null) {
            added.forEach(proxy::putHeader);
        }
    }

    @Override
    public void write(byte[] b, int from, int length) {
        if (!proxy.isSent()) {
            own.write(b, from, length);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (!proxy.isSent()) {
            own.write(b, from, length);
            proxy.answer(status, headers, own.toByteArray());
        }
    }

    @Override
    public void fail(GatewayError error) {
        proxy.refuse(error);
    }

    @Override
    public void keepAlive() {
        // The proxy holds the connection, and the engine writes to it.
    }

    @Override
    public void endWithErrorEvent(GatewayError error) {
        // The engine's answer is on its way: its end is not ours to write.
    }

    @Override
    public void reset() {
        // As for an error event.
    }

    @Override
    public boolean isFull() {
        return false; // the proxy has what it needs to make the engine wait
    }

    @Override
    public void onDrain(Runnable action) {
        action.run();
    }
}
