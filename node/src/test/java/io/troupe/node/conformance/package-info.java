/**
 * Responses of one member on the wire, statement by statement of the etcd v3 surface; test names
 * end with the statement. Entry class: {@link io.troupe.node.conformance.ServedStore}. Imports
 * node, the generated messages and grpc-java. See docs/conformance.md.
 */
@NullMarked
package io.troupe.node.conformance;

import org.jspecify.annotations.NullMarked;
