package io.warmpath.api.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * MessagePack as the tree that JSON of the same meaning gives; what JSON has no word for is
 * refused. Stateless. Takes no more memory than in proportion to the bytes, whatever lengths they
 * declare.
 */
final class MsgpackTree {
    private static final int DEEPEST = 16;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private MsgpackTree() {}

    /**
     * @param room of the tree
     * @throws IOException when it is not one whole value, and nothing behind it
     */
    static JsonNode read(byte[] bytes, TreeRoom room) throws IOException {
        try (MessageUnpacker in = MessagePack.newDefaultUnpacker(bytes)) {
            JsonNode value = value(in, bytes.length, 0, room);
            if (in.getTotalReadBytes() != bytes.length) {
                throw new IOException("something follows the value");
            }
            return value;
        } catch (MessagePackException e) {
            throw new IOException(e);
        }
    }

    private static JsonNode value(MessageUnpacker in, int size, int depth, TreeRoom room)
            throws IOException {
        if (depth > DEEPEST) {
            throw new IOException("nested too deeply");
        }
        ValueType type = in.getNextFormat().getValueType();
        room.take(type.isArrayType() || type.isMapType());
        return switch (type) {
            case NIL -> {
                in.unpackNil();
                yield NODES.nullNode();
            }
            case BOOLEAN -> NODES.booleanNode(in.unpackBoolean());
            case INTEGER -> NODES.numberNode(in.unpackBigInteger());
            case FLOAT -> NODES.numberNode(in.unpackDouble());
            case STRING -> {
                int length = in.unpackRawStringHeader();
                checkLength(in, length, size);
                yield NODES.textNode(new String(in.readPayload(length), StandardCharsets.UTF_8));
            }
            case ARRAY -> {
                int n = in.unpackArrayHeader();
                checkLength(in, n, size);
                ArrayNode array = NODES.arrayNode();
                for (int i = 0; i < n; i++) {
                    array.add(value(in, size, depth + 1, room));
                }
                yield array;
            }
            case MAP -> {
                int n = in.unpackMapHeader();
                checkLength(in, n, size);
                ObjectNode object = NODES.objectNode();
                for (int i = 0; i < n; i++) {
                    JsonNode name = value(in, size, depth + 1, room);
                    if (!name.isTextual() || object.has(name.asText())) {
                        throw new IOException("a member's name is no text, or comes twice");
                    }
                    object.set(name.asText(), value(in, size, depth + 1, room));
                }
                yield object;
            }
            case BINARY, EXTENSION -> throw new IOException("binary values are not known here");
        };
    }

    /** Each element takes a byte at least. */
    private static void checkLength(MessageUnpacker in, int n, int size) throws IOException {
        if (n > size - in.getTotalReadBytes()) {
            throw new IOException("it is cut short");
        }
    }
}
