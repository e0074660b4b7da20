package io.warmpath.api.admin;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.request.BodyMemory;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Reads what operators send, within a bound for each body and one for those that are read at the
 * same time: the runtime has hundreds of threads that would read one each. Any thread; blocks.
 */
final class OperatorBodies {
    private static final Duration SOON = Duration.ofSeconds(1);

    private final BodyMemory memory;

    /** {@code together}: bytes of all bodies that are read or used now. */
    OperatorBodies(long together) {
        this.memory = new BodyMemory(together);
    }

    /** Takes a body, of which nothing is kept here afterwards. */
    interface Use<T> {
        T of(byte[] body) throws IOException;
    }

    /**
     * @param declared the header {@code Content-Length}
     * @param limit in bytes
     * @throws GatewayException when it is larger, which is found out before it is read where it
     *     says so itself, or when too many are there already
     */
    <T> T read(
            InputStream in, @Nullable String declared, int limit, GatewayError tooLarge, Use<T> use)
            throws IOException {
        long length = declared == null ? limit : length(declared);
        if (length > limit) {
            throw new GatewayException(tooLarge);
        }
        BodyMemory.Reservation mine = memory.reserve();
        if (!mine.take((int) length)) {
            throw new GatewayException(
                    new GatewayError.Overloaded(
                            503,
                            "Operators' requests take all the memory there is for them",
                            SOON));
        }
        try {
            byte[] body = in.readNBytes(limit + 1);
            if (body.length > limit) {
                throw new GatewayException(tooLarge);
            }
            return use.of(body);
        } finally {
            mine.free();
        }
    }

    /** The codec has refused what is no number. */
    private static long length(String declared) {
        try {
            return Long.parseLong(declared.strip());
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }
}
