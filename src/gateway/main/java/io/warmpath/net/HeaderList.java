package io.warmpath.net;

import io.vertx.core.MultiMap;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The few headers of one request or answer, in the order and the case they came in. Found by
 * looking at one after the other: for a dozen names that is cheaper than making and asking a hash
 * table. Names are compared without regard to case. Unlike other maps of Vert.x, it takes any
 * characters: whoever writes them to a socket checks them. One thread.
 */
public final class HeaderList implements MultiMap {
    private static final int FIRST_HEADERS = 12;

    private String[] all; // name, value, name, value
    private int used;
    private long lengths; // a bit for each length of a name, of which one may be there

    public HeaderList() {
        this.all = new String[2 * FIRST_HEADERS];
    }

    @Override
    public int size() {
        return used / 2;
    }

    /** {@code i}: from 0 to {@link #size} - 1. */
    public String name(int i) {
        return all[2 * i];
    }

    /** {@code i}: from 0 to {@link #size} - 1. */
    public String value(int i) {
        return all[2 * i + 1];
    }

    @Override
    public HeaderList add(String name, String value) {
        if (used == all.length) {
            all = Arrays.copyOf(all, 2 * used);
        }
        all[used] = name;
        all[used + 1] = value;
        used += 2;
        lengths |= 1L << name.length();
        return this;
    }

    private int find(String name, int from) {
        if ((lengths & 1L << name.length()) == 0) {
            return -1;
        }
        for (int i = from; i < used; i += 2) {
            if (all[i].equalsIgnoreCase(name)) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public @Nullable String get(String name) {
        int at = find(name, 0);
        return at < 0 ? null : all[at + 1];
    }

    @Override
    public boolean contains(String name) {
        return find(name, 0) >= 0;
    }

    @Override
    public boolean contains(String name, String value, boolean caseInsensitive) {
        for (int at = find(name, 0); at >= 0; at = find(name, at + 2)) {
            String has = all[at + 1];
            if (caseInsensitive ? has.equalsIgnoreCase(value) : has.equals(value)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public List<String> getAll(String name) {
        List<String> found = new ArrayList<>(1);
        for (int at = find(name, 0); at >= 0; at = find(name, at + 2)) {
            found.add(all[at + 1]);
        }
        return found;
    }

    @Override
    public HeaderList remove(String name) {
        int kept = 0;
        for (int i = 0; i < used; i += 2) {
            if (!all[i].equalsIgnoreCase(name)) {
                all[kept] = all[i];
                all[kept + 1] = all[i + 1];
                kept += 2;
            }
        }
        Arrays.fill(all, kept, used, null);
        used = kept;
        return this;
    }

    @Override
    public HeaderList clear() {
        Arrays.fill(all, 0, used, null);
        used = 0;
        lengths = 0;
        return this;
    }

    @Override
    public boolean isEmpty() {
        return used == 0;
    }

    @Override
    public Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (int i = 0; i < used; i += 2) {
            if (find(all[i], 0) == i) {
                names.add(all[i]);
            }
        }
        return names;
    }

    @Override
    public void forEach(BiConsumer<String, String> action) {
        for (int i = 0; i < used; i += 2) {
            action.accept(all[i], all[i + 1]);
        }
    }

    @Override
    public List<Map.Entry<String, String>> entries() {
        List<Map.Entry<String, String>> entries = new ArrayList<>(size());
        forEach((name, value) -> entries.add(new SimpleImmutableEntry<>(name, value)));
        return entries;
    }

    @Override
    public Iterator<Map.Entry<String, String>> iterator() {
        return entries().iterator();
    }

    @Override
    public HeaderList set(String name, String value) {
        return remove(name).add(name, value);
    }

    @Override
    public HeaderList add(String name, Iterable<String> values) {
        for (String value : values) {
            add(name, value);
        }
        return this;
    }

    @Override
    public HeaderList set(String name, Iterable<String> values) {
        return remove(name).add(name, values);
    }

    @Override
    public HeaderList addAll(MultiMap headers) {
        headers.forEach(this::addOne);
        return this;
    }

    @Override
    public HeaderList addAll(Map<String, String> headers) {
        headers.forEach(this::addOne);
        return this;
    }

    private void addOne(String name, String value) {
        add(name, value);
    }

    @Override
    public HeaderList setAll(MultiMap headers) {
        return headers == this ? this : clear().addAll(headers);
    }

    @Override
    public HeaderList setAll(Map<String, String> headers) {
        return clear().addAll(headers);
    }

    @Override
    public @Nullable String get(CharSequence name) {
        return get(name.toString());
    }

    @Override
    public List<String> getAll(CharSequence name) {
        return getAll(name.toString());
    }

    @Override
    public boolean contains(CharSequence name) {
        return contains(name.toString());
    }

    @Override
    public boolean contains(CharSequence name, CharSequence value, boolean caseInsensitive) {
        return contains(name.toString(), value.toString(), caseInsensitive);
    }

    @Override
    public HeaderList add(CharSequence name, CharSequence value) {
        return add(name.toString(), value.toString());
    }

    @Override
    public HeaderList add(CharSequence name, Iterable<CharSequence> values) {
        for (CharSequence value : values) {
            add(name.toString(), value.toString());
        }
        return this;
    }

    @Override
    public HeaderList set(CharSequence name, CharSequence value) {
        return set(name.toString(), value.toString());
    }

    @Override
    public HeaderList set(CharSequence name, Iterable<CharSequence> values) {
        return remove(name).add(name, values);
    }

    @Override
    public HeaderList remove(CharSequence name) {
        return remove(name.toString());
    }

    /** With the values of what a client keeps for itself left out. */
    @Override
    public String toString() {
        return "headers " + names();
    }
}
