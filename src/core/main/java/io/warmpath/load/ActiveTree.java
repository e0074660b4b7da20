package io.warmpath.load;

import org.jspecify.annotations.Nullable;

/**
 * The prefixes of all running prompts as a compressed tree, with the ranks that use each stretch.
 *
 * <p>The blocks of a request are a chain from the root, so a request is a path of few nodes,
 * however long its prompt: book and release cost its nodes, a look-up for all ranks its nodes and
 * the ranks on them. A stretch is divided where prompts part and joined again when the others have
 * left; nothing stays of a request that ended.
 *
 * <p>Any thread. Prompts that begin with the same block share one of {@value #STRIPES} locks, held
 * for a walk: about a microsecond.
 */
final class ActiveTree {
    private static final int STRIPES = 64;

    private final Stripe[] stripes = new Stripe[STRIPES];

    ActiveTree() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /** Books the chain; answers its last node, which {@link #remove} wants back, null for none. */
    @Nullable ActiveNode add(SlotLoad rank, long[] chain) {
        if (chain.length == 0) {
            return null;
        }
        Stripe stripe = of(chain);
        synchronized (stripe) {
            return stripe.add(rank, chain);
        }
    }

    void remove(SlotLoad rank, ActiveNode last) {
        Stripe stripe = of(last.chain);
        synchronized (stripe) {
            stripe.remove(rank, last);
        }
    }

    /** The blocks of this path that no other request of the rank uses count {@code weight} now. */
    void weigh(SlotLoad rank, ActiveNode last, int weight) {
        Stripe stripe = of(last.chain);
        synchronized (stripe) {
            ActiveNode n = last;
            while (n != null && n.ranks.count(rank) == 1) {
                ActiveNode parent = n.parent;
                rank.addUnits((long) n.length() * n.ranks.weigh(rank, weight));
                if (n.children == 1) {
                    stripe.joinWithChild(n);
                }
                n = parent;
            }
        }
    }

    /**
     * Adds to each rank's entry how many leading blocks of the chain it uses already, and to {@code
     * users} how many requests use them.
     */
    void share(long[] chain, int[] shared, PrefixUsers users) {
        if (chain.length == 0) {
            return;
        }
        Stripe stripe = of(chain);
        synchronized (stripe) {
            stripe.share(chain, shared, users);
        }
    }

    /** Nodes of all stripes; for tests and meters. */
    int nodes() {
        int sum = 0;
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                sum += stripe.nodes.size();
            }
        }
        return sum;
    }

    private Stripe of(long[] chain) {
        return stripes[(int) chain[0] & (STRIPES - 1)];
    }

    /** The trees of some first blocks. */
    private static final class Stripe {
        final NodeMap nodes = new NodeMap();

        @Nullable ActiveNode add(SlotLoad rank, long[] chain) {
            ActiveNode last = null;
            for (int depth = 0; depth < chain.length; ) {
                ActiveNode node = nodes.get(chain[depth]);
                if (node == null) {
                    node = new ActiveNode(last, chain, depth, chain.length);
                    nodes.put(node.key(), node);
                    if (last != null) {
                        last.adopt(node.key());
                    }
                } else if (node.from != depth || node.parent != last) {
                    return last; // two names collide: the rest of this prompt goes unnamed
                } else {
                    int end = node.end(chain);
                    if (end < node.to) {
                        node = divide(node, end);
                    }
                }
                node.requests++;
                rank.addUnits((long) node.length() * node.ranks.add(rank));
                depth = node.to;
                last = node;
            }
            return last;
        }

        void remove(SlotLoad rank, ActiveNode last) {
            ActiveNode node = last;
            while (node != null) {
                ActiveNode parent = node.parent;
                rank.addUnits((long) node.length() * node.ranks.remove(rank));
                node.requests--;
                if (node.requests == 0) {
                    nodes.remove(node.key());
                    if (parent != null) {
                        parent.lose(node.key());
                    }
                } else if (node.children == 1) {
                    joinWithChild(node);
                }
                node = parent;
            }
        }

        void share(long[] chain, int[] shared, PrefixUsers users) {
            ActiveNode last = null;
            for (int depth = 0; depth < chain.length; ) {
                ActiveNode node = nodes.get(chain[depth]);
                if (node == null || node.from != depth || node.parent != last) {
                    return;
                }
                int end = node.end(chain);
                node.ranks.addTo(shared, end - depth);
                users.add(end, node.requests);
                if (end < node.to) {
                    return;
                }
                depth = end;
                last = node;
            }
        }

        /**
         * Answers the new upper part. The lower one keeps its identity, because the bookings that
         * end there point to it.
         */
        private ActiveNode divide(ActiveNode node, int at) {
            ActiveNode upper = new ActiveNode(node.parent, node.chain, node.from, at);
            upper.ranks = node.ranks.copy();
            upper.requests = node.requests;
            nodes.put(upper.key(), upper);
            node.from = at;
            node.parent = upper;
            upper.adopt(node.key());
            nodes.put(node.key(), node);
            return upper;
        }

        /**
         * When all requests of the node go on to its child, none ends here, and none decays in one
         * of the two alone.
         */
        private void joinWithChild(ActiveNode node) {
            ActiveNode child = nodes.get(node.childKeys);
            if (child == null
                    || child.requests != node.requests
                    || !child.ranks.sameAs(node.ranks)) {
                return;
            }
            nodes.remove(child.key());
            child.from = node.from; // its chain has the same names there
            child.parent = node.parent;
            nodes.put(child.key(), child);
        }
    }
}
