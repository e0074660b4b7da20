package io.warmpath.adapter.zmq;

import io.warmpath.events.BatchDecoder;
import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import io.warmpath.events.MalformedBatchException;
import java.util.ArrayList;
import java.util.List;
import org.msgpack.value.ValueType;

/**
 * Decodes the event batches of SGLang, vLLM and everything that copies their wire format.
 *
 * <p>Any thread; keeps nothing. Takes a batch as an array of two and more elements or as a map,
 * events as arrays or maps in any mixture, and skips what it does not know. An event whose content
 * makes no sense is counted and left out; its neighbours stay. Bytes that are not MessagePack, or
 * an envelope without time and events, refuse the whole batch.
 */
public final class KvEventDecoder implements BatchDecoder {
    @Override
    public KvBatch decode(byte[] payload) throws MalformedBatchException {
        if (payload.length == 0) {
            throw new MalformedBatchException("the payload is empty");
        }
        try {
            Payload in = new Payload(payload);
            Envelope envelope = new Envelope(in);
            if (in.type() == ValueType.MAP) {
                envelope.readMap();
            } else {
                envelope.readArray();
            }
            return envelope.batch();
        } catch (Payload.BadValue e) {
            throw new MalformedBatchException("not an event batch: " + e.getMessage());
        }
    }

    /** The batch around the events. */
    private static final class Envelope {
        private final Payload in;
        private final List<KvEvent> events = new ArrayList<>();
        private boolean hasTime;
        private boolean hasEvents;
        private double time;
        private int rank = KvBatch.NO_RANK;
        private int badEvents;
        private int unknownFields;

        Envelope(Payload in) {
            this.in = in;
        }

        void readArray() throws MalformedBatchException, Payload.BadValue {
            int n = in.array();
            if (n < 2) {
                throw new MalformedBatchException("a batch of " + n + " elements");
            }
            readTime();
            readEvents();
            if (n > 2) {
                readRank();
            }
            for (int i = 3; i < n; i++) {
                in.skip();
                unknownFields++;
            }
        }

        void readMap() throws MalformedBatchException, Payload.BadValue {
            int n = in.map();
            for (int i = 0; i < n; i++) {
                if (in.type() != ValueType.STRING) {
                    in.skip();
                    in.skip();
                    unknownFields++;
                    continue;
                }
                switch (in.string()) {
                    case "ts" -> readTime();
                    case "events" -> readEvents();
                    case "data_parallel_rank", "attn_dp_rank", "dp_rank" -> readRank();
                    default -> {
                        in.skip();
                        unknownFields++;
                    }
                }
            }
        }

        KvBatch batch() throws MalformedBatchException {
            if (!hasTime || !hasEvents) {
                throw new MalformedBatchException("a batch without time or events");
            }
            if (in.left() > 0) {
                unknownFields++;
            }
            return new KvBatch(time, rank, events, badEvents, unknownFields);
        }

        private void readTime() throws MalformedBatchException, Payload.BadValue {
            time = in.number();
            hasTime = true;
        }

        private void readRank() throws MalformedBatchException, Payload.BadValue {
            rank = in.nil() ? KvBatch.NO_RANK : (int) in.integer(0, Integer.MAX_VALUE);
        }

        private void readEvents() throws MalformedBatchException, Payload.BadValue {
            int n = in.array();
            hasEvents = true;
            for (int i = 0; i < n; i++) {
                int start = in.position();
                if (in.type() == ValueType.EXTENSION) {
                    throw new MalformedBatchException("an event of a MessagePack extension type");
                }
                try {
                    EventFields fields = new EventFields(in);
                    events.add(fields.read());
                    unknownFields += fields.unknownFields();
                } catch (Payload.BadValue e) {
                    in.seek(start);
                    in.skip();
                    badEvents++;
                }
            }
        }
    }
}
