package io.troupe.bench.load;

import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import org.jspecify.annotations.Nullable;

/** The requests of one logical client, in order. Used by one thread at a time. */
interface Workload {
  /** The next request, or null after the last. */
  byte @Nullable [] next();

  /** The method of the last request of {@link #next()}. */
  EtcdMethod method();

  /**
   * The kind of the last request of {@link #next()}, from 0. After {@link #accept} it may be
   * another one, that of the reply.
   */
  default int kind() {
    return 0;
  }

  /** Whether the reply to that request is valid. */
  boolean accept(Reply reply);
}
