package io.warmpath.fleet.probe;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Questions to workers, with time-outs of their own. Any thread; blocks. */
public interface EngineHttp {
    /**
     * @param path begins with a slash
     * @throws java.net.ConnectException when nobody listens there
     * @throws NotAskedException when the gateway is to blame, and not the worker
     * @throws java.net.SocketTimeoutException when the answer does not come in time
     * @throws IOException for everything else that is not an HTTP answer
     */
    Answer get(URI worker, String path) throws IOException;

    /**
     * As {@link #get(URI, String)}, of an engine that takes its time to answer this question.
     *
     * @param patience time-out of the whole exchange
     */
    Answer get(URI worker, String path, Duration patience) throws IOException;

    /**
     * As {@link #get}, with a body. Asked twice where a kept connection turns out to be closed, so
     * that the engine may get the question twice.
     *
     * @param json the body
     * @param authorization header of this name; null: none
     */
    Answer post(URI worker, String path, String json, @Nullable String authorization)
            throws IOException;

    /** Status and text of one answer. */
    record Answer(int status, String body) {
        public boolean ok() {
            return status >= 200 && status < 300;
        }
    }
}
