package io.warmpath.config.state;

/** Which prefix index runs. */
public enum IndexImplementation {
    /** C++ library. */
    NATIVE,
    /** Literal reference in Java: slow, for debugging. */
    JAVA
}
