package io.warmpath.adapter.nativeindex;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * {@code kvindex.h}, {@code kvtracker.h} and {@code kvtokens.h} as Java sees them: JNA direct
 * mapping, addresses as raw {@code long}.
 *
 * <p>Interface mapping or array arguments would cost a multiple of the call. One library per JVM:
 * {@link #load} binds it on the first call; later calls must mean the same file.
 *
 * <p>Looked for at {@code -Dwarmpath.index.native-path}, else at the configured path (each a file
 * or a folder), else in the jar's folder for this platform. There is no search beyond these: a
 * library that happens to lie on the system's path is never taken.
 */
final class KvIndexLibrary {
    static final String PATH_PROPERTY = "warmpath.index.native-path";

    /** Room in bytes for names of what a CPU may lack. */
    private static final int CPU_NAMES = 64;

    private static @Nullable Path loaded;

    private KvIndexLibrary() {}

    static native int kvi_open(long config, long outIndex);

    static native int kvi_close(long index);

    static native int kvi_slot_open(long index, int domain, int nameSpace, long outSlot);

    static native int kvi_slot_close(long index, int slot);

    static native int kvi_apply(long index, long buffer, long length, long out);

    static native int kvi_seed(long lora, int loraLength, long salt, int saltLength, long outSeed);

    static native int kvi_hash(
            long tokens,
            int tokenCount,
            int blockSize,
            long seed,
            long outLocals,
            long outSequence,
            int capacity,
            long outBlocks);

    static native int kvi_page_digests(
            long tokens,
            int tokenCount,
            int pageSize,
            int flags,
            long seed,
            int seedLength,
            long outDigests,
            int capacity,
            long outPages);

    static native int kvi_match_tokens(
            long index,
            int nameSpace,
            long tokens,
            int tokenCount,
            int blockSize,
            long seed,
            long outSequence,
            int sequenceCapacity,
            long outHits,
            int hitCapacity,
            long outHitCount);

    static native int kvi_match_locals(
            long index,
            int nameSpace,
            long locals,
            int count,
            long outHits,
            int hitCapacity,
            long outHitCount);

    static native int kvi_match_dense(
            long index,
            int nameSpace,
            long locals,
            int count,
            int tiers,
            long outDepths,
            int stride);

    static native int kvi_slot_open_approximate(
            long index, int domain, int nameSpace, long outSlot);

    static native int kvi_decide(
            long index, int slot, long locals, int count, long nowMillis, long outNewBlocks);

    static native int kvi_expire(long index, long nowMillis, long outEnded);

    static native int kvi_snapshot_save(
            long index,
            long path,
            long watermarks,
            int watermarkCount,
            long slots,
            int slotCount,
            long out,
            long message,
            int messageCapacity);

    static native int kvi_snapshot_load(
            long index,
            long path,
            long outWatermarks,
            int watermarkCapacity,
            long outSlots,
            int slotCapacity,
            long out,
            long message,
            int messageCapacity);

    static native int kvi_match_batch(
            long index,
            long queries,
            int queryCount,
            long locals,
            long localCount,
            int tiers,
            long outDepths,
            int stride,
            long outLooked);

    static native int kvi_slot_bound(long index, long outBound);

    static native int kvi_slot_blocks(long index, long outBlocks, int capacity, long outCount);

    static native int kvi_stats(long index, long out);

    static native Pointer kvi_status_text(int status);

    static native int kvt_open(long config, long outTracker);

    static native int kvt_close(long tracker);

    static native int kvt_join(long tracker, int backend);

    static native int kvt_leave(long tracker, int backend);

    static native int kvt_find(
            long tracker,
            long tokens,
            int tokenCount,
            long seed,
            long outHits,
            int hitCapacity,
            long outHitCount);

    static native int kvt_record(
            long tracker, int backend, long tokens, int tokenCount, long seed, long outNewBlocks);

    static native int kvt_evict(long tracker, int backend, long most, long outEvicted);

    static native int kvt_evict_all(long tracker, long outEvicted);

    static native int kvt_stats(long tracker, long out);

    static native int ktk_open(long config, long outTokenizer);

    static native int ktk_close(long tokenizer);

    static native int ktk_encode(
            long tokenizer,
            long text,
            long length,
            int flags,
            long outIds,
            long capacity,
            long outCount);

    static native int ktk_decode(
            long tokenizer,
            long ids,
            long count,
            int flags,
            long outBytes,
            long capacity,
            long outLength);

    static native int ktk_memory_open(long maxBytes, long outMemory);

    static native int ktk_memory_close(long memory);

    static native int ktk_memory_stats(long memory, long out);

    static native int kvi_match_text(
            long index,
            long tokenizer,
            long memory,
            long query,
            long outLocals,
            int localCapacity,
            long outHits,
            int hitCapacity,
            long out);

    /**
     * Binds the library, once per JVM.
     *
     * @param configured file or folder from the configuration
     * @return the file that is bound
     * @throws NativeIndexException naming the file, what is wrong with it, and the next step
     */
    static synchronized Path load(Optional<Path> configured) {
        String property = System.getProperty(PATH_PROPERTY);
        Optional<Path> wanted =
                property == null || property.isEmpty()
                        ? configured
                        : Optional.of(Path.of(property));
        if (loaded != null) {
            if (wanted.isPresent() && !same(loaded, inFolder(wanted.get()))) {
                throw new NativeIndexException(
                        "this process already uses %s; restart it to use %s"
                                .formatted(loaded, inFolder(wanted.get())));
            }
            return loaded;
        }
        Path file = wanted.map(KvIndexLibrary::inFolder).orElseGet(KvIndexLibrary::packaged);
        bind(file);
        loaded = file;
        return file;
    }

    /** Binds this file, after a look at its ABI version and at what it needs of the CPU. */
    static void bind(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new NativeIndexException(
                    "there is no native index at " + file + "; build it with `./warmpath native`");
        }
        NativeLibrary library;
        try {
            library = NativeLibrary.getInstance(file.toAbsolutePath().toString());
        } catch (UnsatisfiedLinkError e) {
            throw new NativeIndexException(
                    ("%s cannot be loaded on this machine (%s); rebuild with `./warmpath"
                                    + " native`")
                            .formatted(file, e.getMessage()),
                    e);
        }
        // The version is asked before anything else is bound: another ABI may lack functions.
        requireAbi(file, abiOf(file, library));
        requireCpu(file, lackingFor(file, library));
        try {
            Native.register(KvIndexLibrary.class, library);
        } catch (UnsatisfiedLinkError e) {
            throw new NativeIndexException(
                    "%s lacks a function of the index (%s); rebuild with `./warmpath native`"
                            .formatted(file, e.getMessage()),
                    e);
        }
    }

    private static int abiOf(Path file, NativeLibrary library) {
        try (Memory version = new Memory(Integer.BYTES)) {
            Function ask = library.getFunction("kvi_abi_version");
            int status = ask.invokeInt(new Object[] {version});
            if (status != KvLayout.OK) {
                throw new NativeIndexException(file + " does not tell its ABI version: " + status);
            }
            return version.getInt(0);
        } catch (UnsatisfiedLinkError e) {
            throw new NativeIndexException(
                    file + " is not a native index; rebuild with `./warmpath native`", e);
        }
    }

    static void requireAbi(Path file, int found) {
        if (found != KvLayout.ABI_VERSION) {
            throw new NativeIndexException(
                    "%s has ABI %s, this gateway needs %s; rebuild with `./warmpath native`"
                            .formatted(
                                    file, Integer.toUnsignedString(found), KvLayout.ABI_VERSION));
        }
    }

    /** What the library needs of the CPU and this one lacks; empty: it has all. */
    private static String lackingFor(Path file, NativeLibrary library) {
        try (Memory names = new Memory(CPU_NAMES)) {
            Function ask = library.getFunction("kvi_cpu_lacks");
            int status = ask.invokeInt(new Object[] {names, CPU_NAMES});
            if (status != KvLayout.OK) {
                throw new NativeIndexException(file + " does not tell what it needs: " + status);
            }
            return names.getString(0, StandardCharsets.US_ASCII.name());
        }
    }

    static void requireCpu(Path file, String lacking) {
        if (!lacking.isEmpty()) {
            throw new NativeIndexException(
                    ("this CPU lacks %s, which %s needs; run it on x86-64-v2 or newer"
                                    + " (server CPUs since 2009)")
                            .formatted(lacking, file));
        }
    }

    private static Path inFolder(Path path) {
        if (!Files.isDirectory(path)) {
            return path;
        }
        Path platform = path.resolve(Platform.RESOURCE_PREFIX).resolve(fileName());
        return Files.isRegularFile(platform) ? platform : path.resolve(fileName());
    }

    private static Path packaged() {
        try {
            return Native.extractFromResourcePath("kvindex", KvIndexLibrary.class.getClassLoader())
                    .toPath();
        } catch (IOException e) {
            throw new NativeIndexException(
                    ("the gateway's jar has no %s/%s that can be unpacked (%s); build it"
                                    + " with `./warmpath native`, or name a built one with -D%s")
                            .formatted(
                                    Platform.RESOURCE_PREFIX,
                                    fileName(),
                                    e.getMessage(),
                                    PATH_PROPERTY),
                    e);
        }
    }

    private static String fileName() {
        return System.mapLibraryName("kvindex");
    }

    private static boolean same(Path a, Path b) {
        try {
            return Files.isSameFile(a, b);
        } catch (IOException e) {
            return a.toAbsolutePath().normalize().equals(b.toAbsolutePath().normalize());
        }
    }
}
