package io.warmpath.net;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.RequestOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;

/**
 * What names lead to, as far as a {@link Check} lets connections go there: what is connected to is
 * what has been judged, and is not looked up again. For Netty's channels one per connection
 * attempt, on the event loop of the resolvers; for the clients of Vert.x {@link #judged}.
 */
public final class GuardedNames extends AddressResolverGroup<InetSocketAddress> {
    /** Before a connection is made. Any thread. */
    @FunctionalInterface
    public interface Check {
        /**
         * @param found what the name has led to
         * @throws IOException nothing may connect there
         */
        void check(InetAddress found) throws IOException;
    }

    private final AddressResolverGroup<InetSocketAddress> names;
    private final Check guard;

    /** {@code names}: looks names up; not closed with this. */
    public GuardedNames(AddressResolverGroup<InetSocketAddress> names, Check guard) {
        this.names = names;
        this.guard = guard;
    }

    /**
     * Looks up the host of {@code to} as the clients of {@code vertx} do, and makes what was found
     * the server of {@code to}. Any thread. {@code to}: with host and port.
     */
    public static io.vertx.core.Future<RequestOptions> judged(
            Vertx vertx, RequestOptions to, Check guard) {
        return VertxInternals.resolve(vertx, to.getHost())
                .compose(
                        found -> {
                            try {
                                guard.check(found);
                            } catch (IOException e) {
                                return io.vertx.core.Future.failedFuture(e);
                            }
                            return io.vertx.core.Future.succeededFuture(
                                    to.setServer(
                                            io.vertx.core.net.SocketAddress.inetSocketAddress(
                                                    to.getPort(), found.getHostAddress())));
                        });
    }

    @Override
    protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
        throw new UnsupportedOperationException("getResolver makes them");
    }

    /** Not kept by executor, as the super class does: it lives as long as one attempt. */
    @Override
    public AddressResolver<InetSocketAddress> getResolver(EventExecutor executor) {
        return new Judged(names.getResolver(executor), executor);
    }

    private final class Judged implements AddressResolver<InetSocketAddress> {
        private final AddressResolver<InetSocketAddress> to;
        private final EventExecutor executor;

        Judged(AddressResolver<InetSocketAddress> to, EventExecutor executor) {
            this.to = to;
            this.executor = executor;
        }

        @Override
        public boolean isSupported(SocketAddress address) {
            return to.isSupported(address);
        }

        @Override
        public boolean isResolved(SocketAddress address) {
            return to.isResolved(address);
        }

        @Override
        public Future<InetSocketAddress> resolve(SocketAddress address) {
            return resolve(address, executor.newPromise());
        }

        @Override
        public Future<InetSocketAddress> resolve(
                SocketAddress address, Promise<InetSocketAddress> promise) {
            to.resolve(address)
                    .addListener(
                            (Future<InetSocketAddress> found) -> {
                                if (!found.isSuccess()) {
                                    promise.tryFailure(found.cause());
                                    return;
                                }
                                try {
                                    guard.check(found.getNow().getAddress());
                                    promise.trySuccess(found.getNow());
                                } catch (IOException e) {
                                    promise.tryFailure(e);
                                }
                            });
            return promise;
        }

        @Override
        public Future<List<InetSocketAddress>> resolveAll(SocketAddress address) {
            return resolveAll(address, executor.newPromise());
        }

        @Override
        public Future<List<InetSocketAddress>> resolveAll(
                SocketAddress address, Promise<List<InetSocketAddress>> promise) {
            return promise.setFailure(
                    new UnsupportedOperationException("connections take one address"));
        }

        @Override
        public void close() {} // the resolver is its group's
    }
}
