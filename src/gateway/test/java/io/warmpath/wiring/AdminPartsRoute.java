package io.warmpath.wiring;

import io.vertx.ext.web.Router;
import io.warmpath.api.admin.AdminRoute;
import io.warmpath.api.client.ClientApis;
import io.warmpath.api.client.ClientResource;
import jakarta.inject.Provider;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.function.Function;

/** The resources before a running gateway, each from the parts that it asks for. */
final class AdminPartsRoute {
    private AdminPartsRoute() {}

    static void mount(Router router, GatewayRuntime gateway) {
        AdminRoute.mount(
                router,
                type ->
                        ClientResource.class.isAssignableFrom(type)
                                ? made(type, wanted -> gateway.routes().apis())
                                : made(
                                        type,
                                        wanted ->
                                                wanted == ClientApis.class
                                                        ? gateway.routes().apis()
                                                        : part(wanted, gateway.admin())));
    }

    private static Object made(Class<?> type, Function<Type, Object> parts) {
        try {
            Constructor<?> constructor = type.getConstructors()[0];
            return constructor.newInstance(
                    Arrays.stream(constructor.getGenericParameterTypes()).map(parts).toArray());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object part(Type wanted, AdminParts parts) {
        if (wanted instanceof ParameterizedType provider
                && provider.getRawType() == Provider.class) {
            Object part = part(provider.getActualTypeArguments()[0], parts);
            return (Provider<Object>) () -> part;
        }
        try {
            for (RecordComponent part : AdminParts.class.getRecordComponents()) {
                if (part.getGenericType().equals(wanted)
                        || (wanted instanceof Class<?> type
                                && type.isAssignableFrom(part.getType()))) {
                    return part.getAccessor().invoke(parts);
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        throw new IllegalStateException("nobody gives resources a " + wanted);
    }
}
