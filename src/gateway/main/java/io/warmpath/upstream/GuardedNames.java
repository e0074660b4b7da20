package io.warmpath.upstream;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.warmpath.fleet.AddressGuard;
import io.warmpath.fleet.Place;
import io.warmpath.fleet.RefusedAddressException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;

/**
 * What names lead to, as far as {@link AddressGuard} lets connections go there: what is connected
 * to is what has been judged. One per connection attempt; the event loop of the resolvers.
 */
final class GuardedNames extends AddressResolverGroup<InetSocketAddress> {
    private final AddressResolverGroup<InetSocketAddress> names;
    private final AddressGuard guard;
    private final Place place;

    /**
     * @param names looks names up; not closed with this
     * @param place that is connected to
     */
    GuardedNames(AddressResolverGroup<InetSocketAddress> names, AddressGuard guard, Place place) {
        this.names = names;
        this.guard = guard;
        this.place = place;
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
                                    guard.check(place, found.getNow().getAddress());
                                    promise.trySuccess(found.getNow());
                                } catch (RefusedAddressException e) {
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
