/**
 * Responses of one member on the wire, statement by statement of the etcd v3 surface; test names
 * end with the statement. Entry class: {@link io.troupe.tests.conformance.ServedStore}. Imports
 * node, the generated messages and grpc-java. See docs/conformance.md.
 */
@NullMarked
package io.troupe.tests.conformance;

import org.jspecify.annotations.NullMarked;
