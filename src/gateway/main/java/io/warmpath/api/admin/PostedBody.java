package io.warmpath.api.admin;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What operators send, read by {@link PostedBodyReader}. */
interface PostedBody {
    /** The largest body that is read. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface Limit {
        int bytes();
    }
}
