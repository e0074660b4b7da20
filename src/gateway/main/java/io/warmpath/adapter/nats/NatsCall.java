package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.security.NoSuchAlgorithmException;

/**
 * Questions to a server; whatever goes wrong is an {@link IOException} that says what. Stateless.
 */
final class NatsCall {
    /** A stream, bucket or key that is not there. */
    private static final int NOT_FOUND = 404;

    /** jnats' own complaint about an object that does not fit its description. */
    private static final String DAMAGED = "[OS-";

    @FunctionalInterface
    interface Question<T> {
        T ask(Connection c)
                throws IOException,
                        JetStreamApiException,
                        InterruptedException,
                        NoSuchAlgorithmException;
    }

    private NatsCall() {}

    /** {@code what}: for messages. */
    static <T> T ask(NatsLink link, String what, Question<T> question) throws IOException {
        Connection c =
                link.connection()
                        .orElseThrow(() -> new IOException(what + ": no server has answered yet"));
        try {
            return question.ask(c);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(what + ": interrupted", e);
        } catch (JetStreamApiException e) {
            throw e.getErrorCode() == NOT_FOUND
                    ? new NotThere(what, e)
                    : new IOException(what + ": " + e.getMessage(), e);
        } catch (Damaged e) {
            throw e;
        } catch (NoSuchAlgorithmException | IOException e) {
            throw new IOException(what + ": " + e.getMessage(), e);
        } catch (IllegalStateException | IllegalArgumentException e) {
            // jnats' way to say that there is no connection, and that an object is not whole.
            String why = String.valueOf(e.getMessage());
            throw why.startsWith(DAMAGED)
                    ? new Damaged(why)
                    : new IOException(what + ": " + why, e);
        }
    }

    /** What was asked for does not exist. */
    static final class NotThere extends IOException {
        private static final long serialVersionUID = 1;

        NotThere(String what, Exception cause) {
            super(what + ": " + cause.getMessage(), cause);
        }
    }

    /** An object is not what its description says. */
    static final class Damaged extends IOException {
        private static final long serialVersionUID = 1;

        Damaged(String why) {
            super(why);
        }
    }
}
