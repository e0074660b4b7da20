package io.warmpath.adapter.nats;

import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a namespace and a component are called on a NATS server: subjects, streams, buckets.
 *
 * <p>Immutable. The stream and the bucket have the names that Dynamo up to 1.3 gives them, so that
 * retention rules and access rights of an installation still fit. What is in them is ours.
 *
 * @param namespace such as {@code warmpath}
 * @param component such as {@code backend}
 */
public record NatsNames(String namespace, String component) {

    /** What the names of snapshots begin with in {@link #snapshotBucket}. */
    public static final String SNAPSHOT = "radix-state";

    private static final String CONSUMER = "router-";
    private static final String WORKER = "worker.";

    /** Throws {@link IllegalArgumentException} when one of them is empty. */
    public NatsNames {
        if (slug(namespace).isEmpty() || slug(component).isEmpty()) {
            throw new IllegalArgumentException(
                    ("NATS namespace '%s' and component '%s' must have a letter or a digit"
                                    + " each")
                            .formatted(namespace, component));
        }
    }

    /** Lower case, every other character than a letter, digit, - or _ as one _. */
    public static String slug(String text) {
        return text.strip().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]", "_");
    }

    /** The stream with the KV events of all workers. */
    public String stream() {
        return slug("namespace." + namespace + ".component." + component + ".kv-events")
                .replace('_', '-');
    }

    /** All subjects of {@link #stream}. */
    public String streamSubjects() {
        return stream() + ".>";
    }

    /** In the stream: the events of one rank of a worker. {@code workerId}: as the fleet has it. */
    public String events(long workerId, int dpRank) {
        return stream() + "." + source(workerId, dpRank);
    }

    /** Not in the stream: questions for events that a rank's relay still has. */
    public String replay(long workerId, int dpRank) {
        return plain("kv-replay") + "." + source(workerId, dpRank);
    }

    /** Not in the stream: signs of life of a rank's relay. */
    public String relay(long workerId, int dpRank) {
        return plain("kv-relay") + "." + source(workerId, dpRank);
    }

    /** The signs of life of all relays. */
    public String relays() {
        return plain("kv-relay") + ".>";
    }

    /** What gateways tell each other about running requests. */
    public String replicas() {
        return plain("active_sequences_events");
    }

    /** What gateways tell each other about themselves. */
    public String control(String topic) {
        return plain("control") + "." + slug(topic);
    }

    /** The stream with the records of one channel. */
    public String recordStream(String topic) {
        return slug("namespace." + namespace + ".component." + component + ".records." + topic)
                .replace('_', '-');
    }

    /** In {@link #recordStream}: its one subject. */
    public String records(String topic) {
        return plain("records") + "." + slug(topic);
    }

    /** Object store: snapshots of the index. */
    public String snapshotBucket() {
        return slug("namespace-" + namespace + "-component-" + component + "-radix-bucket");
    }

    /** Key-value store: the lock on snapshots, and which are whole. */
    public String stateBucket() {
        return slug("namespace-" + namespace + "-component-" + component + "-router-state");
    }

    /** Key-value store whose entries go by themselves: which gateways are alive. */
    public String presenceBucket() {
        return slug("namespace-" + namespace + "-component-" + component + "-routers");
    }

    /** Key-value store whose entries go by themselves: workers that their relays register. */
    public String workerBucket() {
        return slug("namespace-" + namespace + "-component-" + component + "-workers");
    }

    /** In {@link #workerBucket}: the record of one worker. */
    static String worker(long workerId) {
        return WORKER + HexFormat.of().toHexDigits(workerId);
    }

    /** Whether it is a key of {@link #worker}. */
    static boolean isWorker(String key) {
        return key.startsWith(WORKER);
    }

    /** In {@link #workerBucket}: what a gateway writes to see that it comes back. */
    static String mark(String routerId) {
        return "gateway." + slug(routerId);
    }

    /** The durable consumer of one gateway. */
    public static String consumer(String routerId) {
        return CONSUMER + slug(routerId);
    }

    /** Whose durable consumer it is, as a slug; null when it is none of ours. */
    static @Nullable String gateway(String consumer) {
        return consumer.startsWith(CONSUMER) ? consumer.substring(CONSUMER.length()) : null;
    }

    /** {@code 00000000000000ff.0}: worker 255, rank 0. */
    static String source(long workerId, int dpRank) {
        return HexFormat.of().toHexDigits(workerId) + "." + dpRank;
    }

    private String plain(String topic) {
        return "namespace." + slug(namespace) + ".component." + slug(component) + "." + topic;
    }
}
