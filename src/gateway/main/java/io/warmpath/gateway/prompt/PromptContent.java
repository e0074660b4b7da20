package io.warmpath.gateway.prompt;

import io.warmpath.load.LoadBook;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.HashedPrompt;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.tokens.template.TextChunks;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a prompt is to the gateway: its token ids, or, with an index that hashes prompts itself, the
 * hashes of its blocks, one list for each block size that was asked for. A block size that came
 * since is not known then: its workers are routed by load for this request. Or, when no one can
 * know its tokens, the chunks of its text. One thread at a time. Arrays are not copied.
 */
public final class PromptContent {
    public static final int[] NO_IDS = {};
    private static final long[] NO_NAMES = {};
    static final PromptContent UNKNOWN = of(NO_IDS);

    private final int length;
    private final int[] ids;
    private final List<HashedPrompt> hashed;
    private final @Nullable TextChunks text;

    /** The answers that came with the hashes are for who asks first: later they are old. */
    private boolean asked;

    private PromptContent(
            int length, int[] ids, List<HashedPrompt> hashed, @Nullable TextChunks text) {
        this.text = text;
        this.length = length;
        this.ids = ids;
        this.hashed = hashed;
    }

    public static PromptContent of(int[] ids) {
        return new PromptContent(ids.length, ids, List.of(), null);
    }

    /** {@code found}: the same prompt for each block size, at least one. */
    static PromptContent of(List<HashedPrompt> found) {
        return new PromptContent(found.getFirst().tokens(), NO_IDS, found, null);
    }

    static PromptContent of(TextChunks text) {
        return new PromptContent(text.tokens(), NO_IDS, List.of(), text);
    }

    /** Its length alone. */
    static PromptContent counted(int tokens) {
        return new PromptContent(tokens, NO_IDS, List.of(), null);
    }

    /** It has a length, and nothing to be looked up by. */
    private boolean isCounted() {
        return hashed.isEmpty() && length > ids.length;
    }

    /** Leading blocks of this size that both have; 0 where one of them is not known in such. */
    public int common(PromptContent other, int blockSize) {
        HashedPrompt mine = find(blockSize);
        HashedPrompt theirs = other.find(blockSize);
        int same =
                mine != null && theirs != null
                        ? Arrays.mismatch(mine.hashes(), theirs.hashes())
                        : Arrays.mismatch(ids, other.ids);
        if (mine != null && theirs != null) {
            return same < 0 ? mine.hashes().length : same;
        }
        return (same < 0 ? ids.length : same) / blockSize;
    }

    /** Null: its tokens are known, or nothing is. */
    @Nullable TextChunks text() {
        return text;
    }

    /** In tokens; 0: nothing is known. A guess where only its text is. */
    public int length() {
        return length;
    }

    /** Empty when there are hashes only. */
    public int[] ids() {
        return ids;
    }

    /** Null: its blocks of this size are not known. */
    @Nullable PrefixQuery query(int blockSize, PrefixSpace space) {
        if (isCounted()) {
            return null;
        }
        if (hashed.isEmpty()) {
            return new PrefixQuery(ids, length, blockSize, space);
        }
        HashedPrompt known = find(blockSize);
        return known == null ? null : PrefixQuery.hashed(known.hashes(), length, blockSize, space);
    }

    /** What the index said of blocks of this size when they were hashed; null: ask it. */
    @Nullable PrefixMatch answer(int blockSize) {
        HashedPrompt known = asked ? null : find(blockSize);
        return known == null ? null : known.match();
    }

    /** All answers that came with the hashes have been given. */
    void answered() {
        asked = true;
    }

    /** By name; without names where its blocks of this size are not known. */
    public PromptBlocks named(LoadBook load, String model, String salt, int blockSize) {
        if (isCounted()) {
            return PromptBlocks.unnamed(blockSize, length);
        }
        if (hashed.isEmpty()) {
            return load.name(model, salt, ids, blockSize);
        }
        HashedPrompt known = find(blockSize);
        return known == null
                ? PromptBlocks.unnamed(blockSize, length)
                : load.name(model, salt, known.hashes(), length, blockSize);
    }

    /** Names of its complete blocks; none where its blocks of this size are not known. */
    public long[] names(int blockSize, long seed) {
        if (blockSize <= 0) {
            return NO_NAMES;
        }
        if (hashed.isEmpty()) {
            return PromptBlocks.of(ids, blockSize, seed).chain();
        }
        HashedPrompt known = find(blockSize);
        return known == null
                ? NO_NAMES
                : PromptBlocks.ofHashes(known.hashes(), length, blockSize, seed).chain();
    }

    /** As far as blocks go: ids behind the last complete one are not compared. */
    boolean isLike(PromptContent other) {
        if (length != other.length
                || hashed.size() != other.hashed.size()
                || !Arrays.equals(ids, other.ids)) {
            return false;
        }
        for (int i = 0; i < hashed.size(); i++) {
            if (!Arrays.equals(hashed.get(i).hashes(), other.hashed.get(i).hashes())) {
                return false;
            }
        }
        return true;
    }

    private @Nullable HashedPrompt find(int blockSize) {
        for (int i = 0; i < hashed.size(); i++) {
            if (hashed.get(i).blockSize() == blockSize) {
                return hashed.get(i);
            }
        }
        return null;
    }
}
