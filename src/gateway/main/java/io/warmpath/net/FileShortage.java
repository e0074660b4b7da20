package io.warmpath.net;

import io.netty.channel.unix.Errors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Whether something failed because the process, or its host, has as many files and sockets open as
 * it may: nobody else is to blame then. Counts it, and warns where there was no shortage for a
 * minute. Any thread.
 */
public final class FileShortage {
    /** The limit is the process' own, and so is what is known of it. */
    public static final FileShortage OF_PROCESS = new FileShortage(System::nanoTime);

    private static final Logger LOG = Logger.getLogger(FileShortage.class);

    private static final long QUIET_NANOS = 60_000_000_000L;

    /** The text of EMFILE, and the beginning of that of ENFILE. */
    private static final String TEXT = "Too many open files";

    private static final int ENFILE = 23;
    private static final int EMFILE = 24;

    /** Causes that a failure may have; more are not looked at, one may be its own. */
    private static final int DEPTH = 16;

    private final LongSupplier nanoTime;
    private final LongAdder count = new LongAdder();
    private final AtomicLong warnAgain; // not before

    /** {@code nanoTime}: as {@link System#nanoTime}. */
    FileShortage(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.warnAgain = new AtomicLong(nanoTime.getAsLong());
    }

    /** What could not be opened for that reason so far. */
    public long count() {
        return count.sum();
    }

    /** {@code failure}: of opening a file or a socket; null: it did not fail. */
    public boolean explains(@Nullable Throwable failure) {
        if (!isShortage(failure)) {
            return false;
        }
        count.increment();
        long now = nanoTime.getAsLong();
        if (warnAgain.getAndSet(now + QUIET_NANOS) - now <= 0) {
            LOG.warn(
                    "This process has as many files and sockets open as it may (ulimit -n): what"
                            + " needs another one fails until some are closed");
        }
        return true;
    }

    private static boolean isShortage(@Nullable Throwable failure) {
        Throwable t = failure;
        for (int i = 0; t != null && i < DEPTH; i++, t = t.getCause()) {
            if (t instanceof Errors.NativeIoException e
                    && (e.expectedErr() == -EMFILE || e.expectedErr() == -ENFILE)) {
                return true;
            }
            String text = t.getMessage();
            if (text != null && text.contains(TEXT)) {
                return true;
            }
        }
        return false;
    }
}
