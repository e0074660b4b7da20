package io.warmpath.tokens.jinja;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The names of one scope and where each gets its value from when the scope is entered. The rules
 * are Jinja's, quirks included: what a name means is decided for the scope as a whole, not from
 * statement to statement.
 */
final class Symbols {
    /** One body of code that runs with its own variables: the template, a macro, a call block. */
    static final class Unit {
        final @Nullable Unit outer;
        private final Map<String, Integer> slots = new HashMap<>();

        Unit(@Nullable Unit outer) {
            this.outer = outer;
        }

        int slot(String ident) {
            return slots.computeIfAbsent(ident, i -> slots.size());
        }

        int size() {
            return slots.size();
        }

        /** How many bodies lie between this one and one around it. */
        int distance(Unit to) {
            int n = 0;
            for (Unit u = this; u != to; u = u.outer) {
                if (u == null) {
                    throw new IllegalStateException("not around this one");
                }
                n++;
            }
            return n;
        }
    }

    /** A variable: its name within the unit that holds it. */
    record Ref(String ident, Unit unit) {}

    enum From {
        /** Set by a call or a loop. */
        PARAMETER,
        /** Looked up among the variables of the rendering. */
        CONTEXT,
        /** A copy of a variable of a scope around. */
        COPY,
        NOTHING
    }

    /** {@code name}: of the variable, for CONTEXT. {@code of}: what is copied, for COPY. */
    record Load(From from, String name, @Nullable Ref of) {}

    final Unit unit;
    private final @Nullable Symbols parent;
    private final String prefix;
    private final int level;
    private final Map<String, Ref> refs;
    private final Map<String, Load> loads;
    private final Set<String> stores;

    private Symbols(Unit unit, @Nullable Symbols parent, String prefix, int level) {
        this.unit = unit;
        this.parent = parent;
        this.prefix = prefix;
        this.level = level;
        refs = new HashMap<>();
        loads = new LinkedHashMap<>();
        stores = new LinkedHashSet<>();
    }

    private Symbols(Symbols other) {
        unit = other.unit;
        parent = other.parent;
        prefix = other.prefix;
        level = other.level;
        refs = new HashMap<>(other.refs);
        loads = new LinkedHashMap<>(other.loads);
        stores = new LinkedHashSet<>(other.stores);
    }

    static Symbols root(Unit unit) {
        return new Symbols(unit, null, "l", 0);
    }

    Symbols inner() {
        return new Symbols(unit, this, "l", level + 1);
    }

    /** The scope of a loop's {@code if}, which runs ahead of the loop's body. */
    Symbols ahead() {
        return new Symbols(unit, this, "t", level + 1);
    }

    Symbols macro(Unit body) {
        return new Symbols(body, this, "l", level + 1);
    }

    /** For a branch that may not be taken. */
    Symbols copy() {
        return new Symbols(this);
    }

    Map<String, Load> loads() {
        return loads;
    }

    private Ref define(String name, Load load) {
        Ref ref = new Ref(prefix + level + "_" + name, unit);
        refs.put(name, ref);
        loads.put(ref.ident(), load);
        return ref;
    }

    @Nullable Ref find(String name) {
        Ref ref = refs.get(name);
        return ref != null || parent == null ? ref : parent.find(name);
    }

    /** Whether nothing in the template sets the name as it is seen from here. */
    boolean isContext(String name) {
        Ref ref = refs.get(name);
        if (ref == null) {
            return parent == null || parent.isContext(name);
        }
        Load load = loads.get(ref.ident());
        return load != null && load.from() == From.CONTEXT;
    }

    void load(String name) {
        if (find(name) == null) {
            define(name, new Load(From.CONTEXT, name, null));
        }
    }

    void store(String name) {
        stores.add(name);
        if (refs.containsKey(name)) {
            return;
        }
        Ref outer = parent == null ? null : parent.find(name);
        define(
                name,
                outer != null
                        ? new Load(From.COPY, name, outer)
                        : new Load(From.NOTHING, name, null));
    }

    Ref parameter(String name) {
        stores.add(name);
        return define(name, new Load(From.PARAMETER, name, null));
    }

    /** Takes over what branches set; a branch that is not taken leaves the value from before. */
    void merge(List<Symbols> branches) {
        Set<String> stored = new LinkedHashSet<>();
        branches.forEach(b -> stored.addAll(b.stores));
        stored.removeAll(stores);
        for (Symbols b : branches) {
            refs.putAll(b.refs);
            loads.putAll(b.loads);
            stores.addAll(b.stores);
        }
        for (String name : stored) {
            Ref target = find(name);
            if (target == null) {
                throw new IllegalStateException(name);
            }
            Ref outer = parent == null ? null : parent.find(name);
            loads.put(
                    target.ident(),
                    outer != null
                            ? new Load(From.COPY, name, outer)
                            : new Load(From.CONTEXT, name, null));
        }
    }
}
