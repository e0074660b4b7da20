package io.warmpath.wiring;

import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsOptions;
import io.warmpath.config.NatsConfig;
import java.nio.file.Path;

/** NATS settings as the adapter takes them. Stateless. */
final class NatsParts {
    private NatsParts() {}

    /**
     * @throws StartFailure naming what cannot be
     */
    static NatsOptions options(NatsConfig c) {
        try {
            return new NatsOptions(
                    c.servers(),
                    c.credentialsFile().map(Path::of).orElse(null),
                    c.user().orElse(null),
                    c.password().orElse(null),
                    c.token().orElse(null),
                    c.tls().caFile().map(Path::of).orElse(null),
                    c.tls().certFile().map(Path::of).orElse(null),
                    c.tls().keyFile().map(Path::of).orElse(null));
        } catch (IllegalArgumentException e) {
            throw new StartFailure("warmpath.nats: " + e.getMessage() + ".");
        }
    }

    /**
     * @throws StartFailure naming what cannot be
     */
    static NatsNames names(NatsConfig c) {
        try {
            return new NatsNames(c.namespace(), c.component());
        } catch (IllegalArgumentException e) {
            throw new StartFailure("warmpath.nats: " + e.getMessage() + ".");
        }
    }
}
