package io.warmpath.wiring.settings;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.engine.WorkerConfig;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.metadata.LmcacheMetadata;
import io.warmpath.fleet.metadata.MetadataException;
import io.warmpath.fleet.metadata.PoolMetadata;
import io.warmpath.fleet.metadata.VllmStoreMetadata;
import io.warmpath.fleet.source.WorkerFields;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Workers of the configuration as the fleet takes them. Stateless. */
public final class WorkerSpecs {
    private static final ObjectMapper JSON = new ObjectMapper();

    private WorkerSpecs() {}

    /**
     * Those of {@code warmpath.workers} first, then the bare URLs.
     *
     * @throws IllegalArgumentException naming the key and what is wrong
     */
    public static List<WorkerSpec> of(WarmpathConfig config) {
        return of(config.workers(), config.workerUrls().orElse(List.of()));
    }

    /**
     * @throws IllegalArgumentException naming the key and what is wrong
     */
    public static List<WorkerSpec> of(List<WorkerConfig> entries, List<String> bare) {
        List<WorkerSpec> specs = new ArrayList<>();
        Set<URI> urls = new HashSet<>();
        for (int i = 0; i < entries.size(); i++) {
            try {
                add(specs, urls, spec(entries.get(i)));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "warmpath.workers[" + i + "]: " + e.getMessage() + ".", e);
            }
        }
        for (String url : bare) {
            try {
                add(specs, urls, WorkerSpec.of(url));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "warmpath.worker-urls (--worker, --workers): " + e.getMessage() + ".", e);
            }
        }
        return specs;
    }

    private static void add(List<WorkerSpec> specs, Set<URI> urls, WorkerSpec spec) {
        if (!urls.add(spec.url())) {
            throw new IllegalArgumentException("the URL " + spec.url() + " is listed twice");
        }
        for (WorkerSpec other : specs) {
            if (spec.name() != null && spec.name().equals(other.name())) {
                throw new IllegalArgumentException(
                        "the name " + spec.name() + " is given to " + other.url() + ", too");
            }
            if (spec.id().isPresent() && spec.id().equals(other.id())) {
                throw new IllegalArgumentException("the id is that of " + other.url() + ", too");
            }
        }
        specs.add(spec);
    }

    private static OptionalLong id(String text) {
        try {
            return OptionalLong.of(Long.parseUnsignedLong(text.strip()));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "id " + text + " must be a whole number from 0 to 18446744073709551615", e);
        }
    }

    private static WorkerSpec spec(WorkerConfig entry) {
        return new WorkerSpecBuilder(WorkerSpec.parse(entry.url()))
                .name(entry.name().orElse(null))
                .id(entry.id().map(WorkerSpecs::id).orElse(OptionalLong.empty()))
                .kind(entry.kind().orElse(null))
                .models(Set.copyOf(entry.models().orElse(List.of())))
                .blockSize(entry.blockSize())
                .dpSize(entry.dpSize())
                .events(
                        entry.eventsEndpoint().orElse(null),
                        entry.replayEndpoint().orElse(null),
                        entry.eventsBind(),
                        entry.topic().orElse(""))
                .taints(entry.taints().orElse(List.of()).stream().map(Taint::parse).toList())
                .pool(pool(entry))
                .priorities(entry.priority().map(PriorityOrder::parse).orElse(null))
                .capacity(new Capacity(entry.maxNumBatchedTokens(), entry.totalKvBlocks()))
                .labels(WorkerFields.labels(entry.labels().orElse(List.of())))
                .pins(entry.pins().map(PinSupport::parse).orElse(null))
                .weight(entry.weight().orElse(0.0))
                .role(entry.role().map(Role::parse).orElse(null), entry.bootstrapPort())
                .build();
    }

    private static @Nullable PoolMetadata pool(WorkerConfig entry) {
        if (entry.sglangHicacheMooncake().isPresent()) {
            return HiCacheMetadata.of(
                    json(HiCacheMetadata.KEY, entry.sglangHicacheMooncake().get()));
        }
        if (entry.vllmMooncakeStore().isPresent()) {
            return VllmStoreMetadata.of(
                    json(VllmStoreMetadata.KEY, entry.vllmMooncakeStore().get()));
        }
        return entry.lmcache().isPresent()
                ? LmcacheMetadata.of(json(LmcacheMetadata.KEY, entry.lmcache().get()))
                : null;
    }

    private static Map<?, ?> json(String key, String text) {
        try {
            return JSON.readValue(text, Map.class);
        } catch (JsonProcessingException e) {
            throw new MetadataException(key, "must be a JSON object");
        }
    }
}
