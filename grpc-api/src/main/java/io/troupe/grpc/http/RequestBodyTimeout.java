package io.troupe.grpc.http;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.japi.pf.PFBuilder;
import org.apache.pekko.stream.javadsl.Source;

/**
 * How long the one message of a call may take to arrive. Until it is there nobody knows who calls,
 * and what came of it is kept in memory. Messages of streams have no limit: a quiet stream is none
 * that hangs.
 */
final class RequestBodyTimeout {
  /** The largest request over 25 kB/s. */
  static final Duration LIMIT = Duration.ofSeconds(60);

  private RequestBodyTimeout() {}

  /** The body; fails when it is not whole in time. */
  static <T, M> Source<T, M> limited(Source<T, M> body, Duration limit) {
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
