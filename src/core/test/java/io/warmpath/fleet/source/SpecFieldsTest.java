package io.warmpath.fleet.source;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A record that is written as JSON is read back as it was. */
class SpecFieldsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static WorkerSpec passed(WorkerSpec spec) throws Exception {
        return WorkerFields.spec(
                JSON.readValue(JSON.writeValueAsBytes(SpecFields.of(spec)), Map.class));
    }

    private static <T> T any(Random r, T[] of) {
        return List.of(of).get(r.nextInt(of.length));
    }

    @Test
    void any_record_comes_back() throws Exception {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        Random r = new Random(seed);
        for (int i = 0; i < 500; i++) {
            WorkerSpecBuilder b = new WorkerSpecBuilder(WorkerSpec.parse("http://h" + i + ":80"));
            if (r.nextBoolean()) {
                b.name("w" + i).id(OptionalLong.of(r.nextLong()));
            }
            if (r.nextBoolean()) {
                b.kind(any(r, EngineKind.values()))
                        .models(Set.of("m", "lora-" + r.nextInt(9)))
                        .blockSize(r.nextInt(65537))
                        .dpSize(r.nextInt(1025));
            }
            if (r.nextBoolean()) {
                boolean bind = r.nextBoolean();
                b.events("tcp://h:1", bind ? null : "tcp://h:2", bind, r.nextBoolean() ? "kv" : "");
            }
            if (r.nextBoolean()) {
                b.taints(List.of(Taint.parse("a=b:NoSchedule"), Taint.parse("c")))
                        .labels(Map.of("zone", "a", "empty", ""))
                        .weight(0.01 + r.nextDouble() * 99);
            }
            if (r.nextBoolean()) {
                b.capacity(new Capacity(r.nextInt(9999), r.nextInt(9999)))
                        .priorities(any(r, PriorityOrder.values()))
                        .pins(any(r, PinSupport.values()));
            }
            WorkerSpec spec = b.build();
            assertEquals(spec, passed(spec), "-Dwarmpath.test.seed=" + seed);
        }
    }

    @Test
    void a_pool_goes_along() throws Exception {
        WorkerSpec spec =
                WorkerFields.spec(
                        Map.of(
                                "url",
                                "http://h:1",
                                "sglang_hicache_mooncake",
                                Map.of("page_size", 64, "tp_size", 2, "model_name", "m")));
        assertEquals(spec, passed(spec));
    }
}
