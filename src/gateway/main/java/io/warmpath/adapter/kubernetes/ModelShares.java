package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Models that share the requests of one, each by its weight. Immutable.
 *
 * @param models at least one
 * @param bounds upper end of each one's share, ascending; the last is 1
 */
record ModelShares(List<String> models, List<Double> bounds) {
    /**
     * Weights are given to all targets, or to none: then all are equal.
     *
     * @param targets of a rule; one without a name is left out
     * @return null: none is left
     */
    static @Nullable ModelShares of(JsonNode targets) {
        List<String> models = new ArrayList<>();
        List<Long> weights = new ArrayList<>();
        long sum = 0;
        for (JsonNode target : targets) {
            String model = target.path("modelRewrite").asText();
            long weight = Math.max(0, target.path("weight").asLong(1));
            if (!model.isEmpty() && weight > 0) {
                models.add(model);
                weights.add(weight);
                sum += weight;
            }
        }
        if (models.isEmpty()) {
            return null;
        }
        List<Double> bounds = new ArrayList<>();
        long upTo = 0;
        for (long weight : weights) {
            upTo += weight;
            bounds.add((double) upTo / sum);
        }
        return new ModelShares(models, bounds);
    }

    /** {@code share}: from 0 to below 1. */
    String at(double share) {
        int i = 0;
        while (i < models.size() - 1 && share >= bounds.get(i)) {
            i++;
        }
        return models.get(i);
    }
}
