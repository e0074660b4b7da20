package io.warmpath.session;

import io.warmpath.fleet.Candidate;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Highest random weight (Thaler and Ravishankar): every rank has a weight of its own for a session,
 * and the heaviest one that is there wins. When a rank leaves, only its own sessions move. The
 * weight is hash(worker id as u64, rank as u32, both little-endian; seed), the seed hash(tenant, a
 * zero byte, session id; 0). Any thread; one hash of 12 bytes a candidate.
 */
public final class Rendezvous {
    private final Hash hash;

    public Rendezvous(Hash hash) {
        this.hash = hash;
    }

    /** A 64-bit hash that is the same in every process; XXH64 in the product. Any thread. */
    @FunctionalInterface
    public interface Hash {
        long of(byte[] bytes, long seed);
    }

    /** {@code candidates}: not empty. */
    Candidate pick(SessionKey session, List<Candidate> candidates) {
        byte[] name =
                (session.scope().tenant() + '\0' + session.id()).getBytes(StandardCharsets.UTF_8);
        long seed = hash.of(name, 0);
        byte[] rank = new byte[Long.BYTES + Integer.BYTES];
        ByteBuffer bytes = ByteBuffer.wrap(rank).order(ByteOrder.LITTLE_ENDIAN);
        Candidate best = candidates.getFirst();
        long most = 0;
        for (int i = 0; i < candidates.size(); i++) {
            Candidate c = candidates.get(i);
            bytes.putLong(0, c.worker().id()).putInt(Long.BYTES, c.dpRank());
            long weight = hash.of(rank, seed);
            if (i == 0 || Long.compareUnsigned(weight, most) > 0) {
                most = weight;
                best = c;
            }
        }
        return best;
    }
}
