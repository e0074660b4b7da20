package io.warmpath.wiring.control;

import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import jakarta.inject.Singleton;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The connection that control messages go over, once the gateway has one; where nothing needs NATS
 * it never has, and the channels stay as idle as they are made. Any thread.
 */
@Singleton
public class ControlLink {
    private final CompletableFuture<NatsLink> link = new CompletableFuture<>();
    private volatile @Nullable NatsNames names;

    /** From here on messages are sent and received. Once. */
    public void open(NatsLink link, NatsNames names) {
        this.names = names;
        this.link.complete(link);
    }

    CompletionStage<NatsLink> link() {
        return link;
    }

    /** Null before there is one. */
    @Nullable NatsLink now() {
        return link.getNow(null);
    }

    /** Of a topic; only once there is a link. */
    String subject(String topic) {
        NatsNames known = names;
        if (known == null) {
            throw new IllegalStateException("no NATS link is open");
        }
        return known.control(topic);
    }
}
