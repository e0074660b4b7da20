package io.warmpath.adapter.nativeindex;

import io.warmpath.pool.PageDigests;
import io.warmpath.pool.PageRecipe;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The page chain in C++, with the CPU's own SHA-256 instructions where it has them. Any thread; one
 * native call per prompt.
 */
public final class NativePageDigests implements PageDigests {
    private final CallGuard buffers = new CallGuard("page digests");

    /**
     * @param library as in {@link NativePrefixIndex}
     * @throws NativeIndexException when there is no library, or one that does not fit
     */
    public NativePageDigests(Optional<Path> library) {
        KvIndexLibrary.load(library);
    }

    @Override
    public byte[] chain(int[] tokens, int length, int pageSize, boolean bigram, byte[] seed) {
        if (pageSize <= 0 || length > tokens.length) {
            throw new IllegalArgumentException(
                    "page size " + pageSize + ", " + length + " of " + tokens.length);
        }
        int pages = PageDigests.pages(length, pageSize, bigram);
        byte[] digests = new byte[pages * PageRecipe.DIGEST_BYTES];
        Scratch s = buffers.enter();
        try {
            s.tokens.ensure((long) length * Integer.BYTES);
            MemorySegment.copy(tokens, 0, s.tokens.segment(), ValueLayout.JAVA_INT, 0, length);
            s.utf8.ensure(seed.length);
            MemorySegment.copy(seed, 0, s.utf8.segment(), ValueLayout.JAVA_BYTE, 0, seed.length);
            s.sequence.ensure(digests.length);
            Status.check(
                    KvIndexLibrary.kvi_page_digests(
                            s.tokens.address(),
                            length,
                            pageSize,
                            bigram ? KvLayout.BIGRAMS : 0,
                            s.utf8.address(),
                            seed.length,
                            s.sequence.address(),
                            pages,
                            s.out.address()),
                    "kvi_page_digests");
            MemorySegment.copy(
                    s.sequence.segment(), ValueLayout.JAVA_BYTE, 0, digests, 0, digests.length);
            return digests;
        } finally {
            buffers.exit(s);
        }
    }
}
