/**
 * A gRPC client with low overhead: requests are encoded in advance, replies need not be decoded.
 * Entry class: {@link io.troupe.bench.client.Connections}. May import grpc-java, Netty and the
 * generated messages. See bench/README.md.
 */
@NullMarked
package io.troupe.bench.client;

import org.jspecify.annotations.NullMarked;
