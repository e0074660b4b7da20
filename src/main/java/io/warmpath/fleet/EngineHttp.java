package io.warmpath.fleet;

import java.io.IOException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Questions to workers, with time-outs of their own. Any thread; blocks. */
public interface EngineHttp {
    /**
     * @param path begins with a slash
     * @throws java.net.ConnectException when nobody listens there
     * @throws IOException for everything else that is not an HTTP answer, time-outs included
     */
    Answer get(URI worker, String path) throws IOException;

    /**
     * As {@link #get}, with a body.
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
