package io.troupe.edge.calls;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.japi.pf.PFBuilder;
import org.apache.pekko.stream.javadsl.Source;

/**
 * Time limit for the single message of a call. Until it has arrived, the caller is unknown, and its
 * bytes are kept in memory. Messages of streams have no limit, because an idle stream is normal.
 */
public final class RequestBodyTimeout {
  /** Enough for the largest request over 25 kB/s. */
  public static final Duration LIMIT = Duration.ofSeconds(60);

  private RequestBodyTimeout() {}

  /** The body; fails when it is not complete in time. */
  public static <T, M> Source<T, M> limited(Source<T, M> body, Duration limit) {
    return body.completionTimeout(limit)
        .mapError(
            new PFBuilder<Throwable, Throwable>()
                .match(
                    TimeoutException.class,
                    late ->
                        new GrpcException(
                            GrpcStatus.DEADLINE_EXCEEDED,
                            "the request did not arrive within " + limit.toSeconds() + " s"))
                .build());
  }
}
