package io.troupe.ctl.print;

import io.troupe.grpc.api.StatusResponse;

/** The status of the member at an endpoint. */
public record EndpointStatus(String endpoint, StatusResponse status) {}
