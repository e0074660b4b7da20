package io.warmpath.api;

import io.vertx.core.Vertx;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.gateway.flow.GatewayOptions;
import io.warmpath.upstream.EngineClient;
import io.warmpath.upstream.RawEngineClient;
import io.warmpath.upstream.UpstreamOptions;
import io.warmpath.upstream.VertxEngineClient;
import io.warmpath.upstream.tls.EngineTls;

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
        return new GatewayOptions(
                o.maxBodyBytes(),
                o.holdBytes(),
                o.tailBytes(),
                o.explain(),
                o.tokenDeadline(),
                o.retryAfter(),
                o.bodyLinger(),
                o.requestUsage(),
                o.forwardNvext(),
                isRaw(),
                o.classTolerations(),
                o.clients());
    }
}
