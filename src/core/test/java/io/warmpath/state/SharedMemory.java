package io.warmpath.state;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Keys and files that live in this process; something can be done at each call, such as failing it,
 * or letting another gateway go first.
 */
final class SharedMemory implements SharedKeys {
    /** Called before a call is done. */
    interface Step {
        void before(String call) throws IOException;
    }

    private final Map<String, Entry> entries = new HashMap<>();
    final Map<String, byte[]> files = new TreeMap<>();
    private long revision;
    Step step = call -> {};

    /** The answer of the next put is lost, the write is not. */
    boolean losesAnswer;

    @Override
    public Optional<Entry> get(String key) {
        return Optional.ofNullable(entries.get(key));
    }

    @Override
    public long put(String key, byte[] value, long expected) throws IOException {
        step.before("put " + key);
        Entry now = entries.get(key);
        if ((now == null ? ABSENT : now.revision()) != expected) {
            return REFUSED;
        }
        entries.put(key, new Entry(value.clone(), ++revision));
        if (losesAnswer) {
            losesAnswer = false;
            throw new IOException("timeout");
        }
        return revision;
    }

    /** The files beside the keys. */
    SharedFiles files() {
        return new SharedFiles() {
            @Override
            public void put(String name, byte[] bytes) throws IOException {
                step.before("upload " + name);
                files.put(name, bytes.clone());
            }

            @Override
            public Optional<byte[]> get(String name) throws IOException {
                step.before("download " + name);
                return Optional.ofNullable(files.get(name));
            }

            @Override
            public List<String> names() throws IOException {
                step.before("list");
                return List.copyOf(files.keySet());
            }

            @Override
            public void remove(String name) throws IOException {
                step.before("remove " + name);
                files.remove(name);
            }
        };
    }
}
