package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which model stands for which, of the InferenceModelRewrites that belong to one pool. Any thread.
 * A rule that names the model goes before one for all models; of two that do, the one of the older
 * object (of the name that comes first, where they are as old), and within an object the first.
 * Rules without a target that can be used say nothing.
 */
final class InferenceModelRewrites implements AutoCloseable {
    /** {@code models}: that it is for; empty: all. {@code targets}: at least one. */
    private record Rule(List<String> models, ModelShares targets) {}

    /** {@code created}: as Kubernetes writes times: their order is that of their texts. */
    private record Rewrite(String created, String name, List<Rule> rules) {
        static Rewrite of(JsonNode object) {
            JsonNode about = object.path("metadata");
            List<Rule> rules = new ArrayList<>();
            for (JsonNode rule : object.path("spec").path("rules")) {
                List<String> models = new ArrayList<>();
                for (JsonNode match : rule.path("matches")) {
                    models.add(match.path("model").path("value").asText());
                }
                ModelShares targets = ModelShares.of(rule.path("targets"));
                if (targets != null) {
                    rules.add(new Rule(models, targets));
                }
            }
            return new Rewrite(
                    about.path("creationTimestamp").asText(), about.path("name").asText(), rules);
        }
    }

    /**
     * @param others for models that have no rule of their own; null: they stand for themselves
     */
    private record Table(Map<String, ModelShares> named, @Nullable ModelShares others) {}

    private static final Comparator<Rewrite> FIRST =
            Comparator.comparing(Rewrite::created).thenComparing(Rewrite::name);

    private final PoolObjects<Rewrite> objects;
    private volatile Table table = new Table(Map.of(), null);

    InferenceModelRewrites(String pool, String namespace, Reflector.Setup setup) {
        objects =
                new PoolObjects<>(
                        "inferencemodelrewrites",
                        pool,
                        namespace,
                        setup,
                        Rewrite::of,
                        this::changed);
    }

    void start() {
        objects.start();
    }

    /** Told by the threads of both groups. */
    private synchronized void changed() {
        Map<String, ModelShares> named = new HashMap<>();
        ModelShares others = null;
        for (Rewrite rewrite : objects.all().sorted(FIRST).toList()) {
            for (Rule rule : rewrite.rules()) {
                if (rule.models().isEmpty() && others == null) {
                    others = rule.targets();
                }
                rule.models().forEach(model -> named.putIfAbsent(model, rule.targets()));
            }
        }
        table = new Table(Map.copyOf(named), others);
    }

    /**
     * What a model stands for; null: no rule is for it.
     *
     * @param share from 0 to below 1: where in the targets' shares
     */
    @Nullable String target(String model, double share) {
        Table now = table;
        ModelShares targets = now.named().getOrDefault(model, now.others());
        return targets == null ? null : targets.at(share);
    }

    /** How many there are of this pool. */
    int size() {
        return objects.size();
    }

    @Override
    public void close() {
        objects.close();
    }
}
