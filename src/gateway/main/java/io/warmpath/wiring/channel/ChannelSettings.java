package io.warmpath.wiring.channel;

import java.util.LinkedHashMap;
import java.util.Map;

/** What reactive messaging is told of a channel that an operator has switched on. Stateless. */
public final class ChannelSettings {
    /** Connectors by the names that operators write; any other is its own name. */
    private static final Map<String, String> CONNECTORS =
            Map.of("nats", "warmpath-nats", "kafka", "smallrye-kafka", "amqp", "smallrye-amqp");

    private ChannelSettings() {}

    /** Its name in reactive messaging. */
    static String connector(String written) {
        return CONNECTORS.getOrDefault(written, written);
    }

    /**
     * Properties that switch a channel on. {@code written}: the connector as the operator names it.
     */
    public static Map<String, String> properties(String channel, String written) {
        String prefix = "mp.messaging.outgoing." + channel + ".";
        Map<String, String> out = new LinkedHashMap<>();
        out.put(prefix + "enabled", "true");
        out.put(prefix + "connector", connector(written));
        if (written.equals("kafka")) {
            // Has no default, and the build, which would find it, does not know the connector.
            out.put(
                    prefix + "value.serializer",
                    "org.apache.kafka.common.serialization.StringSerializer");
        }
        return out;
    }
}
