package io.troupe.grpc.http;

/**
 * What one client connection may do.
 *
 * @param streams streams of HTTP/2 that may be open at a time, 1 or more
 * @param resetsPerSecond streams that may be reset in each second, 1 or more; as many as {@code
 *     streams} at once
 */
public record ConnectionLimits(int streams, int resetsPerSecond) {}
