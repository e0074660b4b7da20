package io.warmpath.adapter.kubernetes;

import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.FleetSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A feed that remembers what it was told. */
final class Told implements FleetSource.Feed {
    private final Map<String, WorkerSpec> specs = new LinkedHashMap<>();
    private final Map<String, String> states = new LinkedHashMap<>();
    private final List<String> calls = new ArrayList<>();

    @Override
    public synchronized void put(String key, WorkerSpec spec) {
        specs.put(key, spec);
        states.put(key, "serves");
        calls.add("put " + spec.name());
    }

    @Override
    public synchronized void drain(String key, String why) {
        states.put(key, why);
        calls.add("drain " + specs.get(key).name());
    }

    @Override
    public synchronized void hold(String key, String why) {
        states.put(key, why);
        calls.add("hold " + specs.get(key).name());
    }

    @Override
    public synchronized void remove(String key) {
        calls.add("remove " + specs.remove(key).name());
        states.remove(key);
    }

    @Override
    public void replace(Map<String, WorkerSpec> all) {
        throw new UnsupportedOperationException("not used by this source");
    }

    /** State by name of the worker. */
    synchronized Map<String, String> states() {
        Map<String, String> byName = new TreeMap<>();
        specs.forEach((key, spec) -> byName.put(String.valueOf(spec.name()), states.get(key)));
        return byName;
    }

    synchronized WorkerSpec spec(String name) {
        return specs.values().stream()
                .filter(s -> name.equals(s.name()))
                .reduce((a, b) -> b)
                .orElseThrow();
    }

    synchronized List<String> calls() {
        return List.copyOf(calls);
    }
}
