package io.warmpath.sim.cache;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Pages that several engines share: digests of what one of them has written and any of them may
 * fetch. Of prompts without a salt only. Any thread. Full, it gives up the page that was stored or
 * asked for longest ago.
 */
public final class PagePool {
    private static final HexFormat HEX = HexFormat.of();

    private final Map<String, Boolean> pages; // guarded by this

    /** {@code most}: pages it holds. */
    public PagePool(int most) {
        if (most < 1) {
            throw new IllegalArgumentException("pool pages must be above 0");
        }
        this.pages =
                new LinkedHashMap<>(16, 0.75f, true) {
                    @Override
                    protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
                        return size() > most;
                    }
                };
    }

    /** By digest. */
    public synchronized void store(List<byte[]> digests) {
        for (byte[] digest : digests) {
            pages.put(HEX.formatHex(digest), true);
        }
    }

    /** Also keeps it for longer. */
    synchronized boolean has(byte[] digest) {
        return pages.get(HEX.formatHex(digest)) != null;
    }

    /** By name; its age stays as it is. */
    public synchronized boolean has(String hex) {
        return pages.containsKey(hex);
    }

    public synchronized int size() {
        return pages.size();
    }

    /** Names of all pages. */
    public synchronized List<String> names() {
        return new ArrayList<>(pages.keySet());
    }
}
