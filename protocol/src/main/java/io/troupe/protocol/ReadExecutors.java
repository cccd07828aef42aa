package io.troupe.protocol;

import java.util.concurrent.Executor;

/**
 * Executors for client requests that read the state. Each kind has threads of its own: large
 * requests wait only for requests of the same kind, and point reads wait only for point reads.
 * Thread-safe.
 *
 * @param points reads of single keys and of small data
 * @param ranges reads of any length: ranges, transactions that only read, streams of ranges
 * @param hashes hashes of all content; refuses excess requests with {@link RefusedException}
 * @param history reads for watchers that lag
 * @param defragmentation rewriting of the state's files
 */
public record ReadExecutors(
    Executor points, Executor ranges, Executor hashes, Executor history, Executor defragmentation) {
  /** Uses one executor for all kinds. */
  public static ReadExecutors all(Executor one) {
    return new ReadExecutors(one, one, one, one, one);
  }
}
