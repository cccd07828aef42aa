package io.troupe.ctl.print;

/**
 * Whether an endpoint serves.
 *
 * @param took duration of the check in Go's form; empty if no call was made
 * @param error empty if the endpoint is healthy
 */
public record EndpointHealth(String endpoint, boolean healthy, String took, String error) {}
