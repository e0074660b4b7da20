package io.warmpath.adapter.zmq;

import io.warmpath.pool.LmcacheInstances.SyncStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** What a controller answers to LMCache's workers: the bytes that LMCache's own would send. */
final class LmcacheAnswer {
    private interface Fields {
        void write(MessageBufferPacker out) throws IOException;
    }

    private LmcacheAnswer() {}

    /**
     * @param heartbeatUrl {@code host:port} of the socket that heartbeats go to
     */
    static byte[] registered(String heartbeatUrl) {
        return message(
                "RegisterRetMsg",
                1,
                out ->
                        out.packString("extra_config")
                                .packMapHeader(1)
                                .packString("heartbeat_url")
                                .packString(heartbeatUrl));
    }

    /**
     * @param wantsAll the worker is to tell everything that it holds
     */
    static byte[] heard(boolean wantsAll) {
        return message(
                "HeartbeatRetMsg",
                1,
                out -> {
                    out.packString("commands").packArrayHeader(wantsAll ? 1 : 0);
                    if (wantsAll) {
                        out.packMapHeader(3).packString("command_type").packString("full_sync");
                        out.packString("reason").packString("worker_re_registered");
                        out.packString("args").packNil();
                    }
                });
    }

    static byte[] begun(String syncId, boolean accepted) {
        return message(
                "FullSyncStartRetMsg",
                3,
                out -> {
                    out.packString("sync_id").packString(syncId);
                    out.packString("accepted").packBoolean(accepted);
                    out.packString("error_msg");
                    if (accepted) {
                        out.packNil();
                    } else {
                        out.packString("too many workers, locations or batches");
                    }
                });
    }

    /** A sync that is not known here is over: the worker need not stay frozen for it. */
    static byte[] status(String syncId, SyncStatus status) {
        boolean over = status.complete() || !status.known();
        return message(
                "FullSyncStatusRetMsg",
                5,
                out -> {
                    out.packString("sync_id").packString(syncId);
                    out.packString("is_complete").packBoolean(status.complete());
                    out.packString("global_progress").packDouble(over ? 1 : 0);
                    out.packString("can_exit_freeze").packBoolean(over);
                    out.packString("missing_batches");
                    out.packArrayHeader(status.missingBatches().size());
                    for (int batch : status.missingBatches()) {
                        out.packInt(batch);
                    }
                });
    }

    /** No other instance is offered. */
    static byte[] noPeer() {
        return message(
                "BatchedP2PLookupRetMsg",
                1,
                out -> {
                    out.packString("layout_info").packArrayHeader(1).packArrayHeader(4);
                    out.packString("").packString("").packInt(0).packString("");
                });
    }

    static byte[] error(String why) {
        return message("ErrorMsg", 1, out -> out.packString("error").packString(why));
    }

    private static byte[] message(String type, int fields, Fields rest) {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packMapHeader(1 + fields).packString("type").packString(type);
            rest.write(out);
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // it writes to memory
        }
    }
}
