package io.warmpath.cli;

import java.time.Duration;
import java.util.List;

/** What {@code top} draws on. One thread draws and waits. */
interface Screen extends AutoCloseable {
    int columns();

    int lines();

    /** In place of what is there. */
    void show(List<String> lines);

    /** Waits for a key. Returns the character, or -1 when none came in that time. */
    int key(Duration most) throws InterruptedException;

    /** The terminal is as it was. */
    @Override
    void close();
}
