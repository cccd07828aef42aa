package io.troupe.node.tracing;

import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.jspecify.annotations.Nullable;

/** Reads the headers that carry a trace. The first of a repeated header counts (T5). */
enum HeaderGetter implements TextMapGetter<Iterable<HttpHeader>> {
  INSTANCE;

  @Override
  public Iterable<String> keys(Iterable<HttpHeader> headers) {
    List<String> names = new ArrayList<>();
    headers.forEach(header -> names.add(header.lowercaseName()));
    return names;
  }

  @Override
  public @Nullable String get(@Nullable Iterable<HttpHeader> headers, String name) {
    if (headers == null) {
      return null;
    }
    for (HttpHeader header : headers) {
      // The propagator uses lower case names.
      if (header.lowercaseName().equals(name)) {
        return header.value();
      }
    }
    return null;
  }
}
