package io.warmpath.pool;

import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.util.List;

/**
 * vLLM's blocks and their keys in Mooncake, as its MooncakeStoreConnector writes them: {@code
 * [prefix@]model[@...]@tp_rank:R@pcpN@dcpN@pp_rank:P@group:G@HASH}.
 *
 * <p>Blocks are hashed as {@code sha256_cbor}: SHA-256 of the canonical CBOR of (digest before,
 * ids, null). vLLM's default {@code sha256} hashes a pickle and {@code xxhash} starts from chance;
 * pages of such engines cannot be named from outside. Nor can prompts with an adapter, a salt or
 * images: for those there are no pages here.
 *
 * @param pageSize tokens of a block
 * @param hashSeed the engines' PYTHONHASHSEED; empty: unset, which means the fixed start value of
 *     0.29.0 and later
 * @param modelName last part of the model's path
 * @param storeNamespace follows the model's name as it is, such as {@code @fmt2}; empty: none
 * @param cachePrefix empty: none
 * @param tpRanks how many tensor-parallel ranks write their own part: 1 for MLA models
 * @param groups KV cache groups: 1 but for hybrid models
 */
public record VllmPages(
        int pageSize,
        String hashSeed,
        String modelName,
        String storeNamespace,
        String cachePrefix,
        int tpRanks,
        int pcpRanks,
        int dcpRanks,
        int ppRanks,
        int groups)
        implements PageRecipe {
    private static final String FIXED_START = "vllm-none-hash";
    private static final int MOST_KEYS = 4096;

    public VllmPages {
        if (pageSize < 1 || pageSize > 65536) {
            throw new IllegalArgumentException("block size " + pageSize + ": 1 to 65536");
        }
        if (tpRanks < 1 || pcpRanks < 1 || dcpRanks < 1 || ppRanks < 1 || groups < 1) {
            throw new IllegalArgumentException("ranks and groups are at least 1");
        }
        if ((double) tpRanks * pcpRanks * dcpRanks * ppRanks * groups > MOST_KEYS) {
            throw new IllegalArgumentException("more than " + MOST_KEYS + " parts of a page");
        }
        if (modelName.isEmpty() || (modelName + storeNamespace + cachePrefix).indexOf(',') >= 0) {
            throw new IllegalArgumentException(
                    "a model's name, and no comma in names: a master splits at it");
        }
    }

    @Override
    public int keysPerPage() {
        return tpRanks * pcpRanks * dcpRanks * ppRanks * groups;
    }

    @Override
    public byte[] digests(PoolQuestion question, PageDigests sha) {
        boolean plain = question.extraKey() == null && question.cacheSalt() == null;
        int pages = plain ? question.length() / pageSize : 0;
        byte[] digests = new byte[pages * DIGEST_BYTES];
        MessageDigest digest = JdkPageDigests.sha256();
        ByteArrayOutputStream cbor = new ByteArrayOutputStream(pageSize * 5 + 64);
        byte[] before = start(hashSeed, digest);
        int from = 0;
        for (int page = 0; page < pages; page++) {
            cbor.reset();
            Cbor.head(cbor, Cbor.ARRAY, 3);
            Cbor.head(cbor, Cbor.BYTES, DIGEST_BYTES);
            cbor.write(before, from, DIGEST_BYTES);
            Cbor.ids(cbor, question.tokens(), page * pageSize, pageSize);
            cbor.write(Cbor.NULL);
            digest.update(cbor.toByteArray());
            JdkPageDigests.digestInto(digest, digests, page);
            before = digests;
            from = page * DIGEST_BYTES;
        }
        return digests;
    }

    /** What the first block's chain begins with. */
    static byte[] start(String hashSeed, MessageDigest digest) {
        return digest.digest(Cbor.text(hashSeed.isEmpty() ? FIXED_START : hashSeed));
    }

    @Override
    public void keys(byte[] digests, int page, List<String> into) {
        String hash = SglangPages.hex(digests, page);
        for (int group = 0; group < groups; group++) {
            for (int pp = 0; pp < ppRanks; pp++) {
                for (int dcp = 0; dcp < dcpRanks; dcp++) {
                    for (int pcp = 0; pcp < pcpRanks; pcp++) {
                        for (int tp = 0; tp < tpRanks; tp++) {
                            into.add(key(hash, tp, pcp, dcp, pp, group));
                        }
                    }
                }
            }
        }
    }

    String key(String hash, int tp, int pcp, int dcp, int pp, int group) {
        return (cachePrefix.isEmpty() ? "" : cachePrefix + "@")
                + modelName
                + storeNamespace
                + "@tp_rank:"
                + tp
                + "@pcp"
                + pcp
                + "@dcp"
                + dcp
                + "@pp_rank:"
                + pp
                + "@group:"
                + group
                + "@"
                + hash;
    }

    @Override
    public String description() {
        return "vLLM sha256_cbor seed "
                + (hashSeed.isEmpty() ? FIXED_START : hashSeed)
                + ", block "
                + pageSize
                + ", "
                + key("HASH", tpRanks - 1, pcpRanks - 1, dcpRanks - 1, ppRanks - 1, groups - 1);
    }
}
