package io.warmpath.wiring;

import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/** Artemis, speaking AMQP 1.0 at the port that it is told, with everything in memory. */
final class AmqpBroker {
    private AmqpBroker() {}

    public static void main(String[] args) throws Exception {
        EmbeddedActiveMQ server = new EmbeddedActiveMQ();
        server.setConfiguration(
                new ConfigurationImpl()
                        .setPersistenceEnabled(false)
                        .setSecurityEnabled(false)
                        .addAcceptorConfiguration(
                                "amqp", "tcp://127.0.0.1:" + args[0] + "?protocols=AMQP"));
        server.start();
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
