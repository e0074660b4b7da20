package io.warmpath.replica;

/** Told what an operator should know, once per change. Must not call back. */
public interface ReplicaLog {
    void info(String text);

    void warn(String text);
}
