/** JSON web tokens of clients, verified with the keys of who issues them. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.jwt;
