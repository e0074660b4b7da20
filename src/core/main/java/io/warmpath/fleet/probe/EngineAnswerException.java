package io.warmpath.fleet.probe;

import java.io.IOException;

/** Something answered over HTTP, but not as an engine does. */
public final class EngineAnswerException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;

    /**
     * @param status of the answer; 200 when it is the body that is no engine's
     * @param message what was asked and what came back
     */
    public EngineAnswerException(int status, String message) {
        super(message);
        this.status = status;
    }

    public EngineAnswerException(String message, Throwable cause) {
        super(message, cause);
        this.status = 200;
    }

    public int status() {
        return status;
    }
}
