package io.warmpath.prefix;

import io.warmpath.prefix.ContentTree.Block;
import io.warmpath.prefix.ContentTree.Node;
import io.warmpath.prefix.ContentTree.Residency;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The decisions of one group of approximate slots, oldest first, each with its whole path. Not
 * thread-safe: {@link ReferencePrefixIndex} guards it.
 */
final class Decisions {
    /** A decision ends at most so many others by time. */
    private static final int ENDS_PER_DECISION = 16;

    private final ContentTree tree;
    private final DecisionLimits limits;
    private final Deque<Decision> alive = new ArrayDeque<>();

    /** The latest time so far, unsigned. */
    private long now;

    private long endedByTime;
    private long endedByCapacity;

    Decisions(ContentTree tree, DecisionLimits limits) {
        this.tree = tree;
        this.limits = limits;
    }

    /** Answers how many blocks are new to the slot. */
    long decide(int slot, List<Block> content, long nowMillis) {
        expire(nowMillis, ENDS_PER_DECISION);
        List<Block> taken = content.subList(0, (int) Math.min(content.size(), limits.capacity()));
        if (taken.isEmpty()) {
            return 0;
        }
        long before = pairs();
        List<Residency> path = new ArrayList<>();
        Set<Node> nodes = new HashSet<>();
        Node node = tree.root();
        for (Block block : taken) {
            node = tree.child(node, block);
            nodes.add(node);
            Residency held = new Residency(slot, node);
            held.tiers = 1 << Tier.GPU.number();
            tree.hold(held);
            path.add(held);
        }
        // What ends on the new path says nothing more.
        endIf(d -> d.slot() == slot && nodes.contains(d.path().getLast().node));
        alive.addLast(new Decision(slot, path, now));
        long fresh = pairs() - before;
        while (pairs() > limits.capacity()) {
            end(alive.removeFirst());
            endedByCapacity++;
        }
        return fresh;
    }

    /** Ends what is due, oldest first; answers how many. */
    long expire(long nowMillis, long most) {
        now = Long.compareUnsigned(nowMillis, now) < 0 ? now : nowMillis;
        long ended = 0;
        while (ended < most && !alive.isEmpty() && isDue(alive.getFirst())) {
            end(alive.removeFirst());
            ended++;
        }
        endedByTime += ended;
        return ended;
    }

    private boolean isDue(Decision decision) {
        return Long.compareUnsigned(now - decision.time(), limits.ttlMillis()) >= 0;
    }

    /** Ends every decision of the slot. */
    void clear(int slot) {
        endIf(d -> d.slot() == slot);
    }

    private void endIf(Predicate<Decision> which) {
        for (Iterator<Decision> it = alive.iterator(); it.hasNext(); ) {
            Decision decision = it.next();
            if (which.test(decision)) {
                it.remove();
                end(decision);
            }
        }
    }

    private void end(Decision decision) {
        decision.path().forEach(tree::release);
    }

    /** (slot, block) pairs that are held. */
    long pairs() {
        Set<Held> held = new HashSet<>();
        for (Decision d : alive) {
            d.path().forEach(r -> held.add(new Held(d.slot(), r.node)));
        }
        return held.size();
    }

    int alive() {
        return alive.size();
    }

    long endedByTime() {
        return endedByTime;
    }

    long endedByCapacity() {
        return endedByCapacity;
    }

    private record Decision(int slot, List<Residency> path, long time) {}

    /** A node is equal to itself only. */
    private record Held(int slot, Node node) {}
}
