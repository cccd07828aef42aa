package io.troupe.grpc.service;

import io.troupe.model.MemoryBudget;
import java.time.Duration;
import java.util.Optional;

/**
 * What came with a request besides its message (T5).
 *
 * @param token auth token, empty when none was sent
 * @param hasLeader fail when no leader is known
 * @param timeout what the client said it will wait
 * @param memory what the answer takes; given back by whoever made the call when the answer is sent
 */
public record Call(
    String token, boolean hasLeader, Optional<Duration> timeout, MemoryBudget.Share memory) {}
