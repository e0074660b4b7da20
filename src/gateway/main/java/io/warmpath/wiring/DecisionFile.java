package io.warmpath.wiring;

import io.warmpath.api.admin.DecisionLines;
import io.warmpath.gateway.observe.DecisionLog;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Decisions and how they ended as lines of JSON in a file, made and written by a thread of its own.
 * Any thread may hand one over and never waits: one that finds the queue full, or comes after a
 * write has failed, is dropped and counted. What was taken is flushed when the queue is empty.
 */
final class DecisionFile implements DecisionLog.Sink, AutoCloseable {
    /** Lines that wait for the disk. */
    static final int QUEUE = 4096;

    private static final Logger LOG = Logger.getLogger(DecisionFile.class);
    private static final long LOOK_MILLIS = 100;

    private final Path path;
    private final OutputStream out;
    private final BlockingQueue<Supplier<byte[]>> queue;
    private final LongAdder dropped = new LongAdder();
    private final Thread writer;
    private volatile boolean closed;

    /** Appends to the file, which is made when it is not there. */
    DecisionFile(Path path, int queueSize) throws IOException {
        this(path, new BufferedOutputStream(append(path)), queueSize);
    }

    /**
     * On a line of its own, even if whoever wrote there before was cut off in the middle of one.
     */
    private static OutputStream append(Path path) throws IOException {
        boolean cutOff = false;
        if (Files.isRegularFile(path) && Files.size(path) > 0) {
            try (SeekableByteChannel known = Files.newByteChannel(path)) {
                ByteBuffer last = ByteBuffer.allocate(1);
                known.position(known.size() - 1).read(last);
                cutOff = last.get(0) != '\n';
            }
        }
        OutputStream out =
                Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        if (cutOff) {
            out.write('\n');
        }
        return out;
    }

    /** {@code path}: for the log only. */
    DecisionFile(Path path, OutputStream out, int queueSize) {
        this.path = path;
        this.out = out;
        this.queue = new ArrayBlockingQueue<>(queueSize);
        this.writer = Thread.ofPlatform().name("decision-file").daemon().start(this::write);
    }

    @Override
    public void decided(DecisionLog.Logged decision) {
        queue(() -> DecisionLines.of(decision));
    }

    @Override
    public void ended(DecisionLog.Ended end) {
        queue(() -> DecisionLines.of(end));
    }

    private void queue(Supplier<byte[]> line) {
        if (closed || !queue.offer(line)) {
            dropped.increment();
        }
    }

    long dropped() {
        return dropped.sum();
    }

    private void write() {
        try (out) {
            boolean unflushed = false;
            while (!closed || !queue.isEmpty()) {
                Supplier<byte[]> next =
                        queue.poll(unflushed ? 0 : LOOK_MILLIS, TimeUnit.MILLISECONDS);
                if (next != null) {
                    out.write(next.get());
                    out.write('\n');
                } else if (unflushed) {
                    out.flush();
                }
                unflushed = next != null;
            }
        } catch (IOException e) {
            LOG.errorf(e, "Decisions are no longer written to %s", path);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            closed = true;
            dropped.add(queue.size());
            queue.clear();
        }
    }

    /** Writes what is queued, for some seconds at most. */
    @Override
    public void close() {
        closed = true;
        try {
            if (!writer.join(Duration.ofSeconds(5))) {
                LOG.warnf("%s was not written to its end: the disk is too slow", path);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
