package io.warmpath.state;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Which shared snapshots are whole, newest first, and the highest token that has written here.
 * Immutable. As text of lines, so that an operator can read it; lines of an unknown kind are passed
 * over.
 */
public record SnapshotCatalog(long fence, List<Item> items) {
    public static final SnapshotCatalog NONE = new SnapshotCatalog(0, List.of());

    private static final String HEAD = "warmpath-snapshots";
    private static final String FENCE = "fence";
    private static final String ITEM = "snapshot";

    /**
     * @param name of its files
     * @param position stream sequence up to which everything is in it
     * @param takenMillis since 1970, by its writer's clock
     * @param bytes of all of it
     * @param stream id of the stream that the position is of
     */
    public record Item(String name, long position, long takenMillis, long bytes, long stream) {}

    public SnapshotCatalog {
        items = List.copyOf(items);
    }

    /** Those of this stream: a stream that was made anew counts from 1 again. */
    SnapshotCatalog of(long stream) {
        return new SnapshotCatalog(fence, items.stream().filter(i -> i.stream == stream).toList());
    }

    /** Stream sequence up to which the newest has everything; 0 without one. */
    public long covered() {
        return items.isEmpty() ? 0 : items.get(0).position();
    }

    /**
     * Stream sequence up to which every kept snapshot has everything: what no start needs any more,
     * whichever of them it has to use. 0 until there are as many as are kept.
     */
    public long settled() {
        return items.size() < SharedSnapshots.KEPT
                ? 0
                : items.stream().mapToLong(Item::position).min().orElse(0);
    }

    byte[] write() {
        StringBuilder out = new StringBuilder(HEAD).append('\n');
        out.append(FENCE).append(' ').append(fence).append('\n');
        for (Item i : items) {
            out.append(ITEM)
                    .append(' ')
                    .append(i.name)
                    .append(' ')
                    .append(i.position)
                    .append(' ')
                    .append(i.takenMillis)
                    .append(' ')
                    .append(i.bytes)
                    .append(' ')
                    .append(i.stream)
                    .append('\n');
        }
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Throws {@link IllegalArgumentException} when it is not one. */
    static SnapshotCatalog read(byte[] bytes) {
        List<String> lines = new String(bytes, StandardCharsets.UTF_8).lines().toList();
        if (lines.isEmpty() || !lines.get(0).startsWith(HEAD)) {
            throw new IllegalArgumentException("it is not a list of snapshots");
        }
        long fence = 0;
        List<Item> items = new ArrayList<>();
        for (String line : lines) {
            String[] words = line.split(" ", -1);
            if (words[0].equals(FENCE) && words.length > 1) {
                fence = Long.parseLong(words[1]);
            } else if (words[0].equals(ITEM) && words.length > 5) {
                items.add(
                        new Item(
                                words[1],
                                Long.parseLong(words[2]),
                                Long.parseLong(words[3]),
                                Long.parseLong(words[4]),
                                Long.parseLong(words[5])));
            }
        }
        return new SnapshotCatalog(fence, items);
    }
}
