package io.warmpath.wiring.control;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.gateway.request.GatewayJson;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.DefinitionException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Emitter;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.jboss.logging.Logger;

/**
 * Tells other gateways of a component what an operator will want to see in their logs, and writes
 * theirs into ours. Nothing depends on a message having come: locks, snapshots and who is alive are
 * in the store. Any thread.
 */
@Singleton
public class ControlPlane implements Announcements {
    private static final Logger LOG = Logger.getLogger(ControlPlane.class);

    private final ControlLink link;

    /** Asked for when something is said: the gateway is made before the channels are. */
    private final Instance<Emitter<String>> out;

    private final LongAdder received = new LongAdder();
    private volatile String router = "";

    @Inject
    ControlPlane(ControlLink link, @Channel("control-out") Instance<Emitter<String>> out) {
        this.link = link;
        this.out = out;
    }

    @Override
    public void open(NatsLink link, NatsNames names, String router) {
        this.router = router;
        this.link.open(link, names);
    }

    @Override
    public void say(Kind kind, Map<String, Object> details) {
        Map<String, Object> json = new LinkedHashMap<>(details);
        json.put("kind", kind.name());
        json.put("router", router);
        try {
            out.get()
                    .send(new String(GatewayJson.bytes(json), StandardCharsets.UTF_8))
                    .exceptionally(
                            e -> {
                                LOG.debugf("%s was not told: %s", kind, e.getMessage());
                                return null;
                            });
        } catch (IllegalStateException | DefinitionException e) {
            LOG.debugf("%s was not told: %s", kind, e.getMessage());
        }
    }

    /** Messages of other gateways. */
    public long received() {
        return received.sum();
    }

    @Incoming("control-in")
    void heard(String text) {
        if (!(GatewayJson.tree(text) instanceof ObjectNode json)) {
            LOG.debugf("a control message that cannot be read: %s", text);
            return;
        }
        String from = json.path("router").asText("");
        if (from.equals(router)) {
            return;
        }
        received.increment();
        String kind = json.path("kind").asText("");
        json.remove(List.of("kind", "router"));
        if (kind.equals(Kind.RESET.name())) {
            LOG.warnf(
                    "The gateway %s has dropped the shared snapshots and the stream's content;"
                            + " this one still knows what was in them",
                    from);
        } else {
            // A later version may say what this one has no name for.
            LOG.infof("The gateway %s: %s %s", from, kind.toLowerCase(Locale.ROOT), json);
        }
    }
}
