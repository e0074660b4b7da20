/** Keys of the listener: addresses, TLS, clients, who may do what. */
@NullMarked
package io.warmpath.config.http;

import org.jspecify.annotations.NullMarked;
