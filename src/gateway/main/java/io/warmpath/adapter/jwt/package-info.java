/** JSON web tokens of clients, verified with the keys of who issues them. */
@NullMarked
package io.warmpath.adapter.jwt;

import org.jspecify.annotations.NullMarked;
