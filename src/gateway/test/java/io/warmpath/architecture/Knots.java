package io.warmpath.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Knots of classes: within one package, each of them leads to each other one by its dependencies,
 * so that none can be read, tested or moved alone. Nested classes count as the one they lie in.
 */
final class Knots {
    /** By package, then by class: which others of its package it uses. */
    private final Map<String, Map<String, Set<String>>> uses = new TreeMap<>();

    Knots(JavaClasses classes) {
        for (JavaClass type : classes) {
            String from = top(type);
            Map<String, Set<String>> room =
                    uses.computeIfAbsent(type.getPackageName(), k -> new TreeMap<>());
            Set<String> to = room.computeIfAbsent(from, k -> new TreeSet<>());
            for (Dependency d : type.getDirectDependenciesFromSelf()) {
                JavaClass target = d.getTargetClass().getBaseComponentType();
                if (target.getPackageName().equals(type.getPackageName())) {
                    to.add(top(target));
                }
            }
        }
    }

    private static String top(JavaClass type) {
        String name = type.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    /** The largest one of each package that has any, its classes in order. */
    Map<String, Set<String>> largest() {
        Map<String, Set<String>> largest = new TreeMap<>();
        uses.forEach(
                (room, graph) ->
                        new Components(graph)
                                .all().stream()
                                        .max(Comparator.comparingInt(Set::size))
                                        .filter(knot -> knot.size() > 1)
                                        .ifPresent(knot -> largest.put(room, knot)));
        return largest;
    }

    /** Tarjan's strongly connected components of one graph. */
    private static final class Components {
        private final Map<String, Set<String>> graph;
        private final Map<String, Integer> order = new HashMap<>();
        private final Map<String, Integer> low = new HashMap<>();
        private final Deque<String> path = new ArrayDeque<>();
        private final Set<String> done = new TreeSet<>();
        private final List<Set<String>> found = new ArrayList<>();

        Components(Map<String, Set<String>> graph) {
            this.graph = graph;
        }

        List<Set<String>> all() {
            graph.keySet().stream().filter(c -> !order.containsKey(c)).forEach(this::visit);
            return found;
        }

        private void visit(String node) {
            order.put(node, order.size());
            low.put(node, order.get(node));
            path.push(node);
            for (String next : graph.getOrDefault(node, Set.of())) {
                if (!order.containsKey(next)) {
                    visit(next);
                }
                if (!done.contains(next)) {
                    low.merge(node, low.get(next), Math::min);
                }
            }
            if (low.get(node).equals(order.get(node))) {
                Set<String> component = new TreeSet<>();
                String member;
                do {
                    member = path.pop();
                    component.add(member);
                } while (!member.equals(node));
                done.addAll(component);
                found.add(component);
            }
        }
    }
}
