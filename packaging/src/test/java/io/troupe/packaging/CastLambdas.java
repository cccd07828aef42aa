package io.troupe.packaging;

import java.io.Serializable;
import java.util.function.Supplier;

/** What {@link PlainLambdasTest} leaves as it is. */
final class CastLambdas {
  private CastLambdas() {}

  static Supplier<String> cast() {
    return (Supplier<String> & Serializable) () -> "cast";
  }
}
