package io.troupe.ctl.print;

import io.troupe.grpc.api.HashKVResponse;

/** The hash of the data of the member at an endpoint. */
public record EndpointHash(String endpoint, HashKVResponse hash) {}
