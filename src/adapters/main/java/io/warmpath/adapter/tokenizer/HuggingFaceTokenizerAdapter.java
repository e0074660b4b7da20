package io.warmpath.adapter.tokenizer;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import io.warmpath.tokens.text.TextTokenizer;
import io.warmpath.tokens.text.UnencodableTextException;
import java.util.Optional;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * One {@code tokenizer.json}, run by the tokenizers library that engines use too.
 *
 * <p>Calls the library's JNI functions directly: DJL's own class makes strings, masks and offsets
 * of each token, which cost more than the tokenising and which nobody reads here.
 *
 * <p>Any thread; encodes run side by side. {@link #close} waits for those that are running.
 */
public final class HuggingFaceTokenizerAdapter implements TextTokenizer {
    private final TokenizersLibrary library;

    // Read: encode, so that the handle stays valid. Write: close.
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final long handle;
    private boolean closed;

    /**
     * @param json the content of a tokenizer.json
     * @throws RuntimeException with the library's message when it does not understand the file
     */
    public HuggingFaceTokenizerAdapter(String json) {
        library = NativeTokenizers.library();
        handle = library.createTokenizerFromString(json);
        // A file may carry the settings of its training run; engines switch both off.
        library.disableTruncation(handle);
        library.disablePadding(handle);
    }

    @Override
    public int[] encode(String text, boolean addSpecialTokens) {
        UnencodableTextException.throwIfIllFormed(text);
        lock.readLock().lock();
        try {
            if (closed) {
                throw new IllegalStateException("the tokenizer is closed");
            }
            long encoding = library.encode(handle, text, addSpecialTokens);
            try {
                return toInts(library.getTokenIds(encoding));
            } finally {
                library.deleteEncoding(encoding);
            }
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public Optional<String> decode(int[] ids) {
        long[] wide = new long[ids.length];
        for (int i = 0; i < ids.length; i++) {
            wide[i] = Integer.toUnsignedLong(ids[i]);
        }
        lock.readLock().lock();
        try {
            if (closed) {
                throw new IllegalStateException("the tokenizer is closed");
            }
            return Optional.of(library.decode(handle, wide, false));
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            if (!closed) {
                closed = true;
                library.deleteTokenizer(handle);
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    private static int[] toInts(long[] ids) {
        int[] narrow = new int[ids.length];
        for (int i = 0; i < ids.length; i++) {
            narrow[i] = (int) ids[i]; // u32 in the library
        }
        return narrow;
    }
}
