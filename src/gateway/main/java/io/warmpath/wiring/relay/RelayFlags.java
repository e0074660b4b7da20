package io.warmpath.wiring.relay;

import io.warmpath.config.setting.ByteSize;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.wiring.fleet.FleetRuntime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The flags of {@code warmpath relay}.
 *
 * @param worker URL of the engine as the gateways have it; null: by id
 * @param registration null: gateways know the worker from elsewhere
 * @param settings configuration keys that flags set
 */
record RelayFlags(
        List<EventEndpoint> engines,
        @Nullable String worker,
        long workerId,
        long ringBytes,
        @Nullable RelayRegistration registration,
        Map<String, String> settings,
        boolean help) {

    static final String HELP =
            """
            warmpath relay - passes the KV events of one engine on to NATS JetStream

            Runs beside an engine, whose ranks it reads over ZeroMQ. Gateways with --event-plane nats
            read the stream. Start it before the engine gets requests, and leave it running.

              --engine ENDPOINT     where rank 0 publishes, such as tcp://127.0.0.1:5557; rank r
                                    is r ports higher                              (required)
              --replay ENDPOINT     where rank 0 sends batches again               (none)
              --bind                the engine connects to --engine, not the other way round
              --topic TEXT          topic to subscribe to                          (all)
              --dp-size N           data-parallel ranks                            (1)
              --worker URL          the engine as the gateways have it in --worker;
                                    its id is made from this                       (required, or)
              --worker-id N         the id, where gateways have one configured
              --register            registers the worker at NATS, for gateways with
                                    --nats-discovery; needs --worker
              --lease TIME          it leaves so long after this relay has died    (10s)
              --field KEY=VALUE     what gateways are to know of it, such as weight=2,
                                    labels=zone=a,rack=7; keys of warmpath.workers as
                                    annotations have them (kubernetes.md); again for each
              --ring-size SIZE      events kept for each rank while NATS is away,
                                    and for who missed some                        (64M)
              --nats-servers URL,.. NATS servers                    (nats://127.0.0.1:4222)
              --namespace NAME      first part of all names at NATS                (warmpath)
              --component NAME      second part                                    (backend)
              --help                this text

            The keys under warmpath.nats (src/docs/reference/configuration.md) hold here too, by environment:
            NATS_SERVER, WARMPATH_NATS_CREDENTIALS_FILE, WARMPATH_NATS_RETENTION and so on.
            """;

    private static final Set<String> BARE = Set.of("--bind", "--help", "--register");

    private static final Map<String, String> KEYS =
            Map.of(
                    "--nats-servers", "warmpath.nats.servers",
                    "--namespace", "warmpath.nats.namespace",
                    "--component", "warmpath.nats.component");

    private static final Set<String> OTHERS =
            Set.of(
                    ("--engine --replay --topic --dp-size --worker --worker-id --lease"
                                    + " --field --ring-size")
                            .split(" ", -1));

    /**
     * @throws IllegalArgumentException saying which flag is wrong and what it takes
     */
    static RelayFlags parse(String... args) {
        Map<String, String> given = given(args);
        if (given.containsKey("--help")) {
            return new RelayFlags(List.of(), null, 0, 0, null, Map.of(), true);
        }
        String engine = given.get("--engine");
        if (engine == null) {
            throw new IllegalArgumentException(
                    "--engine is missing: the endpoint at which the engine publishes its KV"
                            + " events, such as tcp://127.0.0.1:5557");
        }
        String worker = given.get("--worker");
        OptionalLong id = id(given.get("--worker-id"));
        boolean registers = given.containsKey("--register");
        if (registers ? worker == null : (worker == null) == id.isEmpty()) {
            throw new IllegalArgumentException(
                    registers
                            ? "--register needs --worker, the engine's URL as gateways reach it"
                            : "either --worker, the engine's URL as the gateways have it, or"
                                    + " --worker-id is needed");
        }
        if (!registers && (given.containsKey("--lease") || given.containsKey("--field"))) {
            throw new IllegalArgumentException("--lease and --field need --register");
        }
        int ranks = ranks(given.getOrDefault("--dp-size", "1"));
        Map<String, String> settings = new HashMap<>();
        KEYS.forEach(
                (flag, key) -> {
                    if (given.containsKey(flag)) {
                        settings.put(key, given.get(flag));
                    }
                });
        return new RelayFlags(
                EventEndpoint.perRank(
                        engine,
                        given.get("--replay"),
                        given.containsKey("--bind"),
                        given.getOrDefault("--topic", ""),
                        ranks),
                worker,
                worker == null || id.isPresent()
                        ? id.orElseThrow()
                        : FleetRuntime.idOfUrl(WorkerSpec.parse(worker).toString()),
                size(given.getOrDefault("--ring-size", "64M")),
                registers && worker != null ? registration(worker, given) : null,
                Map.copyOf(settings),
                false);
    }

    private static RelayRegistration registration(String worker, Map<String, String> given) {
        return RelayRegistration.of(
                worker,
                given.get("--worker-id"),
                given.get("--dp-size"),
                given.getOrDefault("--field", "").lines().toList(),
                given.getOrDefault("--lease", "10s"));
    }

    /** What is given again follows in a line of its own where it may be; else the last counts. */
    private static Map<String, String> given(String... args) {
        Map<String, String> given = new HashMap<>();
        for (int i = 0; i < args.length; i++) {
            String flag = args[i];
            String value = null;
            int equals = flag.indexOf('=');
            if (flag.startsWith("--") && equals > 0) {
                value = flag.substring(equals + 1);
                flag = flag.substring(0, equals);
            }
            if (BARE.contains(flag)) {
                given.put(flag, "");
                continue;
            }
            if (!OTHERS.contains(flag) && !KEYS.containsKey(flag)) {
                throw new IllegalArgumentException(
                        "unknown flag " + flag + "; warmpath relay --help lists them");
            }
            if (value == null) {
                if (++i == args.length) {
                    throw new IllegalArgumentException(flag + " needs a value");
                }
                value = args[i];
            }
            String before = flag.equals("--field") ? given.get(flag) : null;
            given.put(flag, before == null ? value : before + "\n" + value);
        }
        return given;
    }

    private static OptionalLong id(@Nullable String text) {
        if (text == null) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseUnsignedLong(text.strip()));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "--worker-id takes a whole number from 0 to 18446744073709551615, not " + text,
                    e);
        }
    }

    private static int ranks(String text) {
        try {
            int n = Integer.parseInt(text);
            if (n >= 1 && n <= WorkerSpec.MAX_DP_SIZE) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new IllegalArgumentException(
                "--dp-size takes a whole number from 1 to %s, not %s"
                        .formatted(WorkerSpec.MAX_DP_SIZE, text));
    }

    private static long size(String text) {
        try {
            long bytes = ByteSize.parse(text).bytes();
            if (bytes >= 1 << 16) {
                return bytes;
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw new IllegalArgumentException(
                "--ring-size takes a size from 64K on, such as 64M, not " + text);
    }
}
