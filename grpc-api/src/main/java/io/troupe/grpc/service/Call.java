package io.troupe.grpc.service;

import java.time.Duration;
import java.util.Optional;

/**
 * What came with a request besides its message (T5).
 *
 * @param token auth token, empty when none was sent
 * @param hasLeader fail when no leader is known
 * @param timeout what the client said it will wait
 */
public record Call(String token, boolean hasLeader, Optional<Duration> timeout) {}
