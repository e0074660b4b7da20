package io.warmpath.wiring.control;

import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import java.util.Map;

/** What a gateway tells the others of its component. Any thread. */
public interface Announcements {
    /** Nobody hears it. */
    Announcements NONE =
            new Announcements() {
                @Override
                public void open(NatsLink link, NatsNames names, String router) {}

                @Override
                public void say(Kind kind, Map<String, Object> details) {}
            };

    /** What a gateway says of itself. */
    enum Kind {
        STARTED,
        ENDED,
        SNAPSHOT,
        RESET
    }

    /** From here on messages are sent and received. Once. {@code router}: id of this gateway. */
    void open(NatsLink link, NatsNames names, String router);

    /** Never waits, never fails. */
    void say(Kind kind, Map<String, Object> details);
}
