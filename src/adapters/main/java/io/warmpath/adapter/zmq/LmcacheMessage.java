package io.warmpath.adapter.zmq;

import io.warmpath.adapter.zmq.Payload.BadValue;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.pool.LmcacheInstances.Operation;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an LMCache worker says to its controller: a map whose {@code type} names the message. Fields
 * that its type does not have are not there, and read as zero or empty.
 *
 * @param type such as {@code BatchedKVOperationMsg}
 * @param number {@code batch_id} or {@code batch_count}
 * @param keys of a batch of a full sync
 * @param operations of a batch, or the one that the message is
 */
record LmcacheMessage(
        String type,
        String instance,
        int worker,
        String location,
        String syncId,
        int number,
        long[] keys,
        List<Operation> operations) {
    private static final int MAX_TEXT = 512;
    private static final int MAX_WORKER = 65_535;

    /**
     * @throws MalformedBatchException when it is not MessagePack
     * @throws BadValue when a field is missing or not of its kind
     */
    static LmcacheMessage read(byte[] bytes) throws MalformedBatchException, BadValue {
        Payload in = new Payload(bytes);
        Fields f = new Fields();
        int fields = in.map();
        for (int i = 0; i < fields; i++) {
            f.read(in, text(in));
        }
        if (in.left() > 0) {
            throw new MalformedBatchException("bytes behind the message");
        }
        return f.message();
    }

    private static String text(Payload in) throws MalformedBatchException, BadValue {
        String text = in.string();
        if (text.length() > MAX_TEXT) {
            throw new BadValue("a text of " + text.length() + " characters");
        }
        return text;
    }

    /** As they come, in any order. */
    private static final class Fields {
        private String type = "";
        private String instance = "";
        private int worker = -1;
        private String location = "";
        private String syncId = "";
        private int number = -1;
        private long sequence;
        private @Nullable Long key;
        private long @Nullable [] keys;
        private @Nullable List<Operation> operations;

        void read(Payload in, String name) throws MalformedBatchException, BadValue {
            switch (name) {
                case "type" -> type = text(in);
                case "instance_id" -> instance = text(in);
                case "worker_id" -> worker = (int) in.integer(0, MAX_WORKER);
                case "location" -> location = text(in);
                case "sync_id" -> syncId = text(in);
                case "batch_id", "batch_count" -> number = (int) in.integer(0, Integer.MAX_VALUE);
                case "seq_num" -> sequence = in.integer(0, Long.MAX_VALUE);
                case "key" -> key = in.bits();
                case "keys" -> {
                    long[] read = new long[in.array()];
                    for (int i = 0; i < read.length; i++) {
                        read[i] = in.bits();
                    }
                    keys = read;
                }
                case "operations" -> {
                    int n = in.array();
                    List<Operation> read = new ArrayList<>(n);
                    for (int i = 0; i < n; i++) {
                        read.add(operation(in));
                    }
                    operations = read;
                }
                default -> in.skip();
            }
        }

        private static Operation operation(Payload in) throws MalformedBatchException, BadValue {
            String kind = "";
            Long key = null;
            long sequence = -1;
            int fields = in.map();
            for (int i = 0; i < fields; i++) {
                switch (text(in)) {
                    case "op_type" -> kind = text(in);
                    case "key" -> key = in.bits();
                    case "seq_num" -> sequence = in.integer(0, Long.MAX_VALUE);
                    default -> in.skip();
                }
            }
            boolean admit = kind.equals("admit");
            if (key == null || sequence < 0 || (!admit && !kind.equals("evict"))) {
                throw new BadValue("an operation that is none");
            }
            return new Operation(admit, key, sequence);
        }

        LmcacheMessage message() throws BadValue {
            boolean single = type.equals("KVAdmitMsg") || type.equals("KVEvictMsg");
            List<Operation> changes = operations;
            if (single && key != null) {
                changes = List.of(new Operation(type.equals("KVAdmitMsg"), key, sequence));
            }
            boolean whole =
                    switch (type) {
                        case "RegisterMsg",
                                "DeRegisterMsg",
                                "HeartbeatMsg",
                                "BatchedP2PLookupMsg" ->
                                true;
                        case "KVAdmitMsg", "KVEvictMsg", "BatchedKVOperationMsg" ->
                                changes != null && !location.isEmpty();
                        case "FullSyncStartMsg" ->
                                number >= 0 && !syncId.isEmpty() && !location.isEmpty();
                        case "FullSyncBatchMsg" ->
                                number >= 0
                                        && keys != null
                                        && !syncId.isEmpty()
                                        && !location.isEmpty();
                        case "FullSyncEndMsg", "FullSyncStatusMsg" -> !syncId.isEmpty();
                        default -> throw new BadValue("a message of the type '" + type + "'");
                    };
            if (!whole || instance.isEmpty() || worker < 0) {
                throw new BadValue("a " + type + " that lacks a field");
            }
            return new LmcacheMessage(
                    type,
                    instance,
                    worker,
                    location,
                    syncId,
                    number,
                    keys == null ? new long[0] : keys,
                    changes == null ? List.of() : List.copyOf(changes));
        }
    }
}
