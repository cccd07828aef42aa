package io.troupe.edge.calls;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.pekko.NotUsed;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.javadsl.Source;

/**
 * The responses of a stream, each requested when the connection can take it. {@link
 * Source#unfoldResourceAsync} runs on its own dispatcher, and so reads ahead into a buffer of 16
 * responses that counts nowhere.
 */
final class PulledResponses {
  private PulledResponses() {}

  /**
   * Creates the source; it can be run once.
   *
   * @param open opens the stream when the source starts
   * @param next the next response; empty at the end
   * @param close called once, also if the client disconnects before the stream is open
   */
  static <S, T> Source<T, NotUsed> source(
      Supplier<CompletionStage<S>> open,
      Function<S, CompletionStage<Optional<T>>> next,
      Consumer<S> close) {
    return Source.fromMaterializer(
            (materializer, attributes) -> {
              CompletionStage<S> opened = open.get();
              return Source.completionStage(opened)
                  .flatMapConcat(stream -> responses(stream, next))
                  .watchTermination(
                      (mat, ended) -> {
                        ended.whenComplete((done, failure) -> opened.thenAccept(close));
                        return mat;
                      });
            })
        .mapMaterializedValue(ignored -> NotUsed.getInstance());
  }

  private static <S, T> Source<T, NotUsed> responses(
      S stream, Function<S, CompletionStage<Optional<T>>> next) {
    return Source.unfoldAsync(
        stream,
        same -> next.apply(same).thenApply(found -> found.map(each -> Pair.create(same, each))));
  }
}
