package io.warmpath.api.error;

import io.vertx.core.http.HttpServerResponse;
import io.warmpath.fault.GatewayError;

/** How an API tells its clients of errors. On the request's event loop. */
@FunctionalInterface
public interface ErrorForm {
    ErrorForm OPENAI = ErrorMapper::respond;

    /** Answers with the error, unless the answer has begun or the client has gone. */
    void respond(HttpServerResponse response, GatewayError error, String requestId);
}
