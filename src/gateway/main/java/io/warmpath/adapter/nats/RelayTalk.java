package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
import io.warmpath.events.EventSource;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * What a gateway and the relays say to each other besides the stream: signs of life, questions for
 * batches that are missing, and the answers. The feed's thread; what comes is queued on jnats' and
 * taken up by {@link #take}.
 */
final class RelayTalk {
    private record Incoming(String subject, byte[] data, boolean refused) {}

    private final NatsNames names;
    private final Queue<Incoming> incoming = new ConcurrentLinkedQueue<>();
    private final Map<String, NatsSource> byRelay = new HashMap<>();
    private final Map<String, NatsSource> byQuestion = new HashMap<>();
    private @Nullable Dispatcher dispatcher;
    private String inbox = "";
    private long questions;

    RelayTalk(NatsNames names) {
        this.names = names;
    }

    void add(NatsSource source) {
        EventSource s = source.source();
        byRelay.put(names.relay(s.workerId(), s.dpRank()), source);
        byQuestion.put(names.replay(s.workerId(), s.dpRank()), source);
    }

    void remove(NatsSource source) {
        EventSource s = source.source();
        byRelay.remove(names.relay(s.workerId(), s.dpRank()), source);
        byQuestion.remove(names.replay(s.workerId(), s.dpRank()), source);
    }

    /** Once: what is subscribed to outlives connections. */
    void listen(Connection c) {
        if (dispatcher == null) {
            inbox = c.createInbox();
            Dispatcher d = c.createDispatcher(this::arrived);
            d.subscribe(names.relays());
            d.subscribe(inbox + ".>");
            dispatcher = d;
        }
    }

    /** On jnats' thread. */
    private void arrived(Message m) {
        incoming.add(new Incoming(m.getSubject(), m.getData(), m.isStatusMessage()));
    }

    /** Hands on what has come. {@code caughtUp}: all that the stream has is here. */
    void take(long now, boolean caughtUp) {
        for (Incoming m = incoming.poll(); m != null; m = incoming.poll()) {
            NatsSource relay = byRelay.get(m.subject);
            if (relay != null) {
                relay.alive(m.data, now, caughtUp);
            } else if (m.subject.startsWith(inbox + ".") && !inbox.isEmpty()) {
                answered(m);
            }
        }
    }

    /** The subject of an answer names the question: its number, then whose it is. */
    private void answered(Incoming m) {
        String rest = m.subject.substring(inbox.length() + 1);
        int dot = rest.indexOf('.');
        NatsSource to = dot < 0 ? null : byQuestion.get(rest.substring(dot + 1));
        if (to == null || !rest.substring(0, dot).equals(Long.toString(to.question))) {
            return;
        }
        if (m.refused) {
            to.session().replayRefused();
        } else {
            to.answer(m.data);
        }
    }

    /**
     * Asks the relay of a source for its batches from a number on.
     *
     * @param c null: there is none
     * @param late the stream has more: what is only late is not asked for, as the relay may have it
     *     no more, and the stream does
     */
    void ask(EventSource source, long from, @Nullable Connection c, boolean late) {
        String subject = names.replay(source.workerId(), source.dpRank());
        NatsSource asking = Objects.requireNonNull(byQuestion.get(subject));
        asking.question = ++questions;
        String reply = inbox + "." + questions + "." + subject;
        if (c == null || (late && asking.session().waiting() == 0)) {
            refuse(reply);
            return;
        }
        try {
            c.publish(subject, reply, ByteBuffer.allocate(Long.BYTES).putLong(from).array());
        } catch (IllegalStateException e) {
            refuse(reply); // the connection is lost
        }
    }

    /** Told later: who asks is in the middle of something. */
    private void refuse(String reply) {
        incoming.add(new Incoming(reply, new byte[0], true));
    }
}
