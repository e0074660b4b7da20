/** Keys of the listener: addresses, TLS, clients, who may do what. */
@org.jspecify.annotations.NullMarked
package io.warmpath.config.http;
