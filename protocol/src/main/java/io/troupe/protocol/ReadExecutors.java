package io.troupe.protocol;

import java.util.concurrent.Executor;

/**
 * Where work on the state runs that clients ask for. Each kind has threads of its own: the caller
 * for much waits for others of the same kind, and point reads wait for point reads only.
 * Thread-safe.
 *
 * @param points reads of single keys and of small facts
 * @param ranges reads of any length: ranges, transactions that only read, streams of ranges
 * @param hashes hashes of all content; refuses what is too many with {@link RefusedException}
 * @param history reads for watchers that are behind
 * @param defragmentation rewriting of the state's files
 */
public record ReadExecutors(
    Executor points, Executor ranges, Executor hashes, Executor history, Executor defragmentation) {
  /** All of them on one. */
  public static ReadExecutors all(Executor one) {
    return new ReadExecutors(one, one, one, one, one);
  }
}
