package io.troupe.bench.load;

import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import org.jspecify.annotations.Nullable;

/** What one logical client sends, one request after the other. Used by one thread at a time. */
interface Workload {
  /** The next request, or null if there is nothing more to send. */
  byte @Nullable [] next();

  /** The method of the request that {@link #next()} gave last. */
  EtcdMethod method();

  /** Whether the reply to that request is a right one. */
  boolean accept(Reply reply);
}
