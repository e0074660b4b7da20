package io.warmpath.pool;

import java.net.URI;
import java.util.List;

/**
 * One pool as its engines use it. Workers with equal layouts share a pool; a difference anywhere
 * makes two.
 *
 * @param recipe how pages become keys
 * @param masters who is asked: admin URLs of the pool's masters, {@code http://host:9003}, among
 *     which the leader is found, or {@code lmcache://INSTANCE}, of which this process knows itself
 */
public record PoolLayout(PageRecipe recipe, List<URI> masters) {
    public PoolLayout {
        masters = List.copyOf(masters);
        if (masters.isEmpty()) {
            throw new IllegalArgumentException("a pool needs at least one master URL");
        }
        for (URI master : masters) {
            boolean own = LmcacheChunks.SCHEME.equals(master.getScheme());
            if (!own && (!"http".equals(master.getScheme()) || master.getHost() == null)) {
                throw new IllegalArgumentException(
                        "a master is named by its admin URL, http://host:9003, not " + master);
            }
        }
    }
}
