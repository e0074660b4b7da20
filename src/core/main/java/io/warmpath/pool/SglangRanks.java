package io.warmpath.pool;

/**
 * How an SGLang server spreads one page over its ranks.
 *
 * @param tp tensor-parallel ranks
 * @param pp pipeline stages
 * @param tpLcm servers of different {@code tp} that share pages cut the heads into this many parts;
 *     a multiple of {@code tp}, and {@code tp} itself where heads are not split
 * @param dcp decode-context-parallel ranks, 1: off
 * @param cp attention-context-parallel ranks; they show in keys only with {@code dcp} above 1
 */
public record SglangRanks(int tp, int pp, int tpLcm, int dcp, int cp) {
    /** More parts than any server has; keeps the keys of a page countable. */
    private static final int MOST = 4096;

    public SglangRanks {
        if (tp < 1 || pp < 1 || dcp < 1 || cp < 1 || tpLcm < tp || tpLcm % tp != 0) {
            throw new IllegalArgumentException(
                    ("tp %s, pp %s, tp_lcm %s, dcp %s, cp %s: each at least 1, and tp_lcm a"
                                    + " multiple of tp")
                            .formatted(tp, pp, tpLcm, dcp, cp));
        }
        if ((long) tpLcm * pp > MOST || (long) dcp * cp * pp > MOST) {
            throw new IllegalArgumentException("more than " + MOST + " parts of a page");
        }
    }

    /** The usual case: heads not split, no context parallelism. */
    public static SglangRanks of(int tp, int pp) {
        return new SglangRanks(tp, pp, tp, 1, 1);
    }
}
