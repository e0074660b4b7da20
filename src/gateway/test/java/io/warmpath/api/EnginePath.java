package io.warmpath.api;

import io.vertx.core.Vertx;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.RawEngineClient;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.VertxEngineClient;
import io.warmpath.upstream.tls.EngineTls;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** The ways between client and engine; what holds on one has to hold on the others. */
enum EnginePath {
    /**
     * Own client, bytes past the server's encoder; requests through its decoder, as those that
     * something unpacks.
     */
    RAW {
        @Override
        EngineClient engines(Vertx vertx, UpstreamOptions options, EngineTls tls) {
            return new RawEngineClient(
                    options,
                    tls,
                    VERTX.engines(vertx, options, tls),
                    null,
                    new SignsOfLife(),
                    System::nanoTime);
        }
    },
    /** Own client, requests past the server's decoder from a connection's first one on. */
    PAST {
        @Override
        EngineClient engines(Vertx vertx, UpstreamOptions options, EngineTls tls) {
            return RAW.engines(vertx, options, tls);
        }
    },
    /** Vert.x on both sides. */
    VERTX {
        @Override
        EngineClient engines(Vertx vertx, UpstreamOptions options, EngineTls tls) {
            return new VertxEngineClient(
                    vertx, options, tls, null, new SignsOfLife(), System::nanoTime);
        }
    };

    abstract EngineClient engines(Vertx vertx, UpstreamOptions options, EngineTls tls);

    boolean isRaw() {
        return this != VERTX;
    }

    GatewayOptions options(GatewayOptions o) {
        return Options.of(o, options -> options.rawPath = isRaw());
    }

    /**
     * All of them, or with the system property {@code test.engine-path} those that it names, apart
     * by commas: {@code check} tries the one that is used unless something needs another, {@code
     * test} the plain one, too. Of {@link #RAW} each half is in one of these.
     */
    static final class Tried implements ArgumentsProvider {
        @Override
        public Stream<Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context) {
            String only = System.getProperty("test.engine-path");
            return (only == null
                            ? Stream.of(values())
                            : Stream.of(only.split(",", -1)).map(EnginePath::valueOf))
                    .map(Arguments::of);
        }
    }
}
