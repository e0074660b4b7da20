package io.warmpath.config;

/** Which prefix index runs. */
public enum IndexImplementation {
    /** C++ library. */
    NATIVE,
    /** Literal reference in Java: slow, for debugging. */
    JAVA
}
