package io.warmpath.wiring.engines;

import io.vertx.core.Vertx;
import io.warmpath.access.Authenticator;
import io.warmpath.access.Budgets;
import io.warmpath.access.Grant;
import io.warmpath.access.KeyFile;
import io.warmpath.access.KeyHash;
import io.warmpath.access.KeyRecord;
import io.warmpath.access.KeyRing;
import io.warmpath.access.LiveKeys;
import io.warmpath.adapter.jwt.JwtClients;
import io.warmpath.api.client.ClientGate;
import io.warmpath.config.http.AuthConfig;
import io.warmpath.upstream.tls.EngineKeys;
import io.warmpath.wiring.settings.StartFailure;
import io.warmpath.wiring.settings.WatchedFile;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * Who clients are and who we are to engines, from the configuration; files are looked at on
 * Vert.x's workers.
 */
public final class ClientParts implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(ClientParts.class);

    /** More clients than one gateway has; each remembers some 100 bytes. */
    private static final int MAX_BUDGETS = 100_000;

    /** Clients whose limits are shown, of those with keys and of those with tokens. */
    private static final int MAX_LIMITS = 1_000;

    private final Vertx vertx;
    private final AuthConfig config;
    private final Budgets budgets = new Budgets(MAX_BUDGETS);
    private final List<WatchedFile> files = new ArrayList<>();
    private final List<KeyRecord> listed;
    private final @Nullable LiveKeys keys;
    private final @Nullable JwtParts tokens;
    private final EngineKeys engineKeys = EngineKeys.none();
    private volatile long timer = -1;
    private volatile boolean closed;

    /** Throws {@link StartFailure} when a key or a file cannot be used. */
    public ClientParts(AuthConfig config, Vertx vertx) {
        this.vertx = vertx;
        this.config = config;
        listed = listed(config.keys().orElse(List.of()));
        keys =
                listed.isEmpty() && config.keyFile().isEmpty()
                        ? null
                        : new LiveKeys(ring(List.of()));
        config.keyFile()
                .ifPresent(f -> watch(f, "--api-key-file", text -> use(KeyFile.read(yaml(text)))));
        tokens =
                config.jwt()
                        .jwks()
                        .map(
                                jwks ->
                                        new JwtParts(
                                                jwks, config.jwt(), config.reloadInterval(), vertx))
                        .orElse(null);
        try {
            engineKeys.replace(config.engineKey(), "");
        } catch (IllegalArgumentException e) {
            throw new StartFailure("warmpath.auth.engine-key: " + e.getMessage());
        }
        config.engineKeyFile()
                .ifPresent(
                        f ->
                                watch(
                                        f,
                                        "--engine-key-file",
                                        text -> engineKeys.replace(config.engineKey(), text)));
    }

    /** Before {@link #start}. */
    void watch(String file, String what, WatchedFile.Use use) {
        files.add(new WatchedFile(Path.of(file), what, use));
    }

    private KeyRing ring(List<KeyRecord> more) {
        List<KeyRecord> all = new ArrayList<>(listed);
        all.addAll(more);
        return new KeyRing(all, budgets, InstantSource.system(), System::nanoTime);
    }

    private void use(List<KeyRecord> read) {
        KeyRing ring = ring(read);
        if (keys != null) {
            keys.replace(ring);
        }
        LOG.infof("%d API keys of clients are valid", ring.size());
    }

    /** Who may come in. */
    public ClientGate gate() {
        Authenticator clients = clients();
        return clients == null ? ClientGate.OPEN : ClientGate.of(clients, config.forwardKeys());
    }

    private @Nullable Authenticator clients() {
        LiveKeys byKey = keys;
        if (tokens == null) {
            return byKey;
        }
        JwtClients byToken = tokens.clients();
        return byKey == null
                ? byToken
                : shown -> (JwtClients.isToken(shown) ? byToken : byKey).check(shown);
    }

    /** What clients with a limit have left, those seen last first. */
    public List<Budgets.Left> limits() {
        long now = System.nanoTime();
        List<Budgets.Left> all = new ArrayList<>(budgets.left(MAX_LIMITS, now));
        if (tokens != null) {
            all.addAll(tokens.limits(MAX_LIMITS, now));
        }
        return all;
    }

    /** Always the same object; its content changes with the file. */
    EngineKeys engineKeys() {
        return engineKeys;
    }

    public void start() {
        if (!files.isEmpty()) {
            schedule();
        }
        if (tokens != null) {
            tokens.start();
        }
    }

    /** The next look is an interval after the end of the last, however long that took. */
    private void schedule() {
        if (!closed) {
            timer = vertx.setTimer(config.reloadInterval().toMillis(), id -> look());
        }
    }

    private void look() {
        vertx.<Void>executeBlocking(
                        () -> {
                            files.forEach(WatchedFile::look);
                            return null;
                        },
                        false)
                .onFailure(e -> LOG.error("files of keys could not be looked at", e))
                .onComplete(done -> schedule());
    }

    @Override
    public void close() {
        closed = true;
        vertx.cancelTimer(timer);
        if (tokens != null) {
            tokens.close();
        }
    }

    private static List<KeyRecord> listed(List<String> texts) {
        List<KeyRecord> records = new ArrayList<>();
        for (int i = 0; i < texts.size(); i++) {
            int colon = texts.get(i).lastIndexOf(':');
            try {
                if (colon < 0) {
                    throw new IllegalArgumentException("it must be NAME:SHA256");
                }
                records.add(
                        new KeyRecord(
                                KeyHash.ofHex(texts.get(i).substring(colon + 1).strip()),
                                Grant.all(texts.get(i).substring(0, colon).strip()),
                                null));
            } catch (IllegalArgumentException e) {
                throw new StartFailure("warmpath.auth.keys[" + i + "]: " + e.getMessage());
            }
        }
        return records;
    }

    /**
     * @throws IllegalArgumentException with the place; the parser's own words quote the text
     */
    private static @Nullable Object yaml(String text) {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        try {
            return new Yaml(new SafeConstructor(strict)).load(text);
        } catch (MarkedYAMLException e) {
            String where =
                    Optional.ofNullable(e.getProblemMark())
                            .map(m -> " at line " + (m.getLine() + 1))
                            .orElse("");
            throw new IllegalArgumentException("it is not YAML" + where, e);
        } catch (YAMLException e) {
            throw new IllegalArgumentException("it is not YAML", e);
        }
    }
}
