package io.warmpath.adapter.nativeindex;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.LockSupport;

/**
 * Hands each call its buffers, and lets close() wait until no call is left.
 *
 * <p>Any thread. A native call on a freed index would take the process down, so no call may be
 * inside when the index is freed and none may begin later. A lock for that would make all event
 * loops write one cache line per query. Instead a call marks its own thread's buffers as busy and
 * then looks whether the index is closed, and close() sets that first and then waits for each mark:
 * both are volatile, so either the call sees the index closed and leaves, or close() sees the mark
 * and waits. A call pays one store to memory of its own.
 *
 * <p>Platform threads keep their buffers; virtual threads, which come in any number, borrow.
 */
final class CallGuard {
    private static final long WAIT_NANOS = 20_000;

    private final ThreadLocal<Scratch> own = ThreadLocal.withInitial(this::register);
    private final Deque<Scratch> lent = new ConcurrentLinkedDeque<>();

    /** All buffers ever made and still alive; weak, so that ended threads leave nothing behind. */
    private final List<WeakReference<Scratch>> all = new ArrayList<>();

    private final String what;
    private volatile boolean closed;

    CallGuard() {
        this("prefix index");
    }

    /** {@code what}: it guards, in words. */
    CallGuard(String what) {
        this.what = what;
    }

    /** Throws {@link IllegalStateException} when the index is closed. */
    Scratch enter() {
        Scratch scratch = Thread.currentThread().isVirtual() ? borrow() : own.get();
        scratch.begin();
        if (closed) {
            scratch.end();
            throw new IllegalStateException("the " + what + " is closed");
        }
        return scratch;
    }

    void exit(Scratch scratch) {
        scratch.trim();
        scratch.end();
        if (Thread.currentThread().isVirtual()) {
            lent.addFirst(scratch);
        }
    }

    /** Waits for running calls; true for the one call that closed. */
    boolean close() {
        synchronized (all) {
            if (closed) {
                return false;
            }
            closed = true;
            for (WeakReference<Scratch> reference : all) {
                // A thread that is inside a call holds its buffers: their reference is not empty.
                Scratch scratch = reference.get();
                while (scratch != null && scratch.isBusy()) {
                    LockSupport.parkNanos(WAIT_NANOS);
                }
            }
            return true;
        }
    }

    private Scratch borrow() {
        Scratch scratch = lent.pollFirst();
        return scratch == null ? register() : scratch;
    }

    private Scratch register() {
        Scratch scratch = new Scratch();
        synchronized (all) {
            all.removeIf(reference -> reference.get() == null);
            all.add(new WeakReference<>(scratch));
        }
        return scratch;
    }
}
