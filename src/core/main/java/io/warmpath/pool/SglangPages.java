package io.warmpath.pool;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's HiCache pages and their keys in Mooncake, as the engine itself asks for them before it
 * fetches.
 *
 * <p>{@code [tag_][model_]HASH_rank..._k}, and {@code _v} beside it unless the model is MLA. What
 * the releases do differently is in src/docs/reference/page-keys.md, and below where it is done.
 *
 * @param pageSize tokens of a page; with {@code dcp} above 1 the logical page's
 * @param mla one latent for K and V, the same on all tensor-parallel ranks
 * @param eagle pages are made of bigrams
 * @param tag {@code extra_backend_tag}; empty: none
 * @param modelName as served; empty: none. In keys since 0.5.17
 */
public record SglangPages(
        SglangVersion version,
        int pageSize,
        boolean mla,
        boolean eagle,
        SglangRanks ranks,
        String tag,
        String modelName)
        implements PageRecipe {
    private static final byte[] NAMESPACE =
            "sglang-cache-namespace-v1".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NO_SEED = {};

    public SglangPages {
        if (pageSize < 1 || pageSize > 65536) {
            throw new IllegalArgumentException("page size " + pageSize + ": 1 to 65536");
        }
        if (ranks.dcp() > 1 && !mla) {
            throw new IllegalArgumentException("dcp " + ranks.dcp() + " is for MLA models only");
        }
        if (tag.indexOf(',') >= 0 || modelName.indexOf(',') >= 0) {
            throw new IllegalArgumentException(
                    "a master cannot be asked for keys with a comma: '%s', '%s'"
                            .formatted(tag, modelName));
        }
    }

    @Override
    public int keysPerPage() {
        return suffixes().size();
    }

    @Override
    public byte[] digests(PoolQuestion question, PageDigests sha) {
        return sha.chain(
                question.tokens(),
                question.length(),
                pageSize,
                eagle,
                version.since(20) ? seed(question.extraKey(), question.cacheSalt()) : NO_SEED);
    }

    /** What chains of one name space begin with. Storage knows of name spaces since 0.5.20. */
    static byte[] seed(@Nullable String extraKey, @Nullable String cacheSalt) {
        if (extraKey == null && cacheSalt == null) {
            return NO_SEED;
        }
        MessageDigest sha = JdkPageDigests.sha256();
        sha.update(NAMESPACE);
        optional(sha, extraKey);
        optional(sha, cacheSalt);
        return sha.digest();
    }

    private static void optional(MessageDigest sha, @Nullable String text) {
        if (text == null) {
            sha.update((byte) 0);
            return;
        }
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        sha.update((byte) 1);
        sha.update(
                ByteBuffer.allocate(Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(utf8.length)
                        .array());
        sha.update(utf8);
    }

    @Override
    public void keys(byte[] digests, int page, List<String> into) {
        String start = prefix() + hex(digests, page);
        for (String suffix : suffixes()) {
            into.add(start + suffix);
        }
    }

    static String hex(byte[] digests, int page) {
        return HexFormat.of().formatHex(digests, page * DIGEST_BYTES, (page + 1) * DIGEST_BYTES);
    }

    private String prefix() {
        StringBuilder prefix = new StringBuilder();
        // Before 0.5.8 the tag is written but not asked for: such an engine never finds its pages.
        if (!tag.isEmpty() && version.since(8)) {
            prefix.append(tag).append('_');
        }
        if (!modelName.isEmpty() && version.since(17)) {
            prefix.append(modelName.replace('/', '-')).append('_');
        }
        if (dcp()) {
            prefix.append("tp")
                    .append(ranks.tp())
                    .append("_dcp")
                    .append(ranks.dcp())
                    .append("_page")
                    .append(pageSize)
                    .append("_pp")
                    .append(ranks.pp())
                    .append("_cp")
                    .append(ranks.cp())
                    .append('_');
        }
        return prefix.toString();
    }

    private boolean dcp() {
        return ranks.dcp() > 1 && version.since(23);
    }

    /** What follows the hash, for every part of a page. */
    private List<String> suffixes() {
        List<String> all = new ArrayList<>();
        for (int pp = 0; pp < stages(); pp++) {
            if (dcp()) {
                for (int rank = 0; rank < ranks.dcp() * ranks.cp(); rank++) {
                    all.addAll(dcpSuffixes(rank % ranks.dcp(), rank / ranks.dcp(), pp));
                }
            } else if (mla) {
                all.addAll(suffixes(0, pp));
            } else {
                for (int tp = 0; tp < ranks.tp(); tp++) {
                    all.addAll(suffixes(tp, pp));
                }
            }
        }
        return all;
    }

    /** Before 0.5.8 stages are not in keys: all of them share the first one's. */
    private int stages() {
        return version.since(8) ? ranks.pp() : 1;
    }

    /** What rank {@code tp} of stage {@code pp} asks for. */
    List<String> suffixes(int tp, int pp) {
        boolean stage = stages() > 1;
        if (mla) {
            return List.of(version.since(8) ? "_" + (stage ? pp : "") + "_k" : "_k");
        }
        int split = version.since(10) ? ranks.tpLcm() / ranks.tp() : 1;
        List<String> all = new ArrayList<>(2 * split);
        for (int part = tp * split; part < (tp + 1) * split; part++) {
            String rank = "_" + part + (stage ? "_" + pp : "");
            all.add(rank + "_k");
            all.add(rank + "_v");
        }
        return all;
    }

    List<String> dcpSuffixes(int dcpRank, int cpRank, int pp) {
        return List.of("_dcp" + dcpRank + "_cp" + cpRank + (stages() > 1 ? "_" + pp : "") + "_k");
    }

    @Override
    public String description() {
        return "SGLang "
                + version
                + (mla ? " MLA" : " MHA")
                + (eagle ? " bigram" : "")
                + ", page "
                + pageSize
                + ", tp "
                + ranks.tp()
                + " pp "
                + ranks.pp()
                + (ranks.tpLcm() > ranks.tp() ? " split heads " + ranks.tpLcm() : "")
                + (ranks.dcp() > 1 ? " dcp " + ranks.dcp() + " cp " + ranks.cp() : "")
                + (tag.isEmpty() ? "" : ", tag " + tag)
                + (modelName.isEmpty() ? "" : ", model " + modelName);
    }
}
