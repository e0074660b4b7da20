package io.warmpath.api.client;

/** A REST resource that clients may use; every other resource is for operators. */
public interface ClientResource {}
